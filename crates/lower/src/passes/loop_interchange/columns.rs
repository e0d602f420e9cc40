//! Folds of rows that work on each place of a row alone.
//!
//! Before: `reduce(zs, \a b -> map(g, zip(a, h(b))), rows)`
//! After: `map(\(z, column) -> reduce(z, g, column), zip(zs, transpose(map(h, rows))))`: each column is a fold of its own, in
//! parallel with the others. Likewise for `reduceSeq` and scans, whose columns are transposed back.
//!
//! A state of several arrays is an array of tuples to the columns, so that rows are read once. Where the arrays have no
//! length in common, and none is made from another, each is a fold of its own:
//!
//! `reduce((y, z), \(a, c) b -> (f(a, b), g(c, b)), rows) = (reduce(y, f, rows), reduce(z, g, rows))`
//!
//! So it is where data choose which rows are folded:
//!
//! `reduce_by_index(k, zs, \a b -> map(g, zip(a, h(b))), is, rows) =
//!  transpose(map(\(z, column) -> reduce_by_index(k, z, g, is, column), zip(zs, transpose(map(h, rows)))))`

use lift_ir::{Build, Call, Expr, FoldKind, Kind, Lambda, MapKind, Param, Prim, Type, TypeError};

use super::places::{Step, each_place, is_associative};
use super::{Interchange, is_large};
use crate::replace::with_components;

