//! What the elements of a `rec` are, where it is not written: what the parts say that do not read the array. Of these, values that have
//! a type of their own come before numbers without a suffix.

use lift_ir::{Prim, Type, UnaryOp, table};

use super::apply::Lets;
use super::iterations::index_names;
use super::literals::Firmness;
use super::recursion::mentions;
use super::scope::{Binding, Declaration, Env};
use super::sizes::unwrapped;
use super::{Elaborator, Hint};
use crate::ast::{self, ExprKind, PatternKind};

/// How a part says the type of the whole: what says it best comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Says {
    /// It may be the element.
    Element,
    /// It is an operand: the other one may be a vector of such.
    Operand,
    /// Numbers without a suffix.
    Float,
    Integer,
}

/// As much as is known of a type.
enum Known {
    Nothing,
    Type(Says, Type),
    Tuple(Vec<Known>),
}

impl Known {
    fn and(self, other: Known) -> Known {
        match (self, other) {
            (Known::Nothing, known) | (known, Known::Nothing) => known,
            (Known::Tuple(one), Known::Tuple(other)) if one.len() == other.len() => {
                Known::Tuple(one.into_iter().zip(other).map(|(a, b)| a.and(b)).collect())
            }
            (Known::Tuple(parts), Known::Type(says, Type::Tuple(items)))
            | (Known::Type(says, Type::Tuple(items)), Known::Tuple(parts))
                if parts.len() == items.len() =>
            {
                let items = items.iter().map(|item| Known::Type(says, item.clone()));
                Known::Tuple(parts.into_iter().zip(items).map(|(a, b)| a.and(b)).collect())
            }
            (tuple @ Known::Tuple(_), _) | (_, tuple @ Known::Tuple(_)) => tuple,
            (Known::Type(says, one), Known::Type(other_says, other)) => {
                let is_vector = |ty: &Type| matches!(ty, Type::Vector(..));
                let wider = says == other_says && is_vector(&other) && !is_vector(&one);
                match other_says < says || wider {
                    true => Known::Type(other_says, other),
                    false => Known::Type(says, one),
                }
            }
        }
    }

    fn whole(self) -> Option<Type> {
        match self {
            Known::Nothing => None,
            Known::Type(_, ty) => Some(ty),
            Known::Tuple(parts) => {
                let parts: Option<Vec<Type>> = parts.into_iter().map(Known::whole).collect();
                parts.map(Type::tuple)
            }
        }
    }
}

impl<'a> Elaborator<'a> {
    /// The type that the parts of the elements say which do not read the array.
    pub(super) fn element_type(&self, rec: &'a ast::Rec, env: &Env<'a>) -> Option<Type> {
        let ExprKind::Each(value, pattern, domain) = &unwrapped(&rec.value).kind else {
            return None;
        };
        if let ExprKind::Range(..) = &domain.kind {
            return None;
        }
        let used = self.domain(domain, env).ok()?;
        let names = index_names(pattern, &used).ok()?;
        let params = self.index_params(&names);
        let point = self.declare_point(&used.points, &params, None);
        let inner =
            names.iter().zip(point).fold(env.clone(), |env, (name, (value, size))| match name {
                Some(name) => env.bind(name, Binding::Index(value, size)),
                None => env,
            });
        let said = self.says(value, &inner, &[&rec.name.text]);
        self.forget_indices(params.len());
        said.whole()
    }

