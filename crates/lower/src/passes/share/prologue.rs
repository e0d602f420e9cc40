//! What depends on one operand alone, computed before the operands meet.
//!
//! `map(\(a, b) -> E[g(a)], zip(xs, ys)) = map(\(a, b, c) -> E[c], zip(xs, ys, map(g, xs)))`
//!
//! Where `xs` is the same at each application of the function around, and `ys` is not, `map(g, xs)` moves out of it and is
//! computed once: in a product of matrices, for each element of a row instead of for each element and column. Operands may be
//! rows, of which `g` is a map, or a fold to a number. Only functions such as `exp` and folds of more than a few elements are worth
//! it, and where the map is folded whatever costs more than memory: points that fold have no memory to wait for. Only what cannot
//! fail may move: it may have stood in a branch that was not taken.

use std::slice;

use lift_ir::{BinaryOp, Build, Built, Call, Expr, Kind, Lambda, MapKind, Param, Prim, TypeError};

use super::Sharer;
use super::numbers::{is_loop, is_total};

/// One of the arrays that a map goes over.
struct Operand<'e> {
    array: &'e Expr,
    /// Which component of an element it is, if elements have components.
    component: Option<u32>,
}

impl Sharer<'_> {
    /// The map with operands of their own for what depends on one alone; nothing where there is none.
    pub(super) fn with_prologues(
        &self,
        call: &Call,
        is_folded: bool,
    ) -> Result<Option<Call>, TypeError> {
        let (Prim::Map(MapKind::Map), [f], [xs]) =
            (&call.prim, call.functions.as_slice(), call.args.as_slice())
        else {
            return Ok(None);
        };
        let ([p], true) = (f.params.as_slice(), f.body.ty().is_register()) else { return Ok(None) };
        let operands = operands(xs);
        let is_same = |operand: &&Operand| self.is_invariant(operand.array);
        let meets =
            operands.iter().any(|operand| !is_same(&operand)) || !self.is_invariant(&f.body);
        if !meets || !uses_components(&f.body, p, &operands) {
            return Ok(None);
        }
        let mut found: Vec<(Expr, &Operand)> = Vec::new();
        for operand in operands.iter().filter(is_same) {
            self.prologues(&f.body, p, operand, is_folded, &mut found);
        }
        if found.is_empty() {
            return Ok(None);
        }
        self.met(f, p, &operands, &found).map(Some)
    }

    /// The largest parts of an expression that depend on one operand and are worth it.
    fn prologues<'o>(
        &self,
        expr: &Expr,
        p: &Param,
        operand: &'o Operand<'o>,
        is_folded: bool,
        found: &mut Vec<(Expr, &'o Operand<'o>)>,
    ) {
        let is_worth_it = |expr| match is_folded {
            true => !self.costs.is_cheap(expr),
            false => self.costs.is_dear(expr),
        };
        if (is_prologue(expr, p, operand) || is_fold_of(expr, p, operand)) && is_worth_it(expr) {
            if found.iter().all(|(known, _)| !known.alpha_eq(expr)) {
                found.push((expr.clone(), operand));
            }
            return;
        }
        match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => {}
            Kind::Let { value, body, .. } => {
                self.prologues(value, p, operand, is_folded, found);
                self.prologues(body, p, operand, is_folded, found);
            }
            Kind::Call(call) => {
                let args = call.args.iter();
                args.for_each(|arg| self.prologues(arg, p, operand, is_folded, found));
            }
        }
    }

    /// The map over all operands and what was computed of them.
    fn met(
        &self,
        f: &Lambda,
        p: &Param,
        operands: &[Operand],
        found: &[(Expr, &Operand)],
    ) -> Result<Call, TypeError> {
        let b = Build::new(self.cx);
        let mut arrays: Vec<Expr> = operands.iter().map(|operand| operand.array.clone()).collect();
        for (expr, operand) in found {
            let of = |x: Expr| {
                let own = |e: &Expr| is_component(e, p, operand.component).then(|| x.clone());
                replaced(self.cx, expr, &own)
            };
            arrays.push(b.map(of, Ok(operand.array.clone()))?);
        }
        let zipped = self.cx.call(Prim::Zip, vec![], vec![], arrays)?;
        let element = zipped.ty().as_array().map_or(zipped.ty(), |(element, _)| element);
        let all = self.cx.fresh(p.name(), element.clone());
        let field = |k: usize| {
            let k = u32::try_from(k).unwrap_or(u32::MAX);
            self.cx.call(Prim::Field(k), vec![], vec![], vec![self.cx.var(&all)])
        };
        let fields: Vec<Expr> =
            (0..operands.len() + found.len()).map(field).collect::<Result<_, _>>()?;
        let (own, new) = fields.split_at(operands.len());
        let value = |e: &Expr| {
            let known = found.iter().zip(new).find(|((part, _), _)| part.alpha_eq(e));
            let plain = || {
                let at = operands.iter().position(|o| is_component(e, p, o.component))?;
                own.get(at).cloned()
            };
            known.map(|(_, field)| field.clone()).or_else(plain)
        };
        let body = replaced(self.cx, &f.body, &value)?;
        let functions = vec![Lambda { size: None, params: vec![all], body }];
        Ok(Call { prim: Prim::Map(MapKind::Map), sizes: Vec::new(), functions, args: vec![zipped] })
    }
}

