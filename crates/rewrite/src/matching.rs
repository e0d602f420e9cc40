//! Matching the left side of a law against a typed expression.
//!
//! A function metavariable applied to distinct bound variables, or projections of them, stands for
//! the matched expression as a function of them. What a metavariable stands for never depends on
//! other variables bound inside the pattern, so it may be moved freely.

use lift_ir::{
    Call, Context, Expr, FoldKind, Kind, Lambda, Literal, MapKind, Nat, Param, Permutation, Prim,
    Type, Var, table,
};
use lift_syntax::ast;

use crate::bindings::Bindings;
use crate::law::{Edge, Function, Law, Op, Reordering, Sort, Term, vector_variable};
use crate::project::{Path, name_projections, path_of_term};
use crate::read::size_of;
use crate::refusal::Refusal;

/// Matches the left side of `law` and the declared types of its metavariables.
pub(crate) fn match_law(cx: &Context, law: &Law, expr: &Expr) -> Result<Bindings, Refusal> {
    let mut matcher =
        Matcher { cx, found: Bindings::default(), scope: Vec::new(), deferred: Vec::new() };
    matcher.term(&law.left, expr)?;
    matcher.declared_types(law)?;
    matcher.deferred_sizes()?;
    Ok(matcher.found)
}

struct Matcher<'a> {
    cx: &'a Context,
    found: Bindings,
    /// The variables bound inside the pattern: the law's name, the program's variable.
    scope: Vec<(&'a str, Param)>,
    /// Sizes that are more than a variable, compared once everything is bound.
    deferred: Vec<(Nat, Nat)>,
}

impl<'a> Matcher<'a> {
    fn term(&mut self, term: &'a Term, expr: &Expr) -> Result<(), Refusal> {
        match term {
            Term::Meta(name) => self.value(name, expr),
            Term::Bound(name) => match (self.bound(name), expr.as_var()) {
                (Some(param), Some(var)) if param == var => Ok(()),
                _ => Err(form(format!("`{name}`"), expr)),
            },
            Term::Literal(literal) => match expr.kind() {
                Kind::Literal(own) if own == literal => Ok(()),
                _ => Err(form(format!("`{literal}`"), expr)),
            },
            Term::Size(size) => match expr.kind() {
                Kind::Size(own, _) => self.size(size, own),
                Kind::Literal(Literal::Int(_, own)) => self.size(size, &Nat::int(*own)),
                Kind::Var(_) | Kind::Literal(_) | Kind::Let { .. } | Kind::Call(_) => {
                    Err(form(format!("the size `{size}`"), expr))
                }
            },
            Term::Apply(name, args) => self.function_of(name, args, expr),
            Term::Let { name, value, body } => {
                let Kind::Let { param, value: own_value, body: own_body } = expr.kind() else {
                    return Err(form("a `let`".to_string(), expr));
                };
                self.term(value, own_value)?;
                self.scope.push((name, param.clone()));
                let result = self.term(body, own_body);
                self.scope.pop();
                result
            }
            Term::Call { op, sizes, functions, args } => {
                let Some(call) = expr.as_call() else { return Err(form(name_of(op), expr)) };
                self.op(op, call, expr)?;
                let same_shape = call.sizes.len() == sizes.len()
                    && call.functions.len() == functions.len()
                    && call.args.len() == args.len();
                if !same_shape {
                    return Err(form(name_of(op), expr));
                }
                for (size, own) in sizes.iter().zip(&call.sizes) {
                    self.size(size, own)?;
                }
                for (arg, own) in args.iter().zip(&call.args) {
                    self.term(arg, own)?;
                }
                for (function, own) in functions.iter().zip(&call.functions) {
                    self.function(function, own)?;
                }
                Ok(())
            }
        }
    }

    fn bound(&self, name: &str) -> Option<&Param> {
        self.scope.iter().rev().find(|(n, _)| *n == name).map(|(_, param)| param)
    }