    /// What a part says, where some names stand for what is made of the array.
    fn says(&self, ast: &'a ast::Expr, env: &Env<'a>, open: &[&'a str]) -> Known {
        if self.step(ast.span).is_err() {
            return Known::Nothing;
        }
        stacker::maybe_grow(super::exprs::RED_ZONE, super::exprs::STACK, || {
            self.part_says(ast, env, open)
        })
    }

    fn part_says(&self, ast: &'a ast::Expr, env: &Env<'a>, open: &[&'a str]) -> Known {
        let bool = Known::Type(Says::Element, Type::BOOL);
        match &ast.kind {
            ExprKind::Paren(inner) => self.says(inner, env, open),
            ExprKind::Tuple(items) => {
                Known::Tuple(items.iter().map(|item| self.says(item, env, open)).collect())
            }
            ExprKind::If(_, then, otherwise) => {
                self.says(then, env, open).and(self.says(otherwise, env, open))
            }
            ExprKind::Let(pattern, value, body) => {
                let bound = match mentions(value, open) {
                    true => None,
                    false => self.expr(value, env, Hint::None).ok().and_then(|made| {
                        let indices = self.bound_indices(pattern, value, env);
                        let inner = self.bind_pattern(pattern, made, env, &mut Lets::new());
                        Some(self.bind_indices(inner.ok()?, indices))
                    }),
                };
                match bound {
                    Some(inner) => self.says(body, &inner, open),
                    None => {
                        let mut open = open.to_vec();
                        names_of(pattern, &mut open);
                        self.says(body, env, &open)
                    }
                }
            }
            _ if !mentions(ast, open) => match self.expr(ast, env, Hint::None) {
                Ok(made) => {
                    let says = match self.firmness(ast, env) {
                        Firmness::Firm => Says::Element,
                        Firmness::Float => Says::Float,
                        Firmness::Integer => Says::Integer,
                    };
                    Known::Type(says, made.ty().clone())
                }
                Err(_) => Known::Nothing,
            },
            ExprKind::Binary(op, ..) if op.is_comparison() || op.is_logical() => bool,
            ExprKind::Binary(op, left, _) if op.is_shift() => self.says(left, env, open),
            ExprKind::Binary(_, left, right) => self.operands_say([&**left, &**right], env, open),
            ExprKind::Unary(UnaryOp::Not, _) | ExprKind::In(..) => bool,
            ExprKind::Unary(_, inner) => self.says(inner, env, open),
            ExprKind::Cast(_, ty) => match self.ty(ty, env) {
                Ok(ty) => Known::Type(Says::Element, ty),
                Err(_) => Known::Nothing,
            },
            ExprKind::Vector(scalar, width, _) => match self.size(width, env) {
                Ok(width) => Known::Type(Says::Element, Type::Vector(*scalar, width)),
                Err(_) => Known::Nothing,
            },
            ExprKind::Call(head, arguments) => match &unwrapped(head).kind {
                ExprKind::Name(name) => self.call_says(name, arguments, env, open),
                _ => Known::Nothing,
            },
            _ => Known::Nothing,
        }
    }

    fn operands_say(
        &self,
        operands: impl IntoIterator<Item = &'a ast::Expr>,
        env: &Env<'a>,
        open: &[&'a str],
    ) -> Known {
        operands.into_iter().fold(Known::Nothing, |known, operand| {
            known.and(match self.says(operand, env, open) {
                Known::Type(says, ty) => Known::Type(says.max(Says::Operand), ty),
                other => other,
            })
        })
    }

    /// A function that is written with its result, one of numbers that keeps their type, or a fold.
    fn call_says(
        &self,
        name: &str,
        arguments: &'a [ast::Expr],
        env: &Env<'a>,
        open: &[&'a str],
    ) -> Known {
        if env.get(name).is_some() {
            return Known::Nothing;
        }
        match self.module.find(env.home, name) {
            Some((Declaration::Fn(f), home)) => {
                return match f.ret.as_ref().map(|ty| self.ty(ty, &Env::new(home))) {
                    Some(Ok(ty)) => Known::Type(Says::Element, ty),
                    _ => Known::Nothing,
                };
            }
            Some(_) => return Known::Nothing,
            None => {}
        }
        match table::pattern(name).map(|pattern| &pattern.make) {
            Some(table::Make::Prim(Prim::Math(math))) if math.keeps_type() => {
                self.operands_say(arguments, env, open)
            }
            Some(table::Make::Prim(Prim::Reduce(_))) => {
                self.operands_say(arguments.first(), env, open)
            }
            _ => Known::Nothing,
        }
    }
}

fn names_of<'a>(pattern: &'a ast::Pattern, names: &mut Vec<&'a str>) {
    match &pattern.kind {
        PatternKind::Name(name) => names.push(name),
        PatternKind::Wildcard => {}
        PatternKind::Tuple(items) => items.iter().for_each(|item| names_of(item, names)),
    }
}
