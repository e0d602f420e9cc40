//! What a program needs of its sizes: its `where` clauses, and what follows from its text before it is translated.
//!
//! Ensures: where all of it holds, so do the facts that proofs rest on; every reordering by an index function is a permutation, every size used as a
//! value is a value of its type, the indices of `generate` are values of `i32`, and no size divides by zero.

use std::collections::HashSet;

use lift_ir::{
    Call, Def, Expr, Facts, Kind, Lambda, MAX_CHECKED_PERMUTATION, MAX_GENERATED, Nat, Permutation,
    Pred, Prim, Scalar, Span, Var,
};

use crate::plan::{Condition, Requirement};

pub(crate) fn of(def: &Def) -> Vec<Requirement> {
    let mut walk =
        Walk { facts: def.facts(), found: Vec::new(), seen: HashSet::new(), here: def.span };
    let clauses = def.wheres.iter().map(|c| (&c.pred, c.span));
    for (pred, span) in clauses.chain(def.implied.iter().map(|pred| (pred, def.span))) {
        if pred.any_var(&mut |_| true) {
            let reason = format!("`where {pred}` does not hold");
            walk.require(Requirement { condition: Condition::Holds(pred.clone()), span, reason });
        }
    }
    walk.expr(&def.body, &Lengths(Vec::new()), true);
    walk.found
}

struct Walk {
    facts: Facts,
    found: Vec<Requirement>,
    /// Nodes that were looked at, outside iterations that change lengths.
    seen: HashSet<(usize, bool)>,
    /// The innermost place in the source around.
    here: Option<Span>,
}

/// What the lengths that iterations bind are where the walk is.
struct Lengths(Vec<(Var, Nat)>);

impl Lengths {
    fn put(&self, size: &Nat) -> Nat {
        // Inner lengths may be in terms of outer ones.
        self.0.iter().rev().fold(size.clone(), |size, (var, value)| {
            size.substitute(&|v| (v == var).then(|| value.clone()))
        })
    }
}

impl Walk {
    /// What is `certain` is evaluated whenever the program runs; a branch may not be.
    fn expr(&mut self, expr: &Expr, lengths: &Lengths, certain: bool) {
        if lengths.0.is_empty() && !self.seen.insert((expr.node(), certain)) {
            return;
        }
        let around = self.here;
        self.here = expr.span().or(around);
        self.kind(expr, lengths, certain);
        self.here = around;
    }

    fn kind(&mut self, expr: &Expr, lengths: &Lengths, certain: bool) {
        match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) => {}
            Kind::Size(size, scalar) => self.value(&lengths.put(size), *scalar, certain),
            Kind::Let { value, body, .. } => {
                self.expr(value, lengths, certain);
                self.expr(body, lengths, certain);
            }
            Kind::Call(call) => self.call(call, lengths, certain),
        }
    }

    fn call(&mut self, call: &Call, lengths: &Lengths, certain: bool) {
        for size in call.sizes.iter().filter(|_| certain) {
            self.divisors(&lengths.put(size));
        }
        match &call.prim {
            Prim::Generate => {
                let count = call.sizes.first().map_or(Nat::ZERO, |n| lengths.put(n));
                let reason = format!(
                    "`generate` makes at most {MAX_GENERATED} elements, for its indices are `i32`"
                );
                self.holds(Pred::Le(count, Nat::int(MAX_GENERATED)), reason);
            }
            Prim::Gather(by) | Prim::Scatter(by) => self.reordered(call, by, lengths),
            _ => {}
        }
        match (&call.prim, call.functions.first(), call.args.first()) {
            (Prim::Iterate, Some(f @ Lambda { size: Some(var), .. }), Some(start)) => {
                let times = call.sizes.first().and_then(Nat::as_int).unwrap_or(0);
                let mut length = start.ty().as_array().map(|(_, n)| lengths.put(n));
                for _ in 0..times {
                    let Some(here) = length else { break };
                    let mut inner = lengths.0.clone();
                    inner.push((var.clone(), here));
                    let inner = Lengths(inner);
                    self.expr(&f.body, &inner, certain);
                    length =
                        f.body.ty().as_array().map(|(_, n)| self.facts.simplify(&inner.put(n)));
                }
            }
            _ => call.functions.iter().for_each(|f| self.expr(&f.body, lengths, certain)),
        }
        for (index, arg) in call.args.iter().enumerate() {
            let branch = call.prim == Prim::If && index > 0;
            self.expr(arg, lengths, certain && !branch);
        }
    }

    /// A size that is used as a value is one of its type.
    fn value(&mut self, size: &Nat, scalar: Scalar, certain: bool) {
        let Some((low, high)) = scalar.integer_range().filter(|_| certain) else { return };
        self.divisors(size);
        let reason = format!("the size `{size}` is not a value of `{scalar}`");
        let (low, high) = (Nat::int(low), Nat::int(high));
        let inside = Pred::And(vec![Pred::Le(low, size.clone()), Pred::Le(size.clone(), high)]);
        self.holds(inside, reason);
    }

    fn divisors(&mut self, size: &Nat) {
        let mut found = Vec::new();
        size.each_divisor(&mut |d| found.push(d.clone()));
        for divisor in found {
            let reason = format!("the size `{size}` divides by zero");
            self.holds(Pred::Ne(divisor, Nat::ZERO), reason);
        }
    }

    fn reordered(&mut self, call: &Call, by: &Permutation, lengths: &Lengths) {
        let Permutation::Index(var, body) = by else { return };
        let Some((_, length)) = call.args.first().and_then(|a| a.ty().as_array()) else { return };
        let (body, length) = (lengths.put(body), lengths.put(length));
        let tried = length.as_int().is_some_and(|n| n <= MAX_CHECKED_PERMUTATION);
        if tried && !body.any_var(&mut |v| v != var) {
            return;
        }
        let by = Permutation::Index(var.clone(), body);
        let reason = format!("an index function is no permutation of `{length}` elements");
        let span = self.here;
        self.require(Requirement { condition: Condition::Permutes { by, length }, span, reason });
    }

    fn holds(&mut self, pred: Pred, reason: String) {
        if !self.facts.proves(&pred) {
            let span = self.here;
            self.require(Requirement { condition: Condition::Holds(pred), span, reason });
        }
    }

    fn require(&mut self, requirement: Requirement) {
        if self.found.iter().all(|r| r.condition != requirement.condition) {
            self.found.push(requirement);
        }
    }
}