    fn op(&mut self, op: &Op, call: &Call, expr: &Expr) -> Result<(), Refusal> {
        let differs = || form(name_of(op), expr);
        match (op, &call.prim) {
            (Op::Exact(prim), own) if prim == own => Ok(()),
            (Op::Gather(p), Prim::Gather(own)) | (Op::Scatter(p), Prim::Scatter(own)) => {
                self.permutation(p, own, expr)
            }
            (Op::Parallel(make, dimension), Prim::Map(kind)) => {
                let own = kind.dimension().filter(|d| make(*d) == Prim::Map(*kind));
                let own = own.ok_or_else(differs)?;
                self.size(dimension, &Nat::int(i128::from(own)))
            }
            (Op::Pad(Edge::Exact(boundary)), Prim::Pad(own)) if boundary == own => Ok(()),
            (Op::Pad(Edge::Meta(name)), Prim::Pad(own)) => match self.found.boundaries.get(name) {
                Some(bound) if bound == own => Ok(()),
                Some(_) => Err(Refusal::Differs { metavariable: name.clone() }),
                None => {
                    self.found.boundaries.insert(name.clone(), own.clone());
                    Ok(())
                }
            },
            (Op::Exact(_) | Op::Gather(_) | Op::Scatter(_) | Op::Parallel(..) | Op::Pad(_), _) => {
                Err(differs())
            }
        }
    }

    fn permutation(
        &mut self,
        p: &Reordering,
        own: &Permutation,
        expr: &Expr,
    ) -> Result<(), Refusal> {
        match (p, own) {
            (Reordering::Meta(name), _) => match self.found.permutations.get(name) {
                Some(bound) if bound == own => Ok(()),
                Some(_) => Err(Refusal::Differs { metavariable: name.clone() }),
                None => {
                    self.found.permutations.insert(name.clone(), own.clone());
                    Ok(())
                }
            },
            (Reordering::Reverse, Permutation::Reverse) => Ok(()),
            (Reordering::Stride(size), Permutation::Stride(own))
            | (Reordering::Shift(size), Permutation::Shift(own)) => self.size(size, own),
            (Reordering::Reverse | Reordering::Stride(_) | Reordering::Shift(_), _) => {
                Err(form("another permutation".to_string(), expr))
            }
        }
    }

    /// A bare variable is bound or compared; anything else waits until all variables are bound.
    fn size(&mut self, size: &Nat, own: &Nat) -> Result<(), Refusal> {
        let Some(var) = size.as_var() else {
            self.deferred.push((size.clone(), own.clone()));
            return Ok(());
        };
        match self.found.sizes.get(var.name()) {
            Some(bound) if self.cx.same_size(bound, own) => Ok(()),
            Some(bound) => Err(unequal(bound, own)),
            None => {
                self.found.sizes.insert(var.name().to_string(), own.clone());
                Ok(())
            }
        }
    }

    fn value(&mut self, name: &str, expr: &Expr) -> Result<(), Refusal> {
        self.independent(name, expr, &[])?;
        match self.found.values.get(name) {
            Some(bound) if bound.alpha_eq(expr) => Ok(()),
            Some(_) => Err(Refusal::Differs { metavariable: name.to_string() }),
            None => {
                self.found.values.insert(name.to_string(), expr.clone());
                Ok(())
            }
        }
    }

    /// Variables bound inside the pattern do not occur, except for those allowed.
    fn independent(&self, name: &str, expr: &Expr, allowed: &[Param]) -> Result<(), Refusal> {
        let captured = self.scope.iter().find(|(_, p)| !allowed.contains(p) && expr.mentions(p));
        match captured {
            None => Ok(()),
            Some((_, param)) => Err(Refusal::Captures {
                metavariable: name.to_string(),
                variable: param.name().to_string(),
            }),
        }
    }

