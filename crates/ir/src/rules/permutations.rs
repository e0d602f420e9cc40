//! Index functions of `gather` and `scatter` are permutations: asked where sizes are known, before a program runs.

use lift_nat::{Nat, Var};

use super::Violation;
use crate::{Call, Expr, Permutation, Prim, table};

/// The first index function that is no permutation of the indices of its array.
///
/// Arrays longer than `limit`, and those whose length `sizes` does not give, are passed over.
pub fn check_permutations(
    body: &Expr,
    sizes: &dyn Fn(&Var) -> Option<i128>,
    limit: i128,
) -> Result<(), Violation> {
    if let Some(call) = body.as_call() {
        check(body, call, sizes, limit)?;
        if let Some(var) = call.functions.first().and_then(|f| f.size.as_ref()) {
            return at_each_length(call, var, sizes, limit);
        }
    }
    body.children().into_iter().try_for_each(|child| check_permutations(child, sizes, limit))
}

fn check(
    expr: &Expr,
    call: &Call,
    sizes: &dyn Fn(&Var) -> Option<i128>,
    limit: i128,
) -> Result<(), Violation> {
    let (Prim::Gather(p) | Prim::Scatter(p)) = &call.prim else { return Ok(()) };
    let Permutation::Index(index, image) = p else { return Ok(()) };
    let length = expr.ty().as_array().and_then(|(_, n)| n.eval(sizes).ok());
    let Some(length) = length.filter(|n| *n <= limit) else { return Ok(()) };
    let known = |v: &Var| sizes(v).filter(|_| v != index).map(Nat::int);
    let image = image.substitute(&known);
    if image.vars().iter().any(|v| v != index) || is_plain(&image, index, length) {
        return Ok(());
    }
    p.refuse(length, sizes).map_err(|fault| {
        let name = table::name_of(&call.prim).unwrap_or("gather");
        let message = format!("`{name}` needs a permutation of {length} elements, but {fault}");
        Violation { message, span: expr.span(), other: None, help: None }
    })
}

/// `i` and `n - 1 - i` need no trial.
fn is_plain(image: &Nat, index: &Var, length: i128) -> bool {
    let i = Nat::var(index);
    *image == i || *image == Nat::int(length - 1) - i
}

/// The function of an `iterate` at each of the lengths that it is applied to.
fn at_each_length(
    call: &Call,
    var: &Var,
    sizes: &dyn Fn(&Var) -> Option<i128>,
    limit: i128,
) -> Result<(), Violation> {
    call.args.iter().try_for_each(|arg| check_permutations(arg, sizes, limit))?;
    let start = call.args.first().and_then(|a| a.ty().as_array());
    let Some(mut length) = start.and_then(|(_, n)| n.eval(sizes).ok()) else { return Ok(()) };
    let times = call.sizes.first().and_then(Nat::as_int).unwrap_or(0);
    for _ in 0..times {
        let here = |v: &Var| if v == var { Some(length) } else { sizes(v) };
        let mut next = None;
        for f in &call.functions {
            check_permutations(&f.body, &here, limit)?;
            next = f.body.ty().as_array().and_then(|(_, n)| n.eval(&here).ok());
        }
        let Some(after) = next else { break };
        length = after;
    }
    Ok(())
}
