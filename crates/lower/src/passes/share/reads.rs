//! How often the elements of an array are read.

use lift_ir::{Call, Expr, Kind, Lambda, Param, Prim, Type};

use super::cost::Costs;

/// How often a consumer reads each element of an array it is given.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Reads {
    Never,
    Once,
    Often,
}

/// Sums and products look at the second operand only where it counts, so that a long program is not gone over
/// again for each of its variables.
impl Reads {
    fn plus(self, other: impl FnOnce() -> Reads) -> Reads {
        match self {
            Reads::Never => other(),
            Reads::Once if other() == Reads::Never => Reads::Once,
            Reads::Once | Reads::Often => Reads::Often,
        }
    }

    fn times(self, other: impl FnOnce() -> Reads) -> Reads {
        match self {
            Reads::Never => Reads::Never,
            Reads::Once => other(),
            Reads::Often if other() == Reads::Never => Reads::Never,
            Reads::Often => Reads::Often,
        }
    }
}

/// A variable, or one component of it.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub param: &'a Param,
    pub component: Option<u32>,
}

/// How often each element of a variable is read to compute all of an expression.
pub(super) fn reads(expr: &Expr, target: Target) -> Reads {
    if !expr.mentions(target.param) {
        return Reads::Never;
    }
    match expr.kind() {
        Kind::Literal(_) | Kind::Size(..) => Reads::Never,
        Kind::Var(_) => Reads::Once,
        Kind::Let { param, value, body } => {
            let bound = Target { param, component: None };
            // What takes a loop for each element is stored where it is read again and again, and reads its arguments once.
            let through = || match param.ty().is_register() {
                true => Reads::Once,
                false => match reads(body, bound) {
                    Reads::Often if Costs::default().takes_a_loop(value) => Reads::Once,
                    reads => reads,
                },
            };
            reads(value, target).times(through).plus(|| reads(body, target))
        }
        Kind::Call(call) => in_call(call, target),
    }
}

fn in_call(call: &Call, target: Target) -> Reads {
    if let (Prim::Field(index), [tuple]) = (&call.prim, call.args.as_slice())
        && tuple.as_var() == Some(target.param)
    {
        let other = target.component.is_some_and(|wanted| wanted != *index);
        return if other { Reads::Never } else { Reads::Once };
    }
    let inside = call.functions.iter().map(|f| match reads(&f.body, target) {
        // The function runs for every element of something else.
        Reads::Once if !runs_once(&call.prim) => Reads::Often,
        reads => reads,
    });
    let beside = call
        .args
        .iter()
        .enumerate()
        .map(|(index, arg)| reads(arg, target).times(|| argument_reads(call, index)));
    inside.chain(beside).fold(Reads::Never, |sum, next| sum.plus(|| next))
}

/// How often a pattern reads each element of one of its arguments.
pub(super) fn argument_reads(call: &Call, index: usize) -> Reads {
    match &call.prim {
        Prim::Map(_) => element_reads(call.functions.first(), 0),
        // The state comes first, then the element.
        Prim::Reduce(_) | Prim::Scan(_) | Prim::PartialReduce if index == 1 => {
            element_reads(call.functions.first(), 1)
        }
        Prim::ReduceByIndex(_) if index == 2 => element_reads(call.functions.first(), 1),
        Prim::MapSeqSlide | Prim::Slide => match call.sizes.as_slice() {
            [window, step] if window == step => Reads::Once,
            _ => Reads::Often,
        },
        Prim::Repeat
        | Prim::Iterate
        | Prim::IterateIndex
        | Prim::IterateUntil
        | Prim::ReduceRange(_) => Reads::Often,
        _ => Reads::Once,
    }
}

fn element_reads(f: Option<&Lambda>, param: usize) -> Reads {
    let Some((f, param)) = f.and_then(|f| Some((f, f.params.get(param)?))) else {
        return Reads::Once;
    };
    // Scalars are read into variables.
    if param.ty().is_register() {
        return Reads::Once;
    }
    match param.ty() {
        Type::Tuple(items) => {
            let arrays = (0..).zip(items.iter()).filter(|(_, item)| !item.is_register());
            let each = arrays.map(|(k, _)| reads(&f.body, Target { param, component: Some(k) }));
            each.max().unwrap_or(Reads::Once)
        }
        _ => reads(&f.body, Target { param, component: None }),
    }
}

/// Whether a pattern applies its function once.
fn runs_once(prim: &Prim) -> bool {
    matches!(prim, Prim::To(_) | Prim::Vectorize)
}
