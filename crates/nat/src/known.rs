//! The store behind [`crate::Facts`]: constraints, and variables solved by them.
//!
//! A divisibility or an equality is used up by a substitution where it can be: `N % 128 == 0`
//! makes `N` into `128 * k` with `k` new. Everything else is said in terms of the variables that
//! are left, so that `N / 128` is `k` by plain polynomial division. Answers are translated back:
//! `k` is `N // 128`.

use crate::fresh::{Fresh, MAX_GATHERED};
use crate::hash::QuickMap;
use crate::session::{Effort, Session};
use crate::term::{Atom, Mono, Term};
use crate::{Nat, Pred, Var};
use std::collections::{BTreeMap, BTreeSet};

/// Facts kept at most; what comes later is dropped, which only weakens.
const MAX_FACTS: usize = 400;
/// Variables solved at most.
const MAX_SOLVED: usize = 64;

#[derive(Clone, Default, Debug)]
pub(crate) struct Known {
    /// Values that are not negative, beyond what `lower` says.
    pub(crate) constraints: Vec<Nat>,
    /// Constants that variables do not go below.
    pub(crate) lower: QuickMap<Var, i128>,
    /// Constants that they do not go above, which constraints say, too.
    upper: QuickMap<Var, i128>,
    /// `(d, n)` with `n % d == 0`, where no variable could be solved for.
    pub(crate) divides: Vec<(Nat, Nat)>,
    /// Values that are not zero.
    unequal: Vec<Nat>,
    /// What solved variables stand for, in terms of unsolved ones.
    solved: BTreeMap<Var, Nat>,
    fresh: Vec<Fresh>,
    cases: Vec<(Var, Vec<Nat>)>,
    /// How many variables have been made up, so that no two are the same.
    made_up: u32,
}

impl Known {
    pub(crate) fn assume(&mut self, p: &Pred, effort: &mut Effort) {
        let mut todo = vec![p.clone()];
        // Each solution may bring kept facts back; their number is bounded.
        for _ in 0..4 * MAX_FACTS {
            let Some(p) = todo.pop() else { break };
            self.assume_one(p, &mut todo, effort);
        }
        self.raise_lower_bounds();
    }

    fn assume_one(&mut self, p: Pred, todo: &mut Vec<Pred>, effort: &mut Effort) {
        match p {
            Pred::And(all) => todo.extend(all.into_iter().rev()),
            Pred::Le(a, b) => {
                let difference = self.normal(&(b - a), effort);
                self.constrain(difference);
            }
            Pred::Lt(a, b) => {
                let difference = self.normal(&(b - a - Nat::ONE), effort);
                self.constrain(difference);
            }
            Pred::Eq(a, b) => {
                let difference = self.normal(&(a - b), effort);
                self.assume_zero(difference, todo);
            }
            Pred::Ne(a, b) => {
                let difference = self.normal(&(a - b), effort);
                let mut session = Session::new(self, *effort);
                let above = session.nonnegative(&difference);
                let below = session.nonnegative(&-&difference);
                *effort = session.effort();
                if above {
                    self.constrain(difference - Nat::ONE);
                } else if below {
                    self.constrain(-difference - Nat::ONE);
                } else if self.unequal.len() < MAX_FACTS {
                    self.unequal.push(difference);
                }
            }
            Pred::Divides { divisor, of } => {
                let (divisor, of) = (self.normal(&divisor, effort), self.normal(&of, effort));
                self.assume_divides(divisor, of, todo);
            }
        }
    }

    pub(crate) fn one_of(&mut self, v: &Var, values: Vec<Nat>) {
        if let Some(constants) = values.iter().map(Nat::as_int).collect::<Option<Vec<_>>>() {
            let (least, greatest) = (constants.iter().min(), constants.iter().max());
            if let (Some(least), Some(greatest)) = (least, greatest) {
                let above = Pred::Le(Nat::int(*least), Nat::var(v));
                let below = Pred::Le(Nat::var(v), Nat::int(*greatest));
                self.assume(&Pred::And(vec![above, below]), &mut Effort::BRIEF.clone());
            }
        }
        if self.cases.len() < MAX_FACTS {
            self.cases.push((v.clone(), values));
        }
    }

