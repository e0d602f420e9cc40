//! Folds of rows that work on each place of a row alone.
//!
//! Before: `reduce(zs, \a b -> map(g, zip(a, h(b))), rows)`
//! After: `map(\(z, column) -> reduce(z, g, column), zip(zs, transpose(map(h, rows))))`: each column is a fold of its own, in
//! parallel with the others. Likewise for `reduceSeq` and scans, whose columns are transposed back.

use lift_ir::{Build, Built, Call, Expr, Lambda, MapKind, Param, Prim, TypeError};

use super::Interchange;
use crate::replace::with_components;

/// What a step does with the state: `map(g, zip(…, state, …))`.
struct Step<'e> {
    g: &'e Lambda,
    zipped: &'e [Expr],
    /// Which of those the state is.
    state: usize,
}

impl Interchange<'_> {
    /// The fold or scan column by column, where its function works on each place alone.
    pub(super) fn by_columns(&self, call: &Call) -> Result<Option<Expr>, TypeError> {
        let (Some(f), [zs, rows]) = (call.functions.first(), call.args.as_slice()) else {
            return Ok(None);
        };
        let ([a, b], Some(step)) = (f.params.as_slice(), step(f)) else { return Ok(None) };
        if step.zipped.iter().all(|e| !e.mentions(b)) {
            return Ok(None);
        }
        let build = Build::new(self.cx);
        let others = |row: Expr| {
            let own = step.zipped.iter().enumerate().filter(|(index, _)| *index != step.state);
            let own: Vec<Expr> =
                own.map(|(_, e)| self.cx.substitute(e, &[(b.clone(), row.clone())])).collect();
            match own.as_slice() {
                [one] => Ok(one.clone()),
                _ => self.cx.call(Prim::Zip, vec![], vec![], own),
            }
        };
        let is_row = |(at, e): (usize, &Expr)| at == step.state || e.as_var() == Some(b);
        let columns = match step.zipped.len() == 2 && step.zipped.iter().enumerate().all(is_row) {
            true => build.transpose(rows.clone())?,
            false => build.transpose(build.map(others, rows.clone()))?,
        };
        let fold = |z: Expr, column: Expr| {
            let Some((element, _)) = column.ty().as_array() else { return Ok(column) };
            let acc = self.cx.fresh(a.name(), z.ty().clone());
            let x = self.cx.fresh(b.name(), element.clone());
            let body = self.element(&step, &acc, &x)?;
            let f = Lambda { size: None, params: vec![acc, x], body };
            self.expr(&self.cx.call(call.prim.clone(), vec![], vec![f], vec![z, column])?)
        };
        let made = match zs.as_call() {
            // A start that is the same everywhere needs no array.
            Some(Call { prim: Prim::Repeat, args, .. }) if args.len() == 1 => {
                build.map(|column| fold(args[0].clone(), column), columns)?
            }
            _ => {
                let pairs = build.zip([zs.clone(), columns])?;
                build.map(|p| fold(build.field(p.clone(), 0)?, build.field(p, 1)?), pairs)?
            }
        };
        let made = self.expr(&made)?;
        Ok(Some(if matches!(call.prim, Prim::Scan(_)) { build.transpose(made)? } else { made }))
    }

    /// What a step does at one place, from the state there and the other elements.
    fn element(&self, step: &Step, state: &Param, others: &Param) -> Built {
        let build = Build::new(self.cx);
        let several = step.zipped.len() > 2;
        let mut number = 0;
        let mut items = Vec::new();
        for index in 0..step.zipped.len() {
            items.push(match (index == step.state, several) {
                (true, _) => self.cx.var(state),
                (false, false) => self.cx.var(others),
                (false, true) => {
                    number += 1;
                    build.field(self.cx.var(others), number - 1)?
                }
            });
        }
        match step.g.params.as_slice() {
            [tuple] => with_components(self.cx, &step.g.body, tuple, &items),
            params => {
                let values: Vec<(Param, Expr)> = params.iter().cloned().zip(items).collect();
                Ok(self.cx.substitute(&step.g.body, &values))
            }
        }
    }
}

fn step(f: &Lambda) -> Option<Step<'_>> {
    let ([a, b], None) = (f.params.as_slice(), &f.size) else { return None };
    let map = f.body.as_call().filter(|call| call.prim == Prim::Map(MapKind::Map))?;
    let (g, [zip]) = (map.functions.first()?, map.args.as_slice()) else { return None };
    let zip = zip.as_call().filter(|call| call.prim == Prim::Zip)?;
    let is_state = |e: &Expr| e.as_var().is_some_and(|p| p == a);
    let state = zip.args.iter().position(is_state)?;
    let mut others = zip.args.iter().enumerate().filter(|(index, _)| *index != state);
    let is_free = others.all(|(_, e)| !e.mentions(a));
    let is_alone = !g.body.mentions(a) && !g.body.mentions(b);
    (is_free && is_alone).then_some(Step { g, zipped: &zip.args, state })
}
