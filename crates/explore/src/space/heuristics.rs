//! What tells programs that are worth trying from others, without running them.

use lift_ir::{Call, Expr, Kind, Prim};

/// How deep patterns that compute nest, one in the function of another.
pub fn nesting(expr: &Expr) -> usize {
    match expr.kind() {
        Kind::Call(call) => {
            let inner = call.functions.iter().map(|f| nesting(&f.body)).max().unwrap_or(0);
            let beside = call.args.iter().map(nesting).max().unwrap_or(0);
            (inner + usize::from(computes(call))).max(beside)
        }
        _ => expr.children().into_iter().map(nesting).max().unwrap_or(0),
    }
}

/// How far apart functions are of which one uses the results of the other: an array is between them, and patterns
/// that only move data. Results that are used where they are made, by functions of one pattern, count nothing.
pub fn distance(expr: &Expr) -> usize {
    let own = match expr.kind() {
        Kind::Call(call) if computes(call) => call.args.iter().map(to_producer).sum(),
        _ => 0,
    };
    own + expr.children().into_iter().map(distance).sum::<usize>()
}

/// How far below a pattern computes what an expression is; 0 where none does.
fn to_producer(expr: &Expr) -> usize {
    match expr.kind() {
        Kind::Call(call) if computes(call) => 1,
        Kind::Call(call) => match call.args.iter().map(to_producer).max() {
            Some(far) if far > 0 => far + 1,
            _ => 0,
        },
        _ => 0,
    }
}

/// A map whose function does more than move data, or a fold.
fn computes(call: &Call) -> bool {
    match &call.prim {
        Prim::Map(_) => call.functions.iter().any(|f| !only_moves(&f.body)),
        prim => !call.functions.is_empty() && !prim.is_layout(),
    }
}

/// Whether an expression only moves data.
fn only_moves(expr: &Expr) -> bool {
    match expr.kind() {
        Kind::Var(_) => true,
        Kind::Call(call) => {
            !computes(call)
                && (call.prim.is_layout() || matches!(call.prim, Prim::Map(_)))
                && call.args.iter().all(only_moves)
        }
        _ => false,
    }
}
