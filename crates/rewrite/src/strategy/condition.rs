//! Conditions on the expression at a place.

use std::fmt;

use lift_ir::{Call, Context, Expr, Kind, Lambda, MapKind, Pred, Prim, Var, table};

use crate::rules::is_view;

/// In predicates, `length` is the length of the array at the place and `inner` that of its elements.
#[derive(Clone, Debug)]
pub enum Condition {
    /// The pattern there has this name; `let`, `value` (a variable or literal) and `layout` (it only moves
    /// data) are names too.
    Is(String),
    /// There is such a pattern there or below.
    Contains(String),
    /// A pattern of this name with a function whose body meets the condition.
    Holds(String, Box<Condition>),
    /// A pattern of this name whose last argument meets the condition.
    Of(String, Box<Condition>),
    /// A comparison of sizes that is proved.
    Proves(Pred),
    Not(Box<Condition>),
    Any(Vec<Condition>),
    All(Vec<Condition>),
}

impl Condition {
    pub fn holds(&self, cx: &Context, expr: &Expr) -> bool {
        match self {
            Condition::Is(name) => is(expr, name),
            Condition::Contains(name) => expr.places().iter().any(|(_, inner)| is(inner, name)),
            Condition::Holds(name, inner) => {
                let call = expr.as_call().filter(|_| is(expr, name));
                call.is_some_and(|c| c.functions.iter().any(|f| inner.holds(cx, &f.body)))
            }
            Condition::Of(name, inner) => {
                let call = expr.as_call().filter(|_| is(expr, name));
                call.and_then(|c| c.args.last()).is_some_and(|arg| inner.holds(cx, arg))
            }
            Condition::Proves(pred) => proves(cx, expr, pred),
            Condition::Not(inner) => !inner.holds(cx, expr),
            Condition::Any(parts) => parts.iter().any(|part| part.holds(cx, expr)),
            Condition::All(parts) => parts.iter().all(|part| part.holds(cx, expr)),
        }
    }
}

fn is(expr: &Expr, name: &str) -> bool {
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => name == "value",
        Kind::Let { .. } => name == "let",
        Kind::Call(call) if name == "layout" => is_layout(call),
        Kind::Call(call) => table::name_of(&call.prim) == Some(name),
    }
}

/// A layout pattern of one array, or a map whose function only views its element.
fn is_layout(call: &Call) -> bool {
    match (call.functions.as_slice(), call.args.len()) {
        ([], 1) => call.prim.is_layout(),
        ([Lambda { params, body, .. }], 1) => {
            call.prim == Prim::Map(MapKind::Map) && params.first().is_some_and(|x| is_view(body, x))
        }
        _ => false,
    }
}

fn proves(cx: &Context, expr: &Expr, pred: &Pred) -> bool {
    let outer = expr.ty().as_array();
    let inner = outer.and_then(|(element, _)| element.as_array());
    let lengths = [("length", outer.map(|(_, n)| n)), ("inner", inner.map(|(_, n)| n))];
    let length_of = |v: &Var| {
        let named = lengths.iter().find(|(name, _)| *name == v.name());
        named.and_then(|(_, length)| length.cloned())
    };
    let known = lengths.iter().all(|(name, n)| n.is_some() || !pred.mentions(&Var::named(name)));
    let pred = pred.substitute(&length_of);
    known && cx.proves(&pred)
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |parts: &[Condition], sign: &str| {
            let text = |part: &Condition| match part {
                Condition::Any(_) | Condition::All(_) => format!("({part})"),
                _ => part.to_string(),
            };
            parts.iter().map(text).collect::<Vec<String>>().join(sign)
        };
        match self {
            Condition::Is(name) => f.write_str(name),
            Condition::Contains(name) => write!(f, "contains({name})"),
            Condition::Holds(name, inner) => write!(f, "holds({name}, {inner})"),
            Condition::Of(name, inner) => write!(f, "of({name}, {inner})"),
            Condition::Proves(pred) => write!(f, "{pred}"),
            Condition::Not(inner) => write!(f, "!({inner})"),
            Condition::Any(parts) => f.write_str(&joined(parts, " || ")),
            Condition::All(parts) => f.write_str(&joined(parts, " && ")),
        }
    }
}
