//! Folds of whole arrays outside of all parallel maps, and folds of joined rows inside.
//!
//! Before: `reduce(z, f, xs)`, `partial_reduce(m, z, f, xs)`.
//! After: folds in parallel of what threads take each, and folds of these; nested loops in place of one that divides.

use lift_ir::{Build, Built, Call, Expr, FoldKind, Lambda, MapKind, Nat, Prim, TypeError};

use super::{Decider, FIRST, FOR_ONE, LONG, Level, ROWS, SECOND, WINDOW};
use crate::Target;
use crate::passes::share;
use crate::passes::translate::Walked;

impl Decider<'_> {
    /// `reduce(z, f, xs)` of any length: every work-item folds a column of the array laid out in
    /// rows of [`FIRST`], padded with z; those are folded in the same way; one work-item does the
    /// rest. Elements that take a loop each are stored first, each by whoever is free, where one work-item or a processor's threads
    /// fold them. On processors rows are shorter where that leaves no thread without work, the lanes of one thread fold a short array, and where columns would have to be padded, each thread
    /// folds parts of the array.
    pub(super) fn parallel_reduce(&self, call: &Call) -> Built {
        let b = Build::new(self.cx);
        let (Some(z), Some(xs), Some(f)) =
            (call.args.first(), call.args.get(1), call.functions.first())
        else {
            return self.rebuild(call, call.prim.clone(), Level::Inside, Level::Host);
        };
        let length = xs.ty().as_array().and_then(|(_, n)| n.as_int());
        let on_processor = self.target == Target::Loops;
        // The points of a domain are gone through row by row, by threads and their lanes.
        if z.ty().is_register() && Walked::of(call, self.target).is_some() {
            return self.rebuild(call, call.prim.clone(), Level::Inside, Level::Fused);
        }
        let is_few = length.is_some_and(|n| n > 1 && (on_processor || n <= SECOND));
        if is_few && share::takes_a_loop(xs) && (on_processor || self.are_made_first()) {
            return b.let_in("xs", self.expr(xs, Level::Host), |xs| {
                self.parallel_reduce(&Call { args: vec![z.clone(), xs], ..call.clone() })
            });
        }
        if on_processor && let Some(folded) = self.folds_of_rows(call, xs)? {
            return b.let_in("folds", self.expr(&folded, Level::Host), |folds| {
                self.parallel_reduce(&Call { args: vec![z.clone(), folds], ..call.clone() })
            });
        }
        if on_processor && length.is_some_and(|n| n <= FOR_ONE) {
            return self.rebuild(call, call.prim.clone(), Level::Inside, Level::Fused);
        }
        let f = Lambda { body: self.expr(&f.body, Level::Inside)?, ..f.clone() };
        let z = self.expr(z, Level::Inside)?;
        let xs = self.expr(xs, Level::Fused)?;
        let in_order = |xs: Expr| {
            let args = vec![z.clone(), xs];
            self.cx.call(Prim::Reduce(FoldKind::Seq), vec![], vec![f.clone()], args)
        };
        let columns = |count: i128, xs: Expr| {
            let columns = b.transpose(b.split(Nat::int(count), xs));
            b.map_as(MapKind::Glb(0), in_order, columns)
        };
        let Some((_, length)) = xs.ty().as_array().map(|(t, n)| (t.clone(), n.clone())) else {
            return in_order(xs);
        };
        if length.as_int().is_some_and(|n| n <= SECOND) {
            return in_order(xs);
        }
        let first = match length.as_int().filter(|_| on_processor) {
            Some(n) => (1 << (n / ROWS).max(SECOND).ilog2()).min(FIRST),
            None => FIRST,
        };
        if on_processor
            && let Some(n) = length.as_int().filter(|n| n % first != 0)
            && let Some(made) = self.folded_in_parts(call.prim.clone(), &f, &z, &xs, n)?
        {
            return Ok(made);
        }
        let rest = length.ceil_div(&Nat::int(first)) * Nat::int(first) - &length;
        let padded = b.pad_value(Nat::int(0), rest, &z, xs)?;
        let folded = columns(first, padded)?;
        in_order(if first > SECOND { columns(SECOND, folded)? } else { folded })
    }

    /// Whether elements that one work-item folds are made by others before it.
    fn are_made_first(&self) -> bool {
        let ways =
            ["elements are made before they are folded", "one work-item makes what it folds"];
        self.options.choices.take("default_lowering", ways.map(String::from).to_vec()) == 0
    }

    /// `reduce(z, f, join(rows)) = reduce(z, f, map(reduce(z, f), rows))`: the array of folds, where there are many rows, and long
    /// ones. Threads go through rows then, and lanes along them, and nobody divides to find out where an element is.
    fn folds_of_rows(&self, call: &Call, xs: &Expr) -> Result<Option<Expr>, TypeError> {
        let Some(rows) = self.rows(xs)? else { return Ok(None) };
        let Some((row, count)) = rows.ty().as_array() else { return Ok(None) };
        let length = row.as_array().and_then(|(_, n)| n.as_int());
        let is_wanted =
            count.as_int().is_some_and(|n| n > ROWS) && length.is_some_and(|n| n >= LONG);
        let (Some(z), true) = (call.args.first(), is_wanted) else { return Ok(None) };
        let fold = |row| {
            let args = vec![z.clone(), row];
            self.cx.call(call.prim.clone(), vec![], call.functions.clone(), args)
        };
        Build::new(self.cx).map(fold, Ok(rows)).map(Some)
    }

    /// `reduce(z, f, join(rows)) = reduceSeq(z, \acc row -> reduce(acc, f, row), rows)`, or `f(acc, reduce(z, f, row))`, unless it is as short as a
    /// window, whose elements are written out: nested loops need not divide to find a row and a column.
    pub(super) fn by_rows(&self, call: &Call) -> Result<Option<Expr>, TypeError> {
        let (Some(f), [z, xs]) = (call.functions.first(), call.args.as_slice()) else {
            return Ok(None);
        };
        let is_window = |n: &Nat| n.as_int().is_some_and(|n| n <= WINDOW);
        if xs.ty().as_array().is_none_or(|(_, n)| is_window(n)) {
            return Ok(None);
        }
        let Some(rows) = self.rows(xs)? else { return Ok(None) };
        let Some((row, _)) = rows.ty().as_array() else { return Ok(None) };
        let is_long = row.as_array().and_then(|(_, n)| n.as_int()).is_some_and(|n| n >= LONG);
        let acc = self.cx.fresh("acc", z.ty().clone());
        let row = self.cx.fresh("row", row.clone());
        let [so_far, elements] = [&acc, &row].map(|param| self.cx.var(param));
        let fold = |prim, start| {
            self.cx.call(prim, vec![], vec![f.clone()], vec![start, elements.clone()])
        };
        let body = match f.params.as_slice() {
            // A fold of its own, which lanes may share.
            [left, right] if is_long && self.target == Target::Loops => Build::new(self.cx)
                .let_in("own", fold(call.prim.clone(), z.clone()), |own| {
                    let values = [(left.clone(), so_far.clone()), (right.clone(), own)];
                    Ok(self.cx.substitute(&f.body, &values))
                })?,
            // What has been folded so far is no identity.
            _ => fold(Prim::Reduce(FoldKind::Seq), so_far)?,
        };
        let step = Lambda { size: None, params: vec![acc, row], body };
        let args = vec![z.clone(), rows];
        self.cx.call(Prim::Reduce(FoldKind::Seq), vec![], vec![step], args).map(Some)
    }

    /// The rows of an array that is made by joining some: `map(f, join(rows))` is `join(map(map(f), rows))`.
    fn rows(&self, xs: &Expr) -> Result<Option<Expr>, TypeError> {
        let Some(call) = xs.as_call() else { return Ok(None) };
        let ([array], functions) = (call.args.as_slice(), call.functions.as_slice()) else {
            return Ok(None);
        };
        match (&call.prim, functions) {
            (Prim::Join, []) => Ok(Some(array.clone())),
            (Prim::Map(MapKind::Map), [f]) => {
                let Some(rows) = self.rows(array)? else { return Ok(None) };
                let map = |row| self.cx.call(call.prim.clone(), vec![], vec![f.clone()], vec![row]);
                Build::new(self.cx).map(map, Ok(rows)).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// `partial_reduce(m, z, f, xs) = map(reduce(z, f), transpose(split(m, xs)))`
    pub(super) fn partial_reduce(&self, call: &Call) -> Built {
        let b = Build::new(self.cx);
        let (Some(m), Some(z), Some(xs)) =
            (call.sizes.first(), call.args.first(), call.args.get(1))
        else {
            return self.cx.call(
                call.prim.clone(),
                call.sizes.clone(),
                call.functions.clone(),
                call.args.clone(),
            );
        };
        let fold = |column: Expr| {
            let args = vec![z.clone(), column];
            self.cx.call(Prim::Reduce(FoldKind::Any), vec![], call.functions.clone(), args)
        };
        b.map(fold, b.transpose(b.split(m.clone(), xs)))
    }
}