    /// The variables in all that is known.
    pub(crate) fn vars(&self) -> BTreeSet<Var> {
        let divided = self.divides.iter().flat_map(|(divisor, of)| [divisor, of]);
        let values = self.constraints.iter().chain(&self.unequal).chain(divided);
        let values = values.chain(self.solved.values());
        let values = values.chain(self.cases.iter().flat_map(|(_, values)| values));
        let mut found: BTreeSet<Var> = values.flat_map(Nat::vars).collect();
        found.extend(self.lower.keys().chain(self.solved.keys()).cloned());
        found.extend(self.cases.iter().map(|(var, _)| var.clone()));
        found
    }

    /// The first variable, of those that matter, that takes one of several values.
    pub(crate) fn case_of(&self, matters: &dyn Fn(&Var) -> bool) -> Option<(Var, Vec<Nat>)> {
        self.cases.iter().find(|(v, _)| matters(v)).cloned()
    }

    pub(crate) fn forget_case(&mut self, v: &Var) {
        self.cases.retain(|(w, _)| w != v);
    }

    /// Whether a polynomial solved and translated back is what it was. So it is where its solved variables are multiples, by
    /// numbers, of variables made up for them, and have no high powers.
    pub(crate) fn keeps(&self, n: &Nat) -> bool {
        let is_multiple = |v: &Var, of: &Nat| match of.as_term() {
            Some(Term { mono, .. }) => match mono.factors() {
                [(Atom::Var(k), 1)] => {
                    self.fresh.iter().any(|f| f.var == *k && f.of.as_var() == Some(v))
                }
                _ => false,
            },
            None => false,
        };
        self.solved.is_empty()
            || n.terms().iter().flat_map(|t| t.mono.factors()).all(|(atom, power)| match atom {
                Atom::Var(v) => {
                    self.solved.get(v).is_none_or(|of| *power <= MAX_GATHERED && is_multiple(v, of))
                }
                _ => false,
            })
    }

    /// The same facts, as facts about the variables that are open here.
    pub(crate) fn rebased(&self) -> Known {
        Known { solved: BTreeMap::new(), fresh: Vec::new(), ..self.clone() }
    }

    pub(crate) fn solution(&self, v: &Var) -> Option<Nat> {
        self.solved.get(v).cloned()
    }

    /// `n` in terms of unsolved variables.
    pub(crate) fn solve(&self, n: &Nat) -> Nat {
        if self.solved.is_empty() {
            return n.clone();
        }
        n.substitute(&|v| self.solved.get(v).cloned())
    }

    fn normal(&self, n: &Nat, effort: &mut Effort) -> Nat {
        let solved = self.solve(n);
        if solved.is_polynomial() {
            return solved;
        }
        let mut session = Session::new(self, *effort);
        let simple = session.simplify(&solved);
        *effort = session.effort();
        simple
    }

    /// `n` in terms of the variables the facts are about.
    pub(crate) fn unsolve(&self, n: &Nat) -> Nat {
        if !self.is_in_made_up(n) {
            return n.clone();
        }
        let mut out = n.replace_atoms(&mut |atom| match atom {
            Atom::Var(_) => None,
            _ => Some(atom.map_parts(&mut |part| self.unsolve(part))),
        });
        // Long divisors first: `T * q` is `N` before the `T` in it is `4 * t`. Gathering one variable brings in no other.
        let there = self.fresh.iter().filter(|f| out.any_var(&mut |v| *v == f.var));
        let mut fresh: Vec<(Nat, &Fresh)> = there.map(|f| (self.solve(&f.divisor), f)).collect();
        let size = |d: &Nat| d.terms().iter().map(|t| t.mono.degree()).max().unwrap_or(0);
        fresh.sort_by_key(|(d, _)| std::cmp::Reverse(size(d)));
        for (divisor, f) in &fresh {
            out = f.gather(out, divisor);
        }
        if !self.is_in_made_up(&out) {
            return out;
        }
        out.replace_atoms(&mut |atom| {
            let made_up = self.fresh.iter().find(|f| matches!(atom, Atom::Var(v) if *v == f.var));
            made_up.map(|f| f.of.exact_div(&f.divisor))
        })
    }

    /// Whether `n` is in terms of variables that were made up.
    fn is_in_made_up(&self, n: &Nat) -> bool {
        n.any_var(&mut |v| self.fresh.iter().any(|f| f.var == *v))
    }

    pub(crate) fn unequal(&self, difference: &Nat) -> bool {
        let known = |d: &Nat| !d.is_overflow() && (d == difference || -d == *difference);
        self.unequal.iter().any(known)
    }

    /// Notes `n >= 0`.
    /// `0 <= n`, and `0 < n` where it is known not to be 0.
    fn constrain(&mut self, n: Nat) {
        if self.unequal.iter().any(|other| *other == n || -other == n) {
            return self.bounded(n - Nat::ONE);
        }
        self.bounded(n);
    }

