//! Literals on the command line: `2.5`, `[1, 2, 3]`, `(1, [2.0])`, `f32x4(1, 2, 3, 4)`.

use lift_interp::{ScalarValue, Value};
use lift_ir::{Literal, Scalar, Type, UnaryOp};
use lift_syntax::ast::{Expr, ExprKind, Limit};
use lift_syntax::diagnostic::Diagnostic;
use lift_syntax::parser::parse_expr;
use lift_syntax::source::Sources;

use crate::report::Failure;

/// The value that `text`, given for the parameter `name`, has as a value of type `ty`. Sizes are
/// not looked at: they are read off the value.
pub fn read(name: &str, text: &str, ty: &Type) -> Result<Value, Failure> {
    let mut sources = Sources::new();
    let file = sources.add(format!("argument {name}"), text);
    let (expr, diagnostics) = parse_expr(file, text);
    if is_nothing_known(&expr) {
        let text = format!("`{name}` is `{ty}`, found `{text}`");
        return Err(Failure::of(Diagnostic::error(text).help(FORMS)));
    }
    if !diagnostics.is_empty() {
        return Err(Failure::Diagnostics(diagnostics, sources));
    }
    value(&expr, ty).map_err(|diagnostic| {
        let whole = format!("`{name}` is `{ty}`");
        Failure::Diagnostics(vec![diagnostic.note(whole)], sources)
    })
}

const FORMS: &str = "an argument is a file that ends in .npy or .npz, a literal such as `2.5` or \
                     `[1,2]`, or `random`, `random:SEED`, `zeros`, `ones` or `iota`";

/// Begins with a name that is no literal: a mistyped word or the name of some other file.
fn is_nothing_known(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(name) => !is_special(name),
        ExprKind::Field(inner, _)
        | ExprKind::Index(inner, _)
        | ExprKind::Call(inner, _)
        | ExprKind::Binary(_, inner, _) => is_nothing_known(inner),
        ExprKind::Error => true,
        _ => false,
    }
}

type Read<T> = Result<T, Diagnostic>;

fn value(expr: &Expr, ty: &Type) -> Read<Value> {
    match (&expr.kind, ty) {
        (ExprKind::Paren(inner), _) => value(inner, ty),
        (_, Type::Scalar(scalar)) => Ok(Value::Scalar(number(expr, *scalar, ty)?)),
        (ExprKind::Vector(written, _, items), Type::Vector(scalar, width)) if written == scalar => {
            let lanes = vector_lanes(expr).filter(|n| width.as_int().is_none_or(|w| w == *n));
            let Some(lanes) = lanes else { return mismatch(expr, ty) };
            let element = Type::Scalar(*scalar);
            let numbers: Vec<ScalarValue> =
                items.iter().map(|e| number(e, *scalar, &element)).collect::<Read<_>>()?;
            let all = match numbers.as_slice() {
                [one] => vec![*one; lanes as usize],
                _ if numbers.len() as i128 == lanes => numbers,
                _ => return mismatch(expr, ty),
            };
            Value::vector(all).ok_or_else(|| found(expr, ty))
        }
        (ExprKind::Tuple(items), Type::Tuple(types)) if items.len() == types.len() => {
            let values: Read<Vec<Value>> =
                items.iter().zip(types.iter()).map(|(item, ty)| value(item, ty)).collect();
            Ok(Value::tuple(values?))
        }
        (ExprKind::Array(items), Type::Array(element, _)) => {
            let Some(first) = items.first() else { return empty(expr, element) };
            let values: Vec<Value> =
                items.iter().map(|item| value(item, element)).collect::<Read<_>>()?;
            // Element types are right by now, so only lengths can differ.
            let wanted = values.first().map(Value::ty);
            for (item, value) in items.iter().zip(&values) {
                if Some(value.ty()) != wanted {
                    let shape = wanted.map_or_else(String::new, |ty| ty.to_string());
                    let text = format!("expected `{shape}`, found `{}`", value.ty());
                    return Err(Diagnostic::error(text)
                        .at(item.span, "")
                        .also(first.span, "every element is like the first"));
                }
            }
            Value::array(values).map_err(|e| Diagnostic::error(e.message).at(expr.span, ""))
        }
        (_, Type::Vector(..) | Type::Tuple(_) | Type::Array(..)) => mismatch(expr, ty),
    }
}

/// `[]`, where the type says what its elements would be. Whether there may be none is for whoever looks at sizes.
fn empty(expr: &Expr, element: &Type) -> Read<Value> {
    let lengths = std::iter::successors(element.as_array(), |(inner, _)| inner.as_array());
    let open = lengths.map(|(_, n)| n).find(|n| n.as_int().is_none());
    if let Some(open) = open {
        let text = format!("no element says how long it is: `{open}` is not known");
        let help = "give a .npy file, whose shape says it";
        return Err(Diagnostic::error(text).at(expr.span, "").help(help));
    }
    Value::empty(element).map_err(|e| Diagnostic::error(e.message).at(expr.span, ""))
}

