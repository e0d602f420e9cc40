//! Folds by all work-items of the device: each change of a result is one step, and whoever is there takes part.

use super::Violation;
use crate::{AtomicFold, Call, Expr, FoldKind, MapKind, Prim};

pub(super) fn check(body: &Expr) -> Vec<Violation> {
    let mut found = Vec::new();
    visit(body, false, &mut found);
    found
}

fn visit(expr: &Expr, inside: bool, found: &mut Vec<Violation>) {
    let Some(call) = expr.as_call() else {
        expr.children().into_iter().for_each(|child| visit(child, inside, found));
        return;
    };
    if call.prim == Prim::ReduceByIndex(FoldKind::Glb) {
        found.extend(fault(call, inside).map(|(message, help)| Violation {
            message: message.to_string(),
            span: expr.span(),
            other: None,
            help: Some(help.to_string()),
        }));
    }
    let parallel = matches!(&call.prim, Prim::Map(kind) if *kind != MapKind::Map && kind.dimension().is_some());
    call.functions.iter().for_each(|f| visit(&f.body, inside || parallel, found));
    call.args.iter().for_each(|arg| visit(arg, inside, found));
}

/// What is wrong with a fold, and what can be done.
fn fault(call: &Call, inside: bool) -> Option<(&'static str, &'static str)> {
    if inside {
        let help = "inside of a parallel map, `reduceByIndexSeq` is a work-item's own";
        return Some((
            "`reduceByIndexGlb` takes all work-items, so it stands in no parallel map",
            help,
        ));
    }
    let known = call.functions.first().and_then(AtomicFold::of);
    let message = "the function of `reduceByIndexGlb` is no operation of its state and a value";
    let help = "`+`, `min`, `max` of numbers of 32 or 64 bits, `&`, `|`, `^` of such integers, or a tuple of these";
    known.is_none().then_some((message, help))
}
