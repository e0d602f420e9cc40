//! `iterate`: a function typed at every length it is applied to.

use lift_ir::{Expr, Lambda, Nat, Prim, Type};

use super::errors::{Errors, both, error};
use super::patterns::{Arguments, element};
use super::{Elaborator, Given, Hint, Result};

/// A function that changes the length is applied a constant number of times, at most this often.
const MAX_CHANGES: i128 = 64;

impl<'a> Elaborator<'a> {
    pub(super) fn iterate(&self, args: Arguments<'a>) -> Result<Expr> {
        let (Some(function), Some(start)) = (args.functions.first(), args.values.first()) else {
            return error(args.parts.whole, "`iterate` takes a function and an array");
        };
        let xs = self.value(start, Hint::None)?;
        let plain = self.lambda(function, &[xs.ty().clone()], &["xs"], Hint::Type(xs.ty()))?;
        let lambda = match (xs.ty().as_array(), plain.body.ty().as_array()) {
            (Some((_, before)), Some((_, after))) if !self.cx.same_size(before, after) => {
                self.changing(&args, function, &xs)?
            }
            _ => plain,
        };
        self.build(Prim::Iterate, args.sizes.clone(), vec![lambda], vec![xs], &args.parts)
    }

    /// `k, (T -> bool), (T -> T), T -> (T, i32)`
    pub(super) fn iterate_until(&self, args: Arguments<'a>, hint: Hint) -> Result<Expr> {
        let ([p, f], Some(start)) = (args.functions.as_slice(), args.values.first()) else {
            return error(args.parts.whole, "`iterate_until` takes two functions and a value");
        };
        let x = self.value(start, hint.component(0))?;
        let types = [x.ty().clone()];
        let (p, f) = both(
            self.lambda(p, &types, &["x"], Hint::Type(&Type::BOOL)),
            self.lambda(f, &types, &["x"], Hint::Type(x.ty())),
        )?;
        self.build(Prim::IterateUntil, args.sizes.clone(), vec![p, f], vec![x], &args.parts)
    }

    /// A lambda that binds the length: checked at each length it meets, then typed once for all.
    fn changing(&self, args: &Arguments<'a>, function: &Given<'a>, xs: &Expr) -> Result<Lambda> {
        let times_span = args.parts.sizes.first().copied().unwrap_or(args.parts.whole);
        let Some(times) = args.sizes.first().and_then(Nat::as_int) else {
            let text =
                "the function changes the length, so the number of applications must be a constant";
            return error(times_span, text);
        };
        if times > MAX_CHANGES {
            let text = format!(
                "a function that changes the length is applied at most {MAX_CHANGES} times"
            );
            return error(times_span, text);
        }
        let mut lengths: Vec<Nat> = Vec::new();
        let mut given = xs.ty().clone();
        for application in 1..=times.max(1) {
            let Some((_, length)) = given.as_array() else { break };
            let length = length.clone();
            let step = self.lambda(function, &[given.clone()], &["xs"], Hint::Type(&given));
            let step = step.map_err(|errors| at_length(errors, application, times, &length))?;
            lengths.push(length);
            given = step.body.ty().clone();
        }
        let var = self.cx.fresh_size_among("n", lengths);
        let given = Type::array(element(xs), &var);
        let lambda = self.lambda(function, &[given], &["xs"], Hint::None)?;
        Ok(Lambda { size: Some(var), ..lambda })
    }
}

fn at_length(mut errors: Errors, application: i128, times: i128, length: &Nat) -> Errors {
    for diagnostic in &mut errors.0 {
        let note =
            format!("in application {application} of {times}, on an array of length {length}");
        diagnostic.notes.push(note);
    }
    errors
}