    fn bounded(&mut self, n: Nat) {
        // g * m + c >= 0 is m + floor(c / g) >= 0.
        let constant = n.constant();
        let rest = &n - Nat::int(constant);
        let scale = rest.content().coeff;
        let (Some(rest), Some(floor)) =
            (rest.over(&Nat::int(scale)), constant.checked_div_euclid(scale))
        else {
            return;
        };
        if let Some(Term { mono, coeff }) = rest.as_term()
            && let [(Atom::Var(v), 1)] = mono.factors()
        {
            if coeff == 1 {
                if let Some(least) = floor.checked_neg() {
                    self.raise_lower(v.clone(), least);
                }
                return;
            }
            // The content is 1.
            let slot = self.upper.entry(v.clone()).or_insert(floor);
            *slot = floor.min(*slot);
        }
        let n = rest + Nat::int(floor);
        let new = n.as_int().is_none() && !n.is_overflow() && !self.constraints.contains(&n);
        if new && self.constraints.len() < MAX_FACTS {
            self.constraints.push(n);
        }
    }

    fn raise_lower(&mut self, v: Var, least: i128) {
        let slot = self.lower.entry(v).or_insert(least);
        *slot = least.max(*slot);
    }

    /// From `a * x + c >= 0` with `c` constant and `a` a product of positive variables follows a
    /// least value of `x`; so a variable made up for `N = T * x` is at least one, as `N` is.
    fn raise_lower_bounds(&mut self) {
        for _ in 0..8 {
            let mut raised = Vec::new();
            for n in &self.constraints {
                let terms = n.terms();
                let (constant, Term { mono, coeff }) = match terms.as_ref() {
                    [t] => (0, t),
                    [c, t] if c.mono.is_one() => (c.coeff, t),
                    _ => continue,
                };
                if *coeff <= 0 {
                    continue;
                }
                for (atom, k) in mono.factors() {
                    let Atom::Var(x) = atom else { continue };
                    let Some(least) = self.least_factor(&mono.without(atom), *coeff) else {
                        continue;
                    };
                    let bound = match constant {
                        _ if *k != 1 => continue,
                        c if c < 0 => 1,
                        c if least >= 1 => -(c / least),
                        _ => continue,
                    };
                    if self.lower.get(x).is_none_or(|old| *old < bound) {
                        raised.push((x.clone(), bound));
                    }
                }
            }
            if raised.is_empty() {
                return;
            }
            raised.into_iter().for_each(|(v, least)| self.raise_lower(v, least));
        }
    }

    /// The least value of a product of variables that are not negative, times `scale`.
    fn least_factor(&self, product: &Mono, scale: i128) -> Option<i128> {
        let mut least = scale;
        for (atom, k) in product.factors() {
            let Atom::Var(v) = atom else { return None };
            let low = self.lower.get(v).copied().filter(|low| *low >= 0)?;
            least = least.checked_mul(low.checked_pow(*k)?)?;
        }
        Some(least)
    }

    /// `n == 0` is used up by solving for a variable that stands alone in it.
    fn assume_zero(&mut self, n: Nat, todo: &mut Vec<Pred>) {
        let content = Nat::int(n.content().coeff);
        let n = n.over(&content).unwrap_or(n);
        if let Some((v, coeff, rest)) = self.lone_variable(&n, |_| true) {
            if coeff.abs() == 1 {
                return self.eliminate(v, rest * Nat::int(-coeff), todo);
            }
            // c * v + rest == 0: c divides rest; afterwards the content is free of it.
            let size = Nat::int(coeff.abs());
            let before = self.solved.len();
            self.assume_divides(size, rest, todo);
            if self.solved.len() > before {
                return todo.push(Pred::Eq(n, Nat::ZERO));
            }
        }
        // rest + d * (a / d) == 0: d divides rest. So N % 4 == 2 says that 4 divides N - 2.
        for atom in n.atoms() {
            let Atom::Quot(_, d) = atom else { continue };
            if let Some((rest, cofactor)) = n.linear_in(atom)
                && (cofactor == *d || -&cofactor == *d)
            {
                todo.push(Pred::Divides { divisor: d.clone(), of: rest });
            }
        }
        self.constrain(n.clone());
        self.constrain(-n);
    }

