//! The typing rules: the type of a call from the types of its parts.
//!
//! Each rule stands under its type scheme. Divisibility is proved here or the call is refused;
//! lower bounds go through [`Context::require`].

mod arrays;
mod domains;
mod folds;
mod permutations;
mod scalars;

use lift_nat::{Nat, Pred};

use crate::{Call, Context, Lambda, Part, Prim, Type, TypeError, table};

pub use arrays::MAX_GENERATED;
pub use permutations::MAX_CHECKED as MAX_CHECKED_PERMUTATION;
pub use scalars::widen;

pub(crate) fn type_of(cx: &Context, call: &Call) -> Result<Type, TypeError> {
    let rule = Rule { cx, call };
    match &call.prim {
        Prim::Map(kind) => rule.map(*kind),
        Prim::Reduce(kind) => rule.reduce(*kind),
        Prim::Scan(kind) => rule.scan(*kind),
        Prim::MapSeqSlide => rule.map_seq_slide(),
        Prim::PartialReduce => rule.partial_reduce(),
        Prim::ReduceByIndex(kind) => rule.reduce_by_index(*kind),
        Prim::ReduceRange(kind) => rule.reduce_range(*kind),
        Prim::Iterate => rule.iterate(),
        Prim::IterateIndex => rule.iterate_index(),
        Prim::IterateUntil => rule.iterate_until(),
        Prim::Zip => rule.zip(),
        Prim::Unzip => rule.unzip(),
        Prim::Split => rule.split(),
        Prim::Join => rule.join(),
        Prim::Transpose => rule.transpose(),
        Prim::Gather(p) | Prim::Scatter(p) => rule.reorder(p),
        Prim::Slide => rule.slide(),
        Prim::Pad(boundary) => rule.pad(boundary),
        Prim::PadValue => rule.pad_value(),
        Prim::Take => rule.take(),
        Prim::Drop => rule.drop(),
        Prim::Concat => rule.concat(),
        Prim::Head => rule.head(),
        Prim::Generate => rule.generate(),
        Prim::Repeat => rule.repeat(),
        Prim::At => rule.at(),
        Prim::Rank(domain) => rule.rank(domain),
        Prim::Point(domain) => rule.point(domain),
        Prim::Id => rule.value(0).cloned(),
        Prim::Update => rule.update(),
        Prim::AsVector => rule.as_vector(),
        Prim::AsScalar => rule.as_scalar(),
        Prim::Vectorize => rule.vectorize(),
        Prim::To(_) => rule.to_memory(),
        Prim::Tuple => rule.tuple(),
        Prim::Field(index) => rule.field(*index),
        Prim::Array => rule.array_literal(),
        Prim::Vector => rule.vector_literal(),
        Prim::Splat => rule.splat(),
        Prim::Lane => rule.lane(),
        Prim::If => rule.conditional(),
        Prim::Cast(scalar) => rule.cast(*scalar),
        Prim::Unary(op) => rule.unary(*op),
        Prim::Binary(op) => rule.binary(*op),
        Prim::Math(math) => rule.math(*math),
        Prim::Extern(function) => rule.external(function),
    }
}

/// What the rules ask of sizes only where these are numbers: a program that is well typed for sizes without a value may not be
/// for all values of them.
pub fn refuse_numbers(call: &Call) -> Result<(), String> {
    match (&call.prim, call.sizes.first()) {
        (Prim::Generate, Some(length)) => arrays::generated(length),
        (Prim::AsVector | Prim::Vectorize | Prim::Splat, Some(width)) => scalars::lanes(width),
        _ => Ok(()),
    }
}

/// A call under check, with the questions every rule asks.
struct Rule<'a> {
    cx: &'a Context,
    call: &'a Call,
}

