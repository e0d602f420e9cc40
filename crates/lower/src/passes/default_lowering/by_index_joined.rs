//! Folds by index of several rows as one fold, each row with results of its own, which all work-items change.
//!
//! Before: `map(\x -> reduce_by_index(k, z, f, is, xs), rs)`, in as many maps as there are, of more results than groups have room for.
//! After: with the joined rows, and in place of each index that of the result among those of all rows; one outside stays so:
//!
//! `split(k, reduceByIndexGlb(len(rs) * k, z, f, join(map2(\r i -> if 0 <= i && i < k then r * k + i else -1, iss)), join(xss)))`
//!
//! The columns of rows have one index together ([`super::by_index_columns`]), and their results lie as their elements do:
//!
//! `map(\column -> reduce_by_index(k, z, f, is, column), transpose(rows)) =
//!  transpose(split(d, reduceByIndexGlb(k * d, z, f, join(map2(\i j -> if 0 <= i && i < k then i * d + j else -1, is)), join(rows))))`

use lift_ir::{
    Build, Built, Call, Expr, FoldKind, Literal, MapKind, Nat, Pred, Prim, Scalar, Type, TypeError,
};

use super::Decider;
use super::by_index::Parts;
use super::by_index_columns::Columns;
use super::by_index_rows::{each, lengths};

impl Decider<'_> {
    /// A nest of so many maps around a fold by index as one fold.
    pub(super) fn joined_by_index(
        &self,
        call: &Call,
        depth: u8,
        parts: &Parts,
    ) -> Result<Option<Expr>, TypeError> {
        let b = Build::new(self.cx);
        let lengths = lengths(call, depth);
        let columns = self.innermost(call, depth).and_then(Columns::of);
        let outer = if columns.is_some() { depth - 1 } else { depth };
        let of_all = |value: &Expr| {
            let made = || Ok(value.clone());
            match outer {
                0 => made(),
                _ => self.with_point(call, outer, &|_| MapKind::Map, &made),
            }
        };
        let rows = columns.as_ref().map_or(parts.xs, Columns::rows);
        let width = columns.is_some().then(|| lengths.last().cloned()).flatten();
        let (mut indices, mut elements) = (of_all(parts.indices)?, of_all(rows)?);
        for _ in 1..outer {
            (indices, elements) = (b.join(indices)?, b.join(elements)?);
        }
        if outer > 0 {
            elements = b.join(elements)?;
        }
        if columns.is_some() {
            elements = b.join(elements)?;
        }
        let count = lengths.get(..outer.into()).unwrap_or_default();
        let count = count.iter().fold(Nat::ONE, |product, n| product * n);
        let of_row = parts.k * width.clone().unwrap_or(Nat::ONE);
        let all = self.cx.simplify(&(&count * &of_row));
        let scalar = self.index_below(&all);
        let places = |row: Option<Expr>, indices: Expr| {
            let place = |index: Expr| {
                let at = |j| self.place(parts.k, (row.as_ref(), index), (&width, j), scalar);
                match &width {
                    Some(width) => b.generate(width.clone(), |j| at(Some(j))),
                    None => at(None),
                }
            };
            let places = b.map(place, indices)?;
            if width.is_some() { b.join(places) } else { Ok(places) }
        };
        let places = match outer {
            0 => places(None, indices)?,
            _ => {
                let numbered = b.zip([b.generate(count, Ok)?, indices])?;
                let each = |pair: Expr| places(Some(b.field(&pair, 0)?), b.field(&pair, 1)?);
                b.join(b.map(each, numbered))?
            }
        };
        let functions = parts.call.functions.clone();
        let prim = Prim::ReduceByIndex(FoldKind::Glb);
        let args = vec![parts.z.clone(), places, elements];
        let mut made = self.cx.call(prim, vec![all], functions, args)?;
        if let Some(width) = &width {
            made = b.split(width.clone(), made)?;
        }
        if outer > 0 {
            made = b.split(parts.k.clone(), made)?;
        }
        let inner = lengths.get(1..outer.max(1).into()).unwrap_or_default();
        made = inner.iter().rev().try_fold(made, |made, n| b.split(n.clone(), made))?;
        match columns {
            Some(_) => each(b, outer, made, &|own| b.transpose(own)).map(Some),
            None => Ok(Some(made)),
        }
    }

    /// The type of indices below a number.
    fn index_below(&self, count: &Nat) -> Scalar {
        let most = Nat::int(i32::MAX.into());
        if self.cx.proves(&Pred::Le(count.clone(), most)) { Scalar::I32 } else { Scalar::I64 }
    }

    /// `(row * k + index) * width + column` for an index below k, elsewhere -1.
    fn place(
        &self,
        k: &Nat,
        (row, index): (Option<&Expr>, Expr),
        (width, column): (&Option<Nat>, Option<Expr>),
        scalar: Scalar,
    ) -> Built {
        let b = Build::new(self.cx);
        let number = |own, value| self.cx.literal(Literal::Int(own, value));
        let own = match index.ty() {
            Type::Scalar(Scalar::I32) => scalar,
            _ => Scalar::I64,
        };
        let index = if *index.ty() == Type::Scalar(own) { index } else { b.cast(index, own)? };
        b.let_in("at", index, |index| {
            let inside = b.and(b.le(number(own, 0), &index), b.lt(&index, self.cx.size(k, own)));
            let wide = |value: Expr| match *value.ty() == Type::Scalar(scalar) {
                true => Ok(value),
                false => b.cast(value, scalar),
            };
            let mut place = wide(index)?;
            if let Some(row) = row {
                place = b.add(b.mul(wide(row.clone())?, self.cx.size(k, scalar)), place)?;
            }
            if let (Some(width), Some(column)) = (width, column) {
                place = b.add(b.mul(place, self.cx.size(width, scalar)), wide(column)?)?;
            }
            b.if_then(inside, place, number(scalar, -1))
        })
    }
}
