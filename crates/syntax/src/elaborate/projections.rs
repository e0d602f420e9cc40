//! Projections: domains addressed by the points of one set, each of which means a point of another.

use lift_domain::Domain;
use lift_ir::{BinaryOp, Nat, Pred, Span, Var};

use super::domains::{Used, shown};
use super::errors::error;
use super::scope::{Binding, Env};
use super::{Elaborator, Result};
use crate::ast::{self, ExprKind};

impl<'a> Elaborator<'a> {
    /// The points of one domain that those of another mean.
    pub(super) fn projection(
        &self,
        domain: &'a ast::Domain,
        by: Used,
        address: &'a ast::Points,
        env: &Env<'a>,
    ) -> Result<Used> {
        let set = &domain.set;
        let Some(parent) = &set.points.domain else {
            return error(
                set.points.span,
                "a projection is of a domain, as in `{ grid[n, n](a, b) | … }`",
            );
        };
        let parent = self.domain(parent, env)?;
        self.expect_indices(&parent, &set.points)?;
        let (mut inner, own) = (env.clone(), address.indices.len());
        let indices = address.indices.iter().chain(&set.points.indices);
        for (k, name) in indices.enumerate() {
            inner = inner.bind(&name.text, Binding::Size(Domain::index(k)));
        }
        let mut equations = Vec::new();
        for ast in &set.constraints {
            match &ast.kind {
                ExprKind::Binary(BinaryOp::Eq, left, right) => {
                    equations.push(self.size(left, &inner)? - self.size(right, &inner)?);
                }
                _ => return error(ast.span, "a projection is given by equations, as in `a == j`"),
            }
        }
        let wanted = parent.points.dimensions();
        let solved = solved(equations, own, wanted, &[]);
        let Some((point, _)) = solved.filter(|(_, left)| left.is_empty()) else {
            let text = format!(
                "this is no function: the equations do not give each index of `{}` by those of `{}`",
                parent.text, by.text
            );
            return error(set.span, text);
        };
        let mut checked = self.inside_parent(&parent, &by, &point, set.span)?;
        checked.splice(0..0, by.checked.iter().chain(&parent.checked).cloned());
        checked.dedup();
        let meaning = match &parent.meaning {
            None => (parent.points.clone(), point),
            Some((root, further)) => {
                let through = |n: &Nat| {
                    n.substitute(&|v| {
                        let k = (0..wanted).find(|k| Domain::index_var(*k) == *v)?;
                        point.get(k).cloned()
                    })
                };
                (root.clone(), further.iter().map(through).collect())
            }
        };
        Ok(Used { text: String::new(), named: None, meaning: Some(meaning), checked, ..by })
    }

    /// Each point means one of the parent; what that needs of sizes alone is required of whoever gives them, what it needs of
    /// outer indices is checked when the program runs: that is returned.
    fn inside_parent(
        &self,
        parent: &Used,
        by: &Used,
        point: &[Nat],
        span: Span,
    ) -> Result<Vec<Pred>> {
        let mut known = self.facts_here();
        let mut checked = Vec::new();
        for _ in 0..32 {
            let Some(open) = parent.points.open_condition(point, &by.points, &known) else {
                return Ok(checked);
            };
            // What holds at the ends of all ranges holds everywhere.
            let dimensions = 0..by.points.dimensions();
            let of_index = dimensions.into_iter().any(|k| open.mentions(&Domain::index_var(k)));
            let needed = match (of_index, &open) {
                (false, _) => Some(open.clone()),
                (true, Pred::Le(low, high)) => {
                    let least = by.points.least(&(high - low), &known).into_iter();
                    let least = least.reduce(|a, b| Nat::max(&a, &b));
                    least.map(|least| Pred::Le(Nat::ZERO, self.cx.simplify(&least)))
                }
                (true, _) => None,
            };
            match needed {
                Some(Pred::Le(low, high)) if self.mentions_index(&(&high - &low)) => {
                    checked.push(Pred::Le(low, high));
                }
                Some(needed) if self.required(&needed) => {}
                _ => {
                    let text = format!(
                        "a point of `{}` may mean none of `{}`: `{}` is not proved",
                        by.text,
                        parent.text,
                        shown(&open)
                    );
                    return error(span, text);
                }
            }
            known.assume(&open);
        }
        error(span, "this projection has too many conditions")
    }
}