impl<'a> Rule<'a> {
    fn name(&self) -> &'static str {
        match &self.call.prim {
            Prim::Tuple => "a tuple",
            Prim::Field(_) => "a projection",
            Prim::Array => "an array",
            Prim::Vector | Prim::Splat => "a vector",
            Prim::Lane => "a lane",
            Prim::If => "if",
            Prim::Cast(_) => "as",
            Prim::Unary(op) => op.symbol(),
            Prim::Binary(op) => op.symbol(),
            Prim::Extern(_) => "an extern function",
            Prim::Rank(_) => "rank",
            Prim::ReduceRange(_) => "a fold over a range",
            Prim::Point(_) => "point",
            prim => table::name_of(prim).unwrap_or("this pattern"),
        }
    }

    fn size(&self, index: usize) -> Result<&'a Nat, TypeError> {
        self.call.sizes.get(index).ok_or_else(|| self.missing("a size"))
    }

    fn value(&self, index: usize) -> Result<&'a Type, TypeError> {
        self.call.args.get(index).map(|a| a.ty()).ok_or_else(|| self.missing("an argument"))
    }

    fn missing(&self, what: &str) -> TypeError {
        TypeError::new(Part::Whole, format!("`{}` lacks {what}", self.name()))
    }

    /// The element type and length of an argument that must be an array.
    fn array(&self, index: usize) -> Result<(&'a Type, &'a Nat), TypeError> {
        let ty = self.value(index)?;
        ty.as_array().ok_or_else(|| {
            TypeError::new(
                Part::Argument(index),
                format!("`{}` takes an array, found `{ty}`", self.name()),
            )
        })
    }

    /// As [`Rule::array`], for an array of arrays: the innermost type, its length, the outer length.
    fn matrix(&self, index: usize) -> Result<(&'a Type, &'a Nat, &'a Nat), TypeError> {
        let (row, outer) = self.array(index)?;
        let (element, inner) = row.as_array().ok_or_else(|| {
            TypeError::new(
                Part::Argument(index),
                format!("`{}` takes an array of arrays, found `[{row}; {outer}]`", self.name()),
            )
        })?;
        Ok((element, inner, outer))
    }

    /// The result type of a function that is given values of these types.
    fn function(&self, index: usize, given: &[&Type]) -> Result<&'a Type, TypeError> {
        let lambda = self.lambda(index)?;
        if lambda.params.len() != given.len() {
            return Err(TypeError::new(
                Part::Function(index),
                format!(
                    "the function of `{}` takes {} parameters, found {}",
                    self.name(),
                    given.len(),
                    lambda.params.len()
                ),
            ));
        }
        for (param, given) in lambda.params.iter().zip(given) {
            if !self.cx.same_type(param.ty(), given) {
                return Err(TypeError::new(
                    Part::Function(index),
                    format!(
                        "the function of `{}` is given `{given}`, but its parameter `{}` is `{}`",
                        self.name(),
                        param.name(),
                        param.ty()
                    ),
                ));
            }
        }
        Ok(lambda.body.ty())
    }

    fn lambda(&self, index: usize) -> Result<&'a Lambda, TypeError> {
        self.call.functions.get(index).ok_or_else(|| self.missing("a function"))
    }

    fn expect(&self, part: Part, expected: &Type, found: &Type) -> Result<(), TypeError> {
        if self.cx.same_type(expected, found) {
            return Ok(());
        }
        Err(TypeError::new(part, format!("expected `{expected}`, found `{found}`")))
    }

    /// A bound the pattern needs of its sizes.
    fn require(&self, part: Part, pred: Pred) -> Result<(), TypeError> {
        self.cx.require(&pred).map_err(|pred| {
            TypeError::new(part, format!("`{}` needs `{pred}`, which never holds", self.name()))
        })
    }

    /// A size argument that must be at least one.
    fn positive(&self, index: usize) -> Result<&'a Nat, TypeError> {
        let size = self.size(index)?;
        if size.as_int().is_some_and(|n| n < 1) {
            let text = format!("`{}` takes a size of at least 1, found {size}", self.name());
            return Err(TypeError::new(Part::Size(index), text));
        }
        self.require(Part::Size(index), Pred::Le(Nat::int(1), size.clone()))?;
        Ok(size)
    }

    /// A size argument that may be zero.
    fn natural(&self, index: usize) -> Result<&'a Nat, TypeError> {
        let size = self.size(index)?;
        if size.as_int().is_some_and(|n| n < 0) {
            let text = format!("`{}` takes no negative size, found {size}", self.name());
            return Err(TypeError::new(Part::Size(index), text));
        }
        self.require(Part::Size(index), Pred::Le(Nat::int(0), size.clone()))?;
        Ok(size)
    }

    /// Divisibility is proved or refused, never assumed.
    fn divides(&self, part: Part, divisor: &Nat, of: &Nat) -> Result<(), TypeError> {
        let pred = Pred::Divides { divisor: divisor.clone(), of: of.clone() };
        if self.cx.proves(&pred) {
            return Ok(());
        }
        let name = self.name();
        if divisor.as_int().is_some() && of.as_int().is_some() {
            let text = format!("`{name}` needs `{of} % {divisor} == 0`, which does not hold");
            return Err(TypeError::new(part, text));
        }
        if self.cx.refutes(&pred) {
            let text = format!("`{name}` needs `{pred}`, which holds for no size");
            return Err(TypeError::new(part, text));
        }
        let text = format!("`{name}` needs `{pred}`, which cannot be proved");
        Err(TypeError::new(part, text).help(format!("state it: `where {pred}`")))
    }
}
