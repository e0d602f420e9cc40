//! Folds by index of rows, column by column: a group has copies of what neighbouring columns are folded to.
//!
//! Before: `map(\column -> reduce_by_index(k, z, f, is, column), transpose(rows))`.
//! After: where a group has room for k results of so many columns as lie side by side, its work-items take a column each, and several
//! shares of the rows, and fold the copies of these place by place:
//!
//! `zip(split(m, is), split(m, rows)) |> map(\(is, rows) -> map(\column -> reduceByIndexSeq(k, z, f, is, column), transpose(rows)))
//!  |> transpose |> map(transpose) |> map(map(reduceSeq(z, f)))`

use lift_ir::{Build, Built, Call, Expr, MapKind, Nat, Prim, Space};

use super::Decider;
use super::by_index::{CHUNK, GROUPS, LANES, LOCAL, Parts, divisor, power};
use super::by_index_rows::each;
use crate::Target;
use crate::passes::translate::constant_bytes;

/// Folds by index of the columns of some rows.
pub(super) struct Columns<'a> {
    /// Of one column.
    parts: Parts<'a>,
    rows: &'a Expr,
}

/// What groups do.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    /// Columns of a group.
    width: i128,
    /// Shares that its rows have.
    shares: i128,
    /// Groups along the rows.
    groups: i128,
}

impl<'a> Columns<'a> {
    /// A map of folds whose elements are a column each, at places that are the same for all.
    pub(super) fn of(call: &'a Call) -> Option<Columns<'a>> {
        let ([f], [columns]) = (call.functions.as_slice(), call.args.as_slice()) else {
            return None;
        };
        let ([column], Some(parts)) = (f.params.as_slice(), Parts::of(f.body.as_call()?)) else {
            return None;
        };
        let Some(Call { prim: Prim::Transpose, args, .. }) = columns.as_call() else {
            return None;
        };
        let is_column = parts.xs.as_var() == Some(column);
        let [z, f] = [parts.z, &parts.call.functions.first()?.body];
        let is_same = [z, f, parts.indices].iter().all(|part| !part.mentions(column));
        (is_column && is_same).then_some(Columns { parts, rows: args.first()? })
    }

    pub(super) fn rows(&self) -> &'a Expr {
        self.rows
    }
}

impl Decider<'_> {
    /// How groups take columns, where they have room for what these are folded to, for each of some arrays of rows.
    pub(super) fn room_for_columns(&self, columns: &Columns, outer: i128) -> Option<Blocks> {
        let Columns { parts, rows } = columns;
        let (row, n) = rows.ty().as_array()?;
        let count = row.as_array()?.1.as_int()?;
        let copy = constant_bytes(parts.z.ty())?.checked_mul(parts.k.as_int()?)?;
        let room = LOCAL.checked_div(copy)?.min(LANES.1);
        let fits = |width: &i128| count % width == 0 && (*width == count || *width >= LANES.0);
        let width = (1..=count.min(room)).rev().find(fits)?;
        let shares = power(room / width)?;
        let blocks = (count / width).checked_mul(outer.max(1))?;
        let most = (GROUPS / blocks).max(1);
        let any = self.options.groups_for_any();
        let n = n.as_int();
        let most = n.map_or(any, |n| n / (shares * CHUNK)).min(most);
        // Shares of one length need no element added, which all would ask for.
        let even = n.filter(|n| n % shares == 0).and_then(|n| divisor(n / shares, most));
        let groups = even.or(power(most))?;
        let is_wanted = self.target == Target::Threads && width * shares >= LANES.0;
        is_wanted.then_some(Blocks { width, shares, groups })
    }

    /// The folds of all columns, a row of results for each, of a nest of so many maps, the innermost of which is that of columns.
    pub(super) fn columns_in_groups(
        &self,
        (call, depth): (&Call, u8),
        columns: &Columns,
        blocks: Blocks,
    ) -> Built {
        let b = Build::new(self.cx);
        let Columns { parts, rows } = columns;
        let row = rows.ty().as_array().and_then(|(row, _)| row.as_array());
        let count = row.map_or(Nat::ONE, |(_, n)| n.clone());
        let folded = |copies: Expr| match blocks.groups {
            1 => b.join(copies),
            _ => self.folded(parts, copies),
        };
        let columns_of = |folded: Expr| b.transpose(b.split(count.clone(), folded));
        let copies = || self.copies_of_columns(columns, &count, blocks);
        let outer = depth.saturating_sub(1);
        if outer == 0 {
            return columns_of(folded(copies()?)?);
        }
        let all = self.with_point(call, outer, &|inside| MapKind::Wrg(inside + 1), &copies)?;
        // What is rearranged stands behind all folds, so that these are a grid.
        b.let_in("copies", Ok(all), |all| {
            each(b, outer, each(b, outer, all, &folded)?, &columns_of)
        })
    }

    /// What each group folds its rows to, a row of results for each place, one behind the other.
    fn copies_of_columns(&self, columns: &Columns, count: &Nat, blocks: Blocks) -> Built {
        let b = Build::new(self.cx);
        let Columns { parts, rows } = columns;
        let z = b.repeat(count.clone(), parts.z)?;
        let of_rows = Parts { z: &z, xs: rows, ..*parts };
        let width = Nat::int(blocks.width);
        let pairs = self.pairs_of_groups(&of_rows, blocks.groups, blocks.shares)?;
        let by_group = |pair: Expr| {
            let cut = b.map(|row| b.split(width.clone(), row), b.field(&pair, 1));
            let by_block = |block| self.copy_of_block(parts, blocks, &b.field(&pair, 0)?, block);
            b.map_as(MapKind::Wrg(0), by_block, b.transpose(cut))
        };
        let copies = b.map_as(MapKind::Wrg(1), by_group, pairs);
        let in_order = |blocks| b.join(b.map(|row| b.join(row), b.transpose(blocks)));
        b.map(in_order, copies)
    }

    /// What the copies of a group are folded to: a row of its columns for each place.
    fn copy_of_block(&self, parts: &Parts, blocks: Blocks, indices: &Expr, rows: Expr) -> Built {
        let b = Build::new(self.cx);
        let shares = |array: &Expr| b.transpose(b.split(Nat::int(blocks.shares), array));
        let by_share = |share: Expr| {
            let own = b.field(&share, 0)?;
            let by_column = |column| self.chunk_in_order(parts, b.tuple([own, column])?);
            b.map_as(MapKind::Lcl(0), by_column, b.transpose(b.field(&share, 1)))
        };
        let copies = b.map_as(MapKind::Lcl(1), by_share, b.zip([shares(indices)?, shares(&rows)?]));
        let places = b.to(Space::Local, Ok, b.transpose(b.join(copies)))?;
        let fold = |own| b.to(Space::Global, |own| self.fold(parts, own), own);
        let by_place = |place: Expr| {
            let columns = b.transpose(b.split(Nat::int(blocks.width), place));
            b.map_as(MapKind::Lcl(0), fold, columns)
        };
        b.map_as(MapKind::Lcl(1), by_place, places)
    }
}
