//! An array made by `mapLcl` or `mapLane` is seen by other work-items, so its memory is named.
//!
//! The memory is named by a `to…` around what makes the array or its elements, or decided by where
//! the array goes: the program's result is global, and so is what a `let` outside of all functions
//! names; the new value of an accumulator lives where the accumulator does. Layout patterns and maps of them hand an array on to where it goes.

use super::Violation;
use crate::{Call, Expr, Kind, MapKind, Prim};

pub(super) fn check(body: &Expr) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut outside = body;
    while let Kind::Let { value, body, .. } = outside.kind() {
        visit(value, true, &mut found);
        outside = body;
    }
    visit(outside, true, &mut found);
    found
}

/// Where the elements of an array come from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Made {
    /// Nothing is stored: a view of what exists already.
    View,
    /// Stored where a `to…` says.
    Named,
    /// Made by an inner pattern that is reported itself.
    Reported,
    /// Computed, and stored nowhere in particular.
    Unnamed,
}

/// `decided`: whoever takes the value of `expr` says where it is stored.
fn visit(expr: &Expr, decided: bool, found: &mut Vec<Violation>) {
    let call = match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => return,
        Kind::Let { value, body, .. } => {
            visit(value, false, found);
            return visit(body, decided, found);
        }
        Kind::Call(call) => call,
    };
    let shares = shares_result(&call.prim);
    if let (Some(name), false) = (shares, decided)
        && call.functions.iter().any(|f| made(&f.body) == Made::Unnamed)
    {
        found.push(Violation {
            message: format!("the array made by `{name}` has no memory"),
            span: expr.span(),
            other: None,
            help: Some(format!(
                "say where it is stored: `{name}(…)(toLocal(…))` or `toGlobal`, `toPrivate`"
            )),
        });
    }
    let (functions, arguments) = match &call.prim {
        Prim::Map(MapKind::Map) if call.functions.iter().all(|f| rearranges(&f.body)) => {
            (false, decided)
        }
        Prim::Map(_) | Prim::MapSeqSlide => (decided, false),
        prim if prim.is_iteration() => (decided, false),
        Prim::To(_) => (true, gives_back(call)),
        Prim::Reduce(_) | Prim::Scan(_) | Prim::ReduceByIndex(_) => (true, false),
        Prim::At | Prim::Head | Prim::Generate => (false, false),
        prim if prim.is_layout() => (false, decided),
        _ => (false, false),
    };
    call.functions.iter().for_each(|f| visit(&f.body, functions, found));
    call.args.iter().for_each(|a| visit(a, arguments, found));
}

/// Whether an expression is made of layout patterns, each of which keeps the arrays it is given.
fn rearranges(expr: &Expr) -> bool {
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => true,
        Kind::Let { value, body, .. } => rearranges(value) && rearranges(body),
        Kind::Call(call) => {
            let kept = match &call.prim {
                Prim::At | Prim::Head | Prim::Generate => false,
                Prim::Map(MapKind::Map) => call.functions.iter().all(|f| rearranges(&f.body)),
                prim => prim.is_layout(),
            };
            kept && call.args.iter().all(rearranges)
        }
    }
}

/// Whether a function is `\x -> x`, so that what it is given is what it makes.
fn gives_back(call: &Call) -> bool {
    call.functions
        .iter()
        .all(|f| f.body.as_var().is_some_and(|result| f.params.first() == Some(result)))
}

/// The name of a map whose result other work-items see.
fn shares_result(prim: &Prim) -> Option<&'static str> {
    match prim {
        Prim::Map(MapKind::Lcl(_)) => Some("mapLcl"),
        Prim::Map(MapKind::Lane(_)) => Some("mapLane"),
        _ => None,
    }
}

fn made(expr: &Expr) -> Made {
    let call = match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => return Made::View,
        Kind::Let { body, .. } => return made(body),
        Kind::Call(call) => call,
    };
    let of_function = || call.functions.iter().map(|f| made(&f.body)).max().unwrap_or(Made::View);
    let of_arguments = || call.args.iter().map(made).max().unwrap_or(Made::View);
    match &call.prim {
        Prim::To(_) => Made::Named,
        prim if shares_result(prim).is_some() => match of_function() {
            Made::Unnamed => Made::Reported,
            other => other,
        },
        // What only rearranges gives a view of what is made before it.
        Prim::Map(MapKind::Map) if of_function() == Made::View => of_arguments(),
        Prim::Map(_) | Prim::MapSeqSlide => of_function(),
        Prim::Iterate | Prim::IterateIndex => of_function(),
        // What its condition makes is not seen.
        Prim::IterateUntil => call.functions.last().map_or(Made::View, |f| made(&f.body)),
        // A fold accumulates where its start lives.
        Prim::Reduce(_) => match call.args.first().map(made) {
            Some(Made::Named) => Made::Named,
            _ => Made::Unnamed,
        },
        prim if prim.is_layout() => of_arguments(),
        _ => Made::Unnamed,
    }
}