    /// `f(x, p.0)` on the left: the expression as a function of x and of the projection.
    fn function_of(&mut self, name: &str, args: &'a [Term], expr: &Expr) -> Result<(), Refusal> {
        let not_variables = || Refusal::Law(format!("`{name}` is not applied to variables"));
        let mut params: Vec<Param> = Vec::new();
        let mut named = Vec::new();
        for arg in args {
            let path = path_of_term(arg).ok_or_else(not_variables)?;
            let root = self.bound(path.root).cloned().ok_or_else(not_variables)?;
            let param = if path.fields.is_empty() {
                root
            } else {
                let ty = path.fields.iter().try_fold(root.ty(), |ty, index| match ty {
                    Type::Tuple(parts) => parts.get(*index as usize),
                    Type::Scalar(_) | Type::Vector(..) | Type::Array(..) => None,
                });
                let ty = ty.ok_or_else(|| form("a tuple".to_string(), expr))?;
                let param = self.cx.fresh(root.name(), ty.clone());
                named.push((Path { root, fields: path.fields }, param.clone()));
                param
            };
            if params.contains(&param) {
                return Err(not_variables());
            }
            params.push(param);
        }
        let expr = &name_projections(self.cx, expr, &named)?;
        self.independent(name, expr, &params)?;
        match self.found.functions.get(name) {
            Some(bound) => {
                let renamed: Vec<(Param, Expr)> = params
                    .iter()
                    .cloned()
                    .zip(bound.params.iter().map(|p| self.cx.var(p)))
                    .collect();
                if !self.cx.substitute(expr, &renamed).alpha_eq(&bound.body) {
                    return Err(Refusal::Differs { metavariable: name.to_string() });
                }
            }
            None => {
                let lambda = Lambda { size: None, params, body: expr.clone() };
                self.found.functions.insert(name.to_string(), lambda);
            }
        }
        Ok(())
    }

    fn function(&mut self, function: &'a Function, own: &Lambda) -> Result<(), Refusal> {
        if own.size.is_some() {
            let reason = "the function changes the length of its argument";
            return Err(Refusal::Other(reason.to_string()));
        }
        if function.params.len() != own.params.len() {
            return Err(form(format!("{} parameters", function.params.len()), &own.body));
        }
        let outer = self.scope.len();
        let params = function.params.iter().map(String::as_str);
        self.scope.extend(params.zip(own.params.iter().cloned()));
        let result = self.term(&function.body, &own.body);
        self.scope.truncate(outer);
        result
    }

    /// The types written in the signature hold for what was found.
    fn declared_types(&mut self, law: &'a Law) -> Result<(), Refusal> {
        for m in &law.metavariables {
            match &m.sort {
                Sort::Value(ty) => {
                    let found = self.found.values.get(&m.name).map(|e| e.ty().clone());
                    found.map_or(Ok(()), |found| self.ty(&m.name, ty, &found))?;
                }
                Sort::Function(params, result) => {
                    let Some(found) = self.found.functions.get(&m.name).cloned() else { continue };
                    for (ty, param) in params.iter().zip(&found.params) {
                        self.ty(&m.name, ty, param.ty())?;
                    }
                    self.ty(&m.name, result, found.body.ty())?;
                }
                Sort::Permutation | Sort::Boundary => {}
            }
        }
        Ok(())
    }

    fn ty(&mut self, name: &str, declared: &ast::Type, own: &Type) -> Result<(), Refusal> {
        let wrong = |expected: &str| wrong_type(name, expected, own);
        match (&declared.kind, own) {
            (ast::TypeKind::Name(variable), _) => match (vector_variable(variable), own) {
                (None, _) => self.type_variable(name, variable, own),
                (Some((scalar, width)), Type::Vector(own, own_width)) => {
                    self.size(&Nat::var(&Var::named(width)), own_width)?;
                    self.type_variable(name, scalar, &Type::Scalar(*own))
                }
                (Some(_), _) => Err(wrong("a vector")),
            },
            (ast::TypeKind::Array(element, length), Type::Array(own_element, own_length)) => {
                self.size(&size_of(length).map_err(Refusal::Law)?, own_length)?;
                self.ty(name, element, own_element)
            }
            (ast::TypeKind::Array(..), _) => Err(wrong("an array")),
            (ast::TypeKind::Tuple(parts), Type::Tuple(own)) if parts.len() == own.len() => {
                parts.iter().zip(own.iter()).try_for_each(|(ty, own)| self.ty(name, ty, own))
            }
            (ast::TypeKind::Tuple(_), _) => Err(wrong("a tuple")),
            (ast::TypeKind::Scalar(scalar), Type::Scalar(own)) if scalar == own => Ok(()),
            (ast::TypeKind::Scalar(scalar), _) => Err(wrong(&format!("of type `{scalar}`"))),
            (ast::TypeKind::Vector(scalar, width), Type::Vector(own, own_width))
                if scalar == own =>
            {
                self.size(&size_of(width).map_err(Refusal::Law)?, own_width)
            }
            (ast::TypeKind::Vector(scalar, _), _) => Err(wrong(&format!("a vector of `{scalar}`"))),
            (
                ast::TypeKind::Over(..)
                | ast::TypeKind::Function(..)
                | ast::TypeKind::Nat
                | ast::TypeKind::Boundary
                | ast::TypeKind::Permutation
                | ast::TypeKind::Error,
                _,
            ) => Err(Refusal::Law(format!("the type of `{name}` is not used in laws"))),
        }
    }

