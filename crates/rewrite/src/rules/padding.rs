//! Arrays are filled up to whole chunks with what does not matter.

use lift_ir::{BinaryOp, Call, Expr, Kind, Lambda, Literal, MapKind, Prim};

use crate::refusal::Refusal;
use crate::rule::{Rule, Site};
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "padding",
    about: "Arrays are filled up to whole chunks with what does not matter.",
    rules: &[&REDUCE_PAD, &PAD_PRODUCT],
};

static REDUCE_PAD: Rule = Rule::law(
    "reduce_pad",
    "A fold is not changed by its identity: the array is filled up to a multiple of m.",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "reduce(z, f, xs)",
    "reduce(z, f, pad_value(0, ceil_div(n, m) * m - n, z, xs))",
)
.needs("m > 0");

static PAD_PRODUCT: Rule = Rule::function(
    "pad_product",
    "Products filled up with zeros are products of factors filled up with zeros.",
    "xs: [i32; n], ys: [i32; n]",
    "pad_value(l, r, 0, map(\\p -> p.0 * p.1, zip(xs, ys)))",
    "map(\\p -> p.0 * p.1, zip(pad_value(l, r, 0, xs), pad_value(l, r, 0, ys)))",
    pad_product,
);

/// For numbers of any type.
fn pad_product(site: &Site) -> Result<Expr, Refusal> {
    let no = || Refusal::Other("expected products that are filled up with zeros".to_string());
    let pad = call_of(site.expr, &Prim::PadValue).ok_or_else(no)?;
    let [zero, products] = pad.args.as_slice() else { return Err(no()) };
    let map = call_of(products, &Prim::Map(MapKind::Map)).ok_or_else(no)?;
    let ([lambda], [pairs]) = (map.functions.as_slice(), map.args.as_slice()) else {
        return Err(no());
    };
    let zip = call_of(pairs, &Prim::Zip).ok_or_else(no)?;
    if !is_zero(zero) || !multiplies_parts(lambda) || zip.args.len() != 2 {
        return Err(no());
    }
    let filled = |factors: &Expr| {
        let args = vec![zero.clone(), factors.clone()];
        site.cx.call(Prim::PadValue, pad.sizes.clone(), vec![], args)
    };
    let factors = zip.args.iter().map(filled).collect::<Result<Vec<Expr>, _>>()?;
    let pairs = site.cx.call(Prim::Zip, vec![], vec![], factors)?;
    Ok(site.cx.call(map.prim.clone(), vec![], vec![lambda.clone()], vec![pairs])?)
}

fn call_of<'e>(expr: &'e Expr, prim: &Prim) -> Option<&'e Call> {
    expr.as_call().filter(|call| call.prim == *prim)
}

fn is_zero(expr: &Expr) -> bool {
    match expr.kind() {
        Kind::Literal(literal) => matches!(
            literal,
            Literal::Int(_, 0) | Literal::F16(0) | Literal::F32(0) | Literal::F64(0)
        ),
        Kind::Var(_) | Kind::Size(..) | Kind::Let { .. } | Kind::Call(_) => false,
    }
}

/// `\p -> p.0 * p.1`
fn multiplies_parts(lambda: &Lambda) -> bool {
    let Some(call) = call_of(&lambda.body, &Prim::Binary(BinaryOp::Mul)) else { return false };
    let is_part = |index: u32| {
        let part = call.args.get(index as usize).and_then(|arg| call_of(arg, &Prim::Field(index)));
        let of = part.and_then(|field| field.args.first()).and_then(Expr::as_var);
        of.is_some() && of == lambda.params.first()
    };
    is_part(0) && is_part(1)
}