    /// `of % divisor == 0` is used up by solving for a variable that stands alone in `of`.
    fn assume_divides(&mut self, divisor: Nat, of: Nat, todo: &mut Vec<Pred>) {
        if divisor.as_int() == Some(0) || divisor.is_overflow() || of.is_overflow() {
            return;
        }
        if of.over(&divisor).is_some() {
            return;
        }
        let (of, divisor) = of.cancel(&divisor);
        let divisor = divisor.with_sign().0;
        // Multiples of the divisor do not matter.
        let of = of.without_multiples_of(&divisor);
        let lone = self.lone_variable(&of, |v| !divisor.mentions(v));
        if let Some((v, coeff, rest)) = lone
            && let Some(inverse) = inverse_modulo(coeff, &divisor)
        {
            // coeff * v + rest is a multiple, so v + rest * inverse is.
            let rest = rest * Nat::int(inverse);
            self.made_up += 1;
            let k = Var::with_id("#", self.made_up);
            let of = self.unsolve(&(Nat::var(&v) + &rest));
            self.fresh.push(Fresh { var: k.clone(), of, divisor: self.unsolve(&divisor) });
            return self.eliminate(v, &divisor * Nat::var(&k) - rest, todo);
        }
        if self.divides.len() < MAX_FACTS && !self.divides.contains(&(divisor.clone(), of.clone()))
        {
            self.divides.push((divisor, of));
        }
    }

    /// A variable with a constant factor in `n` that occurs nowhere else in it.
    fn lone_variable(&self, n: &Nat, fits: impl Fn(&Var) -> bool) -> Option<(Var, i128, Nat)> {
        if self.solved.len() >= MAX_SOLVED {
            return None;
        }
        let mut best: Option<(Var, i128, Nat)> = None;
        for atom in n.atoms() {
            let Atom::Var(v) = atom else { continue };
            let Some((rest, cofactor)) = n.linear_in(atom) else { continue };
            let Some(coeff) = cofactor.as_int() else { continue };
            if !fits(v) || rest.mentions(v) || coeff == i128::MIN {
                continue;
            }
            if best.as_ref().is_none_or(|(_, c, _)| coeff.abs() < c.abs()) {
                best = Some((v.clone(), coeff, rest));
            }
        }
        best
    }

    /// Says everything that was said about `v` about `stands_for`.
    fn eliminate(&mut self, v: Var, stands_for: Nat, todo: &mut Vec<Pred>) {
        if stands_for.is_overflow() {
            return;
        }
        let with = |w: &Var| (*w == v).then(|| stands_for.clone());
        for value in self.solved.values_mut() {
            *value = value.substitute(&with);
        }
        self.upper.remove(&v);
        if let Some(least) = self.lower.remove(&v) {
            todo.push(Pred::Le(Nat::int(least), Nat::var(&v)));
        }
        let zero = || Nat::ZERO;
        let (moved, kept) = partition(std::mem::take(&mut self.constraints), |n| n.mentions(&v));
        self.constraints = kept;
        todo.extend(moved.into_iter().map(|n| Pred::Le(zero(), n)));
        let (moved, kept) = partition(std::mem::take(&mut self.unequal), |n| n.mentions(&v));
        self.unequal = kept;
        todo.extend(moved.into_iter().map(|n| Pred::Ne(n, zero())));
        let divides = std::mem::take(&mut self.divides);
        let (moved, kept) = partition(divides, |(d, n)| d.mentions(&v) || n.mentions(&v));
        self.divides = kept;
        todo.extend(moved.into_iter().map(|(divisor, of)| Pred::Divides { divisor, of }));
        self.solved.insert(v, stands_for);
    }
}

fn partition<T>(all: Vec<T>, moves: impl Fn(&T) -> bool) -> (Vec<T>, Vec<T>) {
    all.into_iter().partition(moves)
}

/// The `i` with `a * i = 1` modulo `modulus`; only units have one for a symbolic modulus.
fn inverse_modulo(a: i128, modulus: &Nat) -> Option<i128> {
    if a.abs() == 1 {
        return Some(a);
    }
    let m = modulus.as_int()?;
    let (mut r, mut next_r, mut s, mut next_s) = (a.checked_rem_euclid(m)?, m, 1_i128, 0_i128);
    while next_r != 0 {
        let q = r / next_r;
        (r, next_r) = (next_r, r - q * next_r);
        (s, next_s) = (next_s, s.checked_sub(q.checked_mul(next_s)?)?);
    }
    (r == 1).then(|| s.rem_euclid(m))
}

mod bounds;
mod examples;
#[cfg(test)]
mod tests;