/// A number in a scalar position; an integer may stand for a float.
fn number(expr: &Expr, scalar: Scalar, ty: &Type) -> Read<ScalarValue> {
    let literal = match sign(expr) {
        (Some(digits), negative) => {
            let text = if negative { format!("-{digits}") } else { digits.clone() };
            if scalar.is_float() {
                let read = Literal::parse_float(scalar, &text);
                let overflows = read.and_then(Literal::as_f64).is_some_and(f64::is_infinite);
                if overflows && !is_special(&digits) {
                    let text = format!("{text} is not a value of `{scalar}`");
                    return Err(Diagnostic::error(text).at(expr.span, ""));
                }
                read
            } else {
                let value = text.parse::<i128>().ok();
                let fits = value.and_then(|v| Literal::int(scalar, v));
                if let (Some(value), None, true) = (value, fits, scalar.is_integer()) {
                    let text = format!("{value} is not a value of `{scalar}`");
                    return Err(Diagnostic::error(text).at(expr.span, ""));
                }
                fits
            }
        }
        (None, _) => match &unwrapped(expr).kind {
            ExprKind::Bool(value) if scalar == Scalar::Bool => Some(Literal::Bool(*value)),
            ExprKind::Limit(own, limit) if *own == scalar => limit_of(scalar, *limit),
            _ => None,
        },
    };
    let suffix = suffix_of(expr).is_none_or(|s| s == scalar);
    match literal.filter(|_| suffix) {
        Some(literal) => Ok(ScalarValue::from(literal)),
        None => Err(found(expr, ty)),
    }
}

/// The digits of a number, and whether a minus stands before them.
fn sign(expr: &Expr) -> (Option<String>, bool) {
    match &expr.kind {
        ExprKind::Paren(inner) => sign(inner),
        ExprKind::Unary(UnaryOp::Neg, inner) => {
            let (digits, negative) = sign(inner);
            (digits, !negative)
        }
        ExprKind::Int(value, _) => (Some(value.to_string()), false),
        ExprKind::Float(text, _) => (Some(text.clone()), false),
        ExprKind::Name(name) if is_special(name) => (Some(name.clone()), false),
        _ => (None, false),
    }
}

fn is_special(digits: &str) -> bool {
    digits == "inf" || digits == "nan"
}

fn suffix_of(expr: &Expr) -> Option<Scalar> {
    match &expr.kind {
        ExprKind::Paren(inner) | ExprKind::Unary(UnaryOp::Neg, inner) => suffix_of(inner),
        ExprKind::Int(_, suffix) | ExprKind::Float(_, suffix) => *suffix,
        _ => None,
    }
}

fn limit_of(scalar: Scalar, limit: Limit) -> Option<Literal> {
    if let Some((low, high)) = scalar.integer_range() {
        return Literal::int(scalar, if limit == Limit::Min { low } else { high });
    }
    let largest = match scalar {
        Scalar::F16 => 65504.0,
        Scalar::F32 => f64::from(f32::MAX),
        _ => f64::MAX,
    };
    Literal::float(scalar, if limit == Limit::Min { -largest } else { largest })
}

fn unwrapped(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Paren(inner) => unwrapped(inner),
        _ => expr,
    }
}

fn vector_lanes(expr: &Expr) -> Option<i128> {
    match &expr.kind {
        ExprKind::Vector(_, width, _) => match width.kind {
            ExprKind::Int(lanes, _) => Some(i128::from(lanes)),
            _ => None,
        },
        _ => None,
    }
}

fn mismatch<T>(expr: &Expr, ty: &Type) -> Read<T> {
    Err(found(expr, ty))
}

fn found(expr: &Expr, ty: &Type) -> Diagnostic {
    let text = format!("expected `{ty}`, found {}", described(expr));
    Diagnostic::error(text).at(expr.span, "")
}

/// The type that a literal would have by itself.
fn described(expr: &Expr) -> String {
    fn ty(expr: &Expr) -> Option<String> {
        match &expr.kind {
            ExprKind::Paren(inner) | ExprKind::Unary(UnaryOp::Neg, inner) => ty(inner),
            ExprKind::Int(_, suffix) => Some(suffix.unwrap_or(Scalar::I32).to_string()),
            ExprKind::Float(_, suffix) => Some(suffix.unwrap_or(Scalar::F32).to_string()),
            ExprKind::Name(name) if is_special(name) => Some(Scalar::F32.to_string()),
            ExprKind::Bool(_) => Some(Scalar::Bool.to_string()),
            ExprKind::Limit(scalar, _) => Some(scalar.to_string()),
            ExprKind::Vector(scalar, ..) => Some(format!("{scalar}x{}", vector_lanes(expr)?)),
            ExprKind::Tuple(items) => {
                let items: Option<Vec<String>> = items.iter().map(ty).collect();
                Some(format!("({})", items?.join(", ")))
            }
            ExprKind::Array(items) => {
                let element = ty(items.first()?)?;
                Some(format!("[{element}; {}]", items.len()))
            }
            _ => None,
        }
    }
    match ty(expr) {
        Some(ty) => format!("`{ty}`"),
        None => "something that is not a literal".to_string(),
    }
}