impl Interchange<'_> {
    /// The fold or scan column by column, where its function works on each place alone.
    pub(super) fn by_columns(&self, call: &Call) -> Result<Option<Expr>, TypeError> {
        let (Some(f), [zs, _]) = (call.functions.first(), call.args.as_slice()) else {
            return Ok(None);
        };
        let ([a, b], None) = (f.params.as_slice(), &f.size) else { return Ok(None) };
        let Type::Tuple(items) = a.ty() else {
            let Some(step) = each_place(self.cx, std::slice::from_ref(a), b, &f.body)? else {
                return Ok(None);
            };
            return self.columns(call, &step, zs.clone());
        };
        let is_fold = matches!(call.prim, Prim::Reduce(_));
        if !is_fold || !is_large(a.ty(), self.target) {
            return Ok(None);
        }
        let build = Build::new(self.cx);
        let own: Vec<Param> = items.iter().map(|ty| self.cx.fresh(a.name(), ty.clone())).collect();
        let components: Vec<Expr> = own.iter().map(|param| self.cx.var(param)).collect();
        let body = with_components(self.cx, &f.body, a, &components)?;
        let start = |k: usize| match zs.as_call() {
            Some(Call { prim: Prim::Tuple, args, .. }) if k < args.len() => Ok(args[k].clone()),
            _ => build.field(zs, u32::try_from(k).unwrap_or(u32::MAX)),
        };
        let starts = (0..own.len()).map(start).collect::<Result<Vec<Expr>, TypeError>>()?;
        let Some(step) = each_place(self.cx, &own, b, &body)? else {
            return self.each_component(call, &own, &starts, &body);
        };
        let same = |z: &Expr| match z.as_call() {
            Some(Call { prim: Prim::Repeat, sizes, args, .. }) => {
                args.first().cloned().zip(sizes.first().cloned())
            }
            _ => None,
        };
        let zs = match starts.iter().map(same).collect::<Option<Vec<_>>>() {
            Some(all) => {
                let count = all.first().map(|(_, n)| n.clone()).into_iter().collect();
                let one = build.tuple(all.into_iter().map(|(z, _)| z))?;
                self.cx.call(Prim::Repeat, count, vec![], vec![one])?
            }
            None => build.zip(starts)?,
        };
        let Some(made) = self.columns(call, &step, zs)? else { return Ok(None) };
        self.cx.call(Prim::Unzip, vec![], vec![], vec![made]).map(Some)
    }

    /// The fold by index column by column, where its function works on each place alone.
    pub(super) fn by_index(&self, call: &Call) -> Result<Option<Expr>, TypeError> {
        let (Some(f), [zs, ..]) = (call.functions.first(), call.args.as_slice()) else {
            return Ok(None);
        };
        let ([a, b], None) = (f.params.as_slice(), &f.size) else { return Ok(None) };
        match each_place(self.cx, std::slice::from_ref(a), b, &f.body)? {
            Some(step) => self.columns(call, &step, zs.clone()),
            None => Ok(None),
        }
    }

    /// A fold or scan for each column; nothing where the function of columns is not one of what they are folded to.
    fn columns(&self, call: &Call, step: &Step, zs: Expr) -> Result<Option<Expr>, TypeError> {
        let (Some(f), Some(rows)) = (call.functions.first(), call.args.last()) else {
            return Ok(None);
        };
        let [a, b] = f.params.as_slice() else { return Ok(None) };
        let build = Build::new(self.cx);
        let columns = match step.is_row(b) {
            true => build.transpose(rows.clone())?,
            false => build.transpose(build.map(|row| step.operands(self.cx, b, row), rows))?,
        };
        let is_by_index = matches!(call.prim, Prim::ReduceByIndex(_));
        if is_by_index && !self.folds_itself(step, (a, b), &columns)? {
            return Ok(None);
        }
        let fold = |z: Expr, column: Expr| {
            let Some((element, _)) = column.ty().as_array() else { return Ok(column) };
            let acc = self.cx.fresh(a.name(), z.ty().clone());
            let x = self.cx.fresh(b.name(), element.clone());
            let body = step.element(self.cx, &acc, &x)?;
            let is_open = step.is_whole_row(b) || is_associative(self.cx, &body, &acc, &x)?;
            let prim = match &call.prim {
                // What was made of a row need not be what partial results are made of.
                Prim::Reduce(FoldKind::Any) if !is_open => Prim::Reduce(FoldKind::Seq),
                Prim::Scan(FoldKind::Any) if !is_open => Prim::Scan(FoldKind::Seq),
                prim => prim.clone(),
            };
            let f = Lambda { size: None, params: vec![acc, x], body };
            let args = match call.args.as_slice() {
                [_, indices, _] => vec![z, indices.clone(), column],
                _ => vec![z, column],
            };
            self.expr(&self.cx.call(prim, call.sizes.clone(), vec![f], args)?)
        };
        let made = match same_everywhere(&zs) {
            // A start that is the same everywhere needs no array.
            Some(z) => build.map(|column| fold(z, column), columns)?,
            None => {
                let pairs = build.zip([zs.clone(), columns])?;
                build.map(|p| fold(build.field(p.clone(), 0)?, build.field(p, 1)?), pairs)?
            }
        };
        let made = self.expr(&made)?;
        let has_rows = is_by_index || matches!(call.prim, Prim::Scan(_));
        if has_rows { build.transpose(made).map(Some) } else { Ok(Some(made)) }
    }

    /// Whether what a step folds at a place is of the type of the state there, and partial results of it may be folded.
    fn folds_itself(
        &self,
        step: &Step,
        (a, b): (&Param, &Param),
        columns: &Expr,
    ) -> Result<bool, TypeError> {
        let element = |ty: &Type| ty.as_array().map(|(element, _)| element.clone());
        let column = element(columns.ty()).and_then(|column| element(&column));
        let (Some(state), Some(x)) = (element(a.ty()), column) else { return Ok(false) };
        if !self.cx.same_type(&state, &x) {
            return Ok(false);
        }
        let [acc, x] = [self.cx.fresh(a.name(), state), self.cx.fresh(b.name(), x)];
        let body = step.element(self.cx, &acc, &x)?;
        Ok(step.is_whole_row(b) || is_associative(self.cx, &body, &acc, &x)?)
    }

    /// A fold for each component of a state, where none is made from another.
    fn each_component(
        &self,
        call: &Call,
        own: &[Param],
        starts: &[Expr],
        body: &Expr,
    ) -> Result<Option<Expr>, TypeError> {
        let (Some(f), Some(rows)) = (call.functions.first(), call.args.get(1)) else {
            return Ok(None);
        };
        let [_, b] = f.params.as_slice() else { return Ok(None) };
        let (mut lets, mut last) = (Vec::new(), body);
        while let Kind::Let { param, value, body } = last.kind() {
            lets.push((param, value));
            last = body;
        }
        let Some(Call { prim: Prim::Tuple, args: results, .. }) = last.as_call() else {
            return Ok(None);
        };
        let named = self.cx.fresh("rows", rows.ty().clone());
        let mut folds = Vec::new();
        for (k, (param, result)) in own.iter().zip(results).enumerate() {
            let mut step = result.clone();
            for (name, value) in lets.iter().rev() {
                if step.mentions(name) {
                    step = self.cx.let_in((*name).clone(), (*value).clone(), step)?;
                }
            }
            if own.iter().any(|other| other != param && step.mentions(other)) {
                return Ok(None);
            }
            let (prim, row, rows) = match self.component_of_rows(&step, b, k, &named)? {
                Some((own, row, rows)) => {
                    step = own;
                    (call.prim.clone(), row, rows)
                }
                // What is folded is not of the type of this state.
                None => {
                    let row = self.cx.fresh(b.name(), b.ty().clone());
                    step = self.cx.substitute(&step, &[(b.clone(), self.cx.var(&row))]);
                    let prim = match &call.prim {
                        Prim::Reduce(FoldKind::Any) => Prim::Reduce(FoldKind::Seq),
                        prim => prim.clone(),
                    };
                    (prim, row, self.cx.var(&named))
                }
            };
            let f = Lambda { size: None, params: vec![param.clone(), row], body: step };
            let Some(start) = starts.get(k) else { return Ok(None) };
            let args = vec![start.clone(), rows];
            folds.push(self.expr(&self.cx.call(prim, vec![], vec![f], args)?)?);
        }
        let together = Build::new(self.cx).tuple(folds)?;
        match rows.as_var() {
            Some(_) => Ok(Some(self.cx.substitute(&together, &[(named, rows.clone())]))),
            None => self.cx.let_in(named, rows.clone(), together).map(Some),
        }
    }
    /// A step that reads one component of the rows alone, with a variable for it, and that component of all rows.
    fn component_of_rows(
        &self,
        step: &Expr,
        row: &Param,
        k: usize,
        rows: &Param,
    ) -> Result<Option<(Expr, Param, Expr)>, TypeError> {
        let (Type::Tuple(items), Ok(index)) = (row.ty(), u32::try_from(k)) else {
            return Ok(None);
        };
        let own: Vec<Param> = items.iter().map(|t| self.cx.fresh(row.name(), t.clone())).collect();
        let components: Vec<Expr> = own.iter().map(|param| self.cx.var(param)).collect();
        let step = with_components(self.cx, step, row, &components)?;
        let Some(param) = own.get(k) else { return Ok(None) };
        if own.iter().any(|other| other != param && step.mentions(other)) {
            return Ok(None);
        }
        let build = Build::new(self.cx);
        let rows = build.map(|x| build.field(x, index), self.cx.var(rows))?;
        Ok(Some((step, param.clone(), rows)))
    }
}

/// The element of an array that has one value everywhere.
fn same_everywhere(array: &Expr) -> Option<Expr> {
    let call = array.as_call()?;
    match (&call.prim, call.functions.as_slice(), call.args.as_slice()) {
        (Prim::Repeat, [], [z]) => Some(z.clone()),
        (Prim::Generate, [f], []) | (Prim::Map(MapKind::Map), [f], [_]) => {
            let is_same = f.params.iter().all(|param| !f.body.mentions(param));
            is_same.then(|| f.body.clone())
        }
        _ => None,
    }
}