fn operands(xs: &Expr) -> Vec<Operand<'_>> {
    match xs.as_call() {
        Some(call) if call.prim == Prim::Zip => {
            (0..).zip(&call.args).map(|(k, array)| Operand { array, component: Some(k) }).collect()
        }
        _ => vec![Operand { array: xs, component: None }],
    }
}

/// Whether an expression is a component of a variable, or the variable.
fn is_component(expr: &Expr, p: &Param, component: Option<u32>) -> bool {
    match (expr.kind(), component) {
        (Kind::Var(param), None) => param == p,
        (Kind::Call(call), Some(k)) => {
            call.prim == Prim::Field(k)
                && matches!(call.args.as_slice(), [arg] if arg.as_var() == Some(p))
        }
        _ => false,
    }
}

/// Whether an expression has a variable only as one of some components.
fn uses_components(expr: &Expr, p: &Param, operands: &[Operand]) -> bool {
    if !expr.mentions(p) || operands.iter().any(|o| is_component(expr, p, o.component)) {
        return true;
    }
    let children = expr.children();
    !children.is_empty() && children.into_iter().all(|child| uses_components(child, p, operands))
}

/// Whether a number, or each of a row, is computed from one operand and constants, and always can be.
fn is_prologue(expr: &Expr, p: &Param, operand: &Operand) -> bool {
    if is_component(expr, p, operand.component) {
        return expr.ty().is_register();
    }
    match expr.kind() {
        Kind::Literal(_) | Kind::Size(..) => true,
        Kind::Var(_) | Kind::Let { .. } => false,
        Kind::Call(call) if call.prim == Prim::Map(MapKind::Map) => {
            let ([f], [row]) = (call.functions.as_slice(), call.args.as_slice()) else {
                return false;
            };
            let own = Operand { array: row, component: None };
            is_component(row, p, operand.component)
                && matches!(f.params.as_slice(), [x] if is_prologue(&f.body, x, &own))
        }
        Kind::Call(call) => {
            let floats = || expr.ty().element_scalar().is_some_and(|s| s.is_float());
            let is_total = match &call.prim {
                Prim::Binary(BinaryOp::Div | BinaryOp::Rem) => floats(),
                Prim::Binary(_) | Prim::Unary(_) | Prim::Math(_) | Prim::Cast(_) | Prim::If => true,
                _ => false,
            };
            is_total && call.args.iter().all(|arg| is_prologue(arg, p, operand))
        }
    }
}

/// Whether a number takes a loop over one operand, and always has a value.
fn is_fold_of(expr: &Expr, p: &Param, operand: &Operand) -> bool {
    expr.ty().is_register()
        && *expr.free_variables() == [p.id()]
        && uses_components(expr, p, slice::from_ref(operand))
        && expr.has(is_loop)
        && is_total(expr)
}

/// An expression with parts replaced, outside of functions.
fn replaced(cx: &lift_ir::Context, expr: &Expr, value: &dyn Fn(&Expr) -> Option<Expr>) -> Built {
    if let Some(value) = value(expr) {
        return Ok(value);
    }
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => Ok(expr.clone()),
        Kind::Let { param, value: own, body } => {
            let own = replaced(cx, own, value)?;
            cx.let_in(param.clone(), own, replaced(cx, body, value)?)
        }
        Kind::Call(call) => {
            let args =
                call.args.iter().map(|arg| replaced(cx, arg, value)).collect::<Result<_, _>>()?;
            let functions = call
                .functions
                .iter()
                .map(|f| Ok(Lambda { body: replaced(cx, &f.body, value)?, ..f.clone() }));
            let functions = functions.collect::<Result<_, TypeError>>()?;
            cx.call(call.prim.clone(), call.sizes.clone(), functions, args)
        }
    }
}