    fn type_variable(&mut self, name: &str, variable: &str, own: &Type) -> Result<(), Refusal> {
        match self.found.types.get(variable) {
            Some(bound) if self.cx.same_type(bound, own) => Ok(()),
            Some(bound) => Err(wrong_type(name, &format!("of type `{bound}`"), own)),
            None => {
                self.found.types.insert(variable.to_string(), own.clone());
                Ok(())
            }
        }
    }

    fn deferred_sizes(&mut self) -> Result<(), Refusal> {
        for (size, own) in std::mem::take(&mut self.deferred) {
            if !self.found.covers(&size) {
                return Err(Refusal::Law(format!("nothing on the left binds `{size}`")));
            }
            let expected = self.found.size(&size);
            if !self.cx.same_size(&expected, &own) {
                return Err(unequal(&expected, &own));
            }
        }
        Ok(())
    }
}

pub(crate) fn form(expected: String, found: &Expr) -> Refusal {
    let found = match found.kind() {
        Kind::Var(param) => format!("the variable `{}`", param.name()),
        Kind::Literal(literal) => format!("`{literal}`"),
        Kind::Size(size, _) => format!("the size `{size}`"),
        Kind::Let { .. } => "a `let`".to_string(),
        Kind::Call(call) => name_of_prim(&call.prim),
    };
    Refusal::Form { expected, found }
}

fn wrong_type(name: &str, expected: &str, found: &Type) -> Refusal {
    Refusal::Form { expected: format!("`{name}` to be {expected}"), found: format!("`{found}`") }
}

fn unequal(expected: &Nat, found: &Nat) -> Refusal {
    Refusal::Form { expected: format!("the size `{expected}`"), found: format!("`{found}`") }
}

fn name_of(op: &Op) -> String {
    match op {
        Op::Exact(prim) => name_of_prim(prim),
        Op::Gather(_) => "`gather`".to_string(),
        Op::Scatter(_) => "`scatter`".to_string(),
        Op::Parallel(make, _) => name_of_prim(&make(0)),
        Op::Pad(_) => "`pad`".to_string(),
    }
}

/// What messages call a pattern or an operation.
pub(crate) fn name_of_prim(prim: &Prim) -> String {
    match table::name_of(prim) {
        Some(name) => match prim {
            Prim::Map(kind) if *kind != MapKind::Map => match kind.dimension() {
                Some(d) => format!("`{name}({d})`"),
                None => format!("`{name}`"),
            },
            _ => format!("`{name}`"),
        },
        None => match prim {
            Prim::Tuple => "a tuple".to_string(),
            Prim::Field(index) => format!("`.{index}`"),
            Prim::Array => "an array".to_string(),
            Prim::If => "`if`".to_string(),
            Prim::Binary(op) => format!("`{}`", op.symbol()),
            Prim::Unary(op) => format!("`{}`", op.symbol()),
            Prim::ReduceRange(FoldKind::Any) => "`reduce` over a range".to_string(),
            Prim::ReduceRange(_) => "`reduceSeq` over a range".to_string(),
            _ => "a scalar operation".to_string(),
        },
    }
}
