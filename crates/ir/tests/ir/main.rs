//! What the language is made of, part by part, in one binary: it links once.

#![allow(clippy::unwrap_used)]

mod contexts;
mod equality;
mod permutations;
mod printing;
mod refusals;
mod rules;
mod values;

use lift_ir::{Context, Expr, Facts, Nat, Pred, Type, Var};

fn n() -> Nat {
    Nat::var(&Var::named("N"))
}

fn m() -> Nat {
    Nat::var(&Var::named("M"))
}

/// Sizes N, a multiple of 4, and M.
fn context() -> Context {
    let mut facts = Facts::new();
    facts.size(&Var::named("N"));
    facts.size(&Var::named("M"));
    facts.assume(&Pred::divides(Nat::int(4), n()));
    Context::new(facts)
}

fn row() -> Type {
    Type::array(Type::F32, n())
}

fn matrix() -> Type {
    Type::array(Type::array(Type::F32, m()), n())
}

fn param(cx: &Context, name: &str, ty: Type) -> Expr {
    cx.var(&cx.fresh(name, ty))
}
