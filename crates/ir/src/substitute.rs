//! Replacing variables by expressions and size variables by sizes.

use std::sync::Arc;

use lift_nat::{Nat, Range, Var};

use crate::{Boundary, Call, Context, Expr, Kind, Lambda, Param, Permutation, Prim};

impl Context {
    /// `expr` with every free occurrence of a variable replaced by its value, which has the same
    /// type. Binders that would capture a variable of a value are renamed.
    pub fn substitute(&self, expr: &Expr, values: &[(Param, Expr)]) -> Expr {
        let relevant: Vec<(Param, Expr)> =
            values.iter().filter(|(param, _)| expr.mentions(param)).cloned().collect();
        if relevant.is_empty() {
            return expr.clone();
        }
        let kind = match expr.kind() {
            Kind::Var(param) => {
                let value = relevant.iter().find(|(p, _)| p == param);
                return value.map_or_else(|| expr.clone(), |(_, value)| value.clone());
            }
            Kind::Literal(_) | Kind::Size(..) => return expr.clone(),
            Kind::Let { param, value, body } => {
                let value = self.substitute(value, &relevant);
                let (params, body) = self.under(std::slice::from_ref(param), body, &relevant);
                match params.into_iter().next() {
                    Some(param) => Kind::Let { param, value, body },
                    None => return expr.clone(),
                }
            }
            Kind::Call(call) => Kind::Call(Call {
                prim: call.prim.clone(),
                sizes: call.sizes.clone(),
                functions: call
                    .functions
                    .iter()
                    .map(|f| {
                        let (params, body) = self.under(&f.params, &f.body, &relevant);
                        Lambda { size: f.size.clone(), params, body }
                    })
                    .collect(),
                args: call.args.iter().map(|a| self.substitute(a, &relevant)).collect(),
            }),
        };
        Expr::from_parts(kind, expr.ty().clone(), expr.span())
    }

    /// Substitutes in the scope of binders, renaming those that occur free in a value.
    fn under(&self, params: &[Param], body: &Expr, values: &[(Param, Expr)]) -> (Vec<Param>, Expr) {
        let mut inner: Vec<(Param, Expr)> =
            values.iter().filter(|(p, _)| !params.contains(p)).cloned().collect();
        let renamed = params
            .iter()
            .map(|param| {
                if !inner.iter().any(|(_, value)| value.mentions(param)) {
                    return param.clone();
                }
                let fresh = self.fresh(param.name(), param.ty().clone());
                inner.push((param.clone(), self.var(&fresh)));
                fresh
            })
            .collect();
        (renamed, self.substitute(body, &inner))
    }

    /// The same variable with size variables replaced in its type.
    pub fn substitute_param(&self, param: &Param, value: &dyn Fn(&Var) -> Option<Nat>) -> Param {
        let ty = param.ty().map_sizes(&|n| self.simplify(&n.substitute(value)));
        Param::new(param.id(), param.name(), ty)
    }

    /// `expr` with size variables replaced everywhere, types included, and sizes simplified again.
    /// Size variables that the expression itself binds are numbered and never replaced.
    pub fn substitute_sizes(&self, expr: &Expr, value: &dyn Fn(&Var) -> Option<Nat>) -> Expr {
        let size = |n: &Nat| self.simplify(&n.substitute(value));
        let param = |p: &Param| Param::new(p.id(), p.name(), p.ty().map_sizes(&|n: &Nat| size(n)));
        let ty = expr.ty().map_sizes(&|n: &Nat| size(n));
        let kind = match expr.kind() {
            Kind::Var(p) => Kind::Var(param(p)),
            Kind::Literal(literal) => Kind::Literal(*literal),
            Kind::Size(n, scalar) => {
                // A constant that is no value of the type stays a size: evaluating it reports so.
                let n = size(n);
                return match self.size(&n, *scalar) {
                    Ok(value) => value,
                    Err(_) => Expr::from_parts(Kind::Size(n, *scalar), ty, expr.span()),
                };
            }
            Kind::Let { param: p, value: v, body } => Kind::Let {
                param: param(p),
                value: self.substitute_sizes(v, value),
                body: self.substitute_sizes(body, value),
            },
            Kind::Call(call) => Kind::Call(Call {
                prim: self.substitute_in_prim(call, value),
                sizes: call.sizes.iter().map(size).collect(),
                functions: call
                    .functions
                    .iter()
                    .map(|f| Lambda {
                        size: f.size.clone(),
                        params: f.params.iter().map(param).collect(),
                        body: self.substitute_sizes(&f.body, value),
                    })
                    .collect(),
                args: call.args.iter().map(|a| self.substitute_sizes(a, value)).collect(),
            }),
        };
        Expr::from_parts(kind, ty, expr.span())
    }

    fn substitute_in_prim(&self, call: &Call, value: &dyn Fn(&Var) -> Option<Nat>) -> Prim {
        let size = |n: &Nat| self.simplify(&n.substitute(value));
        let permutation = |p: &Permutation| match p {
            Permutation::Reverse => Permutation::Reverse,
            Permutation::Stride(s) => Permutation::Stride(size(s)),
            Permutation::Shift(k) => Permutation::Shift(size(k)),
            Permutation::Index(var, body) => {
                let length = call.args.first().and_then(|xs| xs.ty().as_array());
                let mut facts = self.facts();
                if let Some((_, length)) = length {
                    facts.declare(var, Range::below(size(length)));
                }
                Permutation::Index(var.clone(), facts.simplify(&body.substitute(value)))
            }
        };
        match &call.prim {
            Prim::Gather(p) => Prim::Gather(permutation(p)),
            Prim::Scatter(p) => Prim::Scatter(permutation(p)),
            Prim::Pad(Boundary::Index(var, body)) => {
                Prim::Pad(Boundary::Index(var.clone(), body.substitute(value)))
            }
            Prim::Rank(domain) => Prim::Rank(Arc::new(domain.substitute(value))),
            Prim::Point(domain) => Prim::Point(Arc::new(domain.substitute(value))),
            other => other.clone(),
        }
    }
}