/// The indices `own ..` of some equations in terms of the first ones, each equation being 0, and what has to be 0 besides; `None`
/// where they are not determined.
///
/// Where `extents` say how many values each of the indices has, an index is found by division, rounded down, where the others
/// make up less than a step of it: `a == 3 * i + j` with j below 3 gives `a / 3` and `a - 3 * (a / 3)`. That there is such a point at
/// all is then among what has to be 0.
pub(super) fn solved(
    mut equations: Vec<Nat>,
    own: usize,
    wanted: usize,
    extents: &[Option<i128>],
) -> Option<(Vec<Nat>, Vec<Nat>)> {
    let mut found: Vec<Option<Nat>> = vec![None; wanted];
    // A step finds an index or makes a factor smaller.
    for _ in 0..MOST_STEPS {
        if found.iter().all(Option::is_some) {
            break;
        }
        equations = equations.iter().map(|equation| reduced(equation, own, wanted)).collect();
        let linear: Vec<Vec<i128>> = equations
            .iter()
            .map(|equation| Some(unknowns(equation, own, wanted)?.0))
            .collect::<Option<_>>()?;
        let factors = || {
            linear.iter().enumerate().flat_map(|(at, factors)| {
                factors.iter().enumerate().map(move |(k, factor)| (at, k, *factor))
            })
        };
        // Of fewer equations than indices, one says more than one of them.
        let open = found.iter().filter(|value| value.is_none()).count();
        let are_few = linear.iter().filter(|all| all.iter().any(|c| *c != 0)).count() < open;
        let by_division = || divided(&equations, &linear, own, wanted, extents);
        let first = if are_few { by_division() } else { None };
        let unit = factors().find(|(_, _, factor)| factor.abs() == 1);
        let (k, value) = match unit {
            _ if first.is_some() => first?,
            Some((at, k, sign)) => {
                let equation = equations.swap_remove(at);
                (k, Domain::index(own + k) - equation * Nat::int(sign))
            }
            None => match combined(&linear) {
                // A multiple of one equation is taken off another one.
                Some((from, at, times)) => {
                    let multiple = equations.get(at)? * Nat::int(times);
                    let equation = equations.get_mut(from)?;
                    *equation = &*equation - multiple;
                    continue;
                }
                None => by_division()?,
            },
        };
        let var = Domain::index_var(own + k);
        let replace = |n: &Nat| n.substitute(&|v| (*v == var).then(|| value.clone()));
        equations = equations.iter().map(replace).collect();
        for known in found.iter_mut().flatten() {
            *known = replace(known);
        }
        *found.get_mut(k)? = Some(value.clone());
    }
    equations.retain(|e| *e != Nat::ZERO);
    let point: Option<Vec<Nat>> = found.into_iter().collect();
    let free = |n: &Nat| (0..wanted).all(|k| !n.mentions(&Domain::index_var(own + k)));
    let all_free = |p: &Vec<Nat>| p.iter().chain(&equations).all(free);
    point.filter(all_free).map(|point| (point, equations))
}

/// Steps that a few equations with small factors take.
const MOST_STEPS: usize = 64;

/// The factors of the indices `own ..` in an equation, and what is free of them.
fn unknowns(equation: &Nat, own: usize, wanted: usize) -> Option<(Vec<i128>, Nat)> {
    let is =
        |v: &Var, first: usize, many: usize| (0..many).find(|k| Domain::index_var(first + k) == *v);
    let known = |k: usize| Var::with_id("known", u32::MAX - k as u32);
    let placed = equation.substitute(&|v| match is(v, own, wanted) {
        Some(k) => Some(Domain::index(k)),
        None => is(v, 0, own).map(|k| Nat::var(&known(k))),
    });
    let (factors, rest) = lift_domain::affine(&placed, wanted).ok()?;
    let back = |v: &Var| (0..own).find(|k| known(*k) == *v).map(Domain::index);
    Some((factors, rest.substitute(&back)))
}

/// An equation divided by what all of its factors have in common, where its rest is a multiple of it too.
fn reduced(equation: &Nat, own: usize, wanted: usize) -> Nat {
    let Some((factors, _)) = unknowns(equation, own, wanted) else { return equation.clone() };
    let shared = factors.iter().fold(0, |all, factor| gcd(all, factor.abs()));
    if shared <= 1 {
        return equation.clone();
    }
    let shared = Nat::int(shared);
    let quotient = equation.div(&shared);
    match &quotient * &shared == *equation && unknowns(&quotient, own, wanted).is_some() {
        true => quotient,
        false => equation.clone(),
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Two equations with a factor of the same index, the first with the larger one, and how often the other goes into it.
fn combined(linear: &[Vec<i128>]) -> Option<(usize, usize, i128)> {
    for (from, factors) in linear.iter().enumerate() {
        for (at, others) in linear.iter().enumerate().filter(|(at, _)| *at != from) {
            let mut both = factors.iter().zip(others);
            let found = both.find(|(a, b)| **b != 0 && a.abs() >= b.abs());
            // Of two that are equal, the first is taken off the second.
            if let Some((a, b)) = found
                && (a.abs() > b.abs() || at < from)
            {
                return Some((from, at, a / b));
            }
        }
    }
    None
}

/// An index that has the largest step of an equation, and its value, where the others make up less than a step.
fn divided(
    equations: &[Nat],
    linear: &[Vec<i128>],
    own: usize,
    wanted: usize,
    extents: &[Option<i128>],
) -> Option<(usize, Nat)> {
    for (equation, factors) in equations.iter().zip(linear) {
        for (k, factor) in factors.iter().enumerate().filter(|(_, factor)| **factor != 0) {
            let sign = Nat::int(factor.signum());
            // The least that the others make up, and how far beyond they reach.
            let ends = factors.iter().enumerate().filter(|(other, c)| *other != k && **c != 0);
            let ends = ends.map(|(other, c)| {
                let last = extents.get(other).copied().flatten()?.checked_sub(1)?;
                let end = (c * factor.signum()).checked_mul(last)?;
                Some((end.min(0), end.max(0)))
            });
            let Some(ends) = ends.collect::<Option<Vec<(i128, i128)>>>() else { continue };
            if extents.is_empty() {
                continue;
            }
            let (low, high) = ends.iter().fold((0, 0), |sum, end| (sum.0 + end.0, sum.1 + end.1));
            if high - low >= factor.abs() {
                continue;
            }
            let (_, rest) = unknowns(equation, own, wanted)?;
            let value = (-(rest * sign) - Nat::int(low)).div(&Nat::int(factor.abs()));
            return Some((k, value));
        }
    }
    None
}
