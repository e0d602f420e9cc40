//! One question to the facts: what has been found out on the way, and how much work is left.

use crate::hash::QuickMap;
use crate::known::Known;
use crate::term::Atom;
use crate::{Nat, Pred, Var};
use std::collections::BTreeMap;

/// Proofs and simplifications may call on each other this deep.
const MAX_NESTING: u32 = 48;

/// Constraints one question looks at.
const MAX_CONSTRAINTS: usize = 500;
/// Dividends of more terms are not bounded by a number.
const MAX_BOUNDED: usize = 4;
/// Extrema of more parts are not looked into.
pub(crate) const MAX_PARTS: usize = 12;

/// What a question may still cost: steps in all, and how deep it is in questions it led to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    fuel: u32,
    nesting: u32,
}

impl Effort {
    pub(crate) const FULL: Effort = Effort { fuel: 20_000, nesting: 0 };
    /// For noting a fact, which simplifies it a little first.
    pub(crate) const BRIEF: Effort = Effort { fuel: 4_000, nesting: 0 };
}

/// Values in a session are in terms of unsolved variables.
///
/// Proofs see every atom as a variable and every variable with a known least value as its distance
/// from that value, so that all they know to be bounded below is not negative.
pub(crate) struct Session<'a> {
    pub(crate) known: &'a Known,
    /// Translated values that are not negative.
    pub(crate) constraints: Vec<Nat>,
    /// Whether the store's constraints have been translated.
    prepared: bool,
    stand_ins: BTreeMap<Atom, Var>,
    lower: QuickMap<Var, i128>,
    pub(crate) proved: QuickMap<Nat, bool>,
    pub(crate) simplified: QuickMap<Nat, Nat>,
    effort: Effort,
}

impl<'a> Session<'a> {
    pub(crate) fn new(known: &'a Known, effort: Effort) -> Session<'a> {
        Session {
            known,
            constraints: Vec::new(),
            prepared: false,
            stand_ins: BTreeMap::new(),
            lower: QuickMap::default(),
            proved: QuickMap::default(),
            simplified: QuickMap::default(),
            effort,
        }
    }

    /// What is left of the effort.
    pub(crate) fn effort(&self) -> Effort {
        self.effort
    }

    /// Takes `steps` off what is left; `false` when nothing is.
    pub(crate) fn spend(&mut self, steps: usize) -> bool {
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        self.effort.fuel = self.effort.fuel.saturating_sub(steps.max(1));
        self.effort.fuel > 0
    }

    /// Runs `inside` one level deeper, or gives up with `otherwise`.
    pub(crate) fn nested<R>(&mut self, otherwise: R, inside: impl FnOnce(&mut Self) -> R) -> R {
        if self.effort.nesting >= MAX_NESTING || !self.spend(1) {
            return otherwise;
        }
        self.effort.nesting += 1;
        let result = inside(self);
        self.effort.nesting -= 1;
        result
    }

    /// Runs `inside` in a session that also knows `when`. Its variables are the ones that are open
    /// here, so what it solves it must translate back. Nothing it learns comes back: it may ask
    /// about values that are defined only under that condition.
    pub(crate) fn under<R>(
        &mut self,
        when: Option<&Pred>,
        otherwise: R,
        inside: impl FnOnce(&mut Session<'_>, &Known) -> R,
    ) -> R {
        if self.effort.nesting >= MAX_NESTING || !self.spend(self.known.constraints.len()) {
            return otherwise;
        }
        let mut known = self.known.rebased();
        let mut effort = Effort { nesting: self.effort.nesting + 1, ..self.effort };
        if let Some(when) = when {
            known.assume(when, &mut effort);
        }
        let mut session = Session::new(&known, effort);
        let result = inside(&mut session, &known);
        self.effort.fuel = session.effort.fuel;
        result
    }

    /// Translates the store's constraints, before the first proof.
    pub(crate) fn prepare(&mut self) {
        if !self.prepared {
            self.prepared = true;
            let known = self.known;
            for n in &known.constraints {
                self.note(n.clone());
            }
        }
    }

    fn least(&self, v: &Var) -> Option<i128> {
        self.lower.get(v).or_else(|| self.known.lower.get(v)).copied()
    }

    /// Whether a variable of a translated value is known not to be negative.
    pub(crate) fn bounded_below(&self, v: &Var) -> bool {
        self.lower.contains_key(v) || self.known.lower.contains_key(v)
    }

    /// Every atom as a variable that counts from its least value.
    pub(crate) fn translate(&mut self, n: &Nat) -> Nat {
        if n.is_polynomial()
            && !n.any_var(&mut |v| self.known.lower.get(v).is_some_and(|least| *least != 0))
        {
            return n.clone();
        }
        n.replace_atoms(&mut |atom| {
            let v = match atom {
                Atom::Var(v) if self.least(v).unwrap_or(0) == 0 => return None,
                Atom::Var(v) => v.clone(),
                _ => self.stand_in(atom),
            };
            Some(Nat::var(&v) + Nat::int(self.least(&v).unwrap_or(0)))
        })
    }

    /// The variable proofs see in place of `atom`.
    fn stand_in(&mut self, atom: &Atom) -> Var {
        if let Some(v) = self.stand_ins.get(atom) {
            return v.clone();
        }
        let id = u32::try_from(self.stand_ins.len()).unwrap_or(u32::MAX);
        let v = Var::with_id("#atom", id);
        self.stand_ins.insert(atom.clone(), v.clone());
        self.nested((), |s| s.constrain_atom(atom, &v));
        v
    }

    /// `a / d < r` where it is known that `a < r * d`.
    fn bound_quotient(&mut self, quotient: &Nat, a: &Nat, d: &Nat) {
        if d.as_int().is_some() {
            return;
        }
        // 0 <= r * d - 1 - a
        let known = self.known;
        let ends = known.constraints.iter().filter_map(|n| (n + a + Nat::ONE).over(d));
        for r in ends.collect::<Vec<Nat>>() {
            self.note(r - Nat::ONE - quotient);
        }
    }

    /// Notes what follows from how an atom is made.
    fn constrain_atom(&mut self, atom: &Atom, v: &Var) {
        let y = Nat::atom(atom.clone());
        match atom {
            Atom::Var(_) | Atom::Sum(..) => {}
            Atom::Quot(a, d) => {
                if !self.positive(d) {
                    return;
                }
                let slack = d - Nat::ONE;
                if self.nonnegative(a) {
                    // a / d >= 0 and d * (a / d) is in a - d + 1 ..= a.
                    let least = self.least_quotient(a, d);
                    self.lower.insert(v.clone(), least);
                    self.note(a - d * &y);
                    self.note(d * &y - a + slack);
                    self.bound_quotient(&y, a, d);
                    self.relate_quotients(atom, a, d);
                } else {
                    // What remains is smaller than d, with the sign of a.
                    self.note(a - d * &y + &slack);
                    self.note(d * &y - a + slack);
                }
            }
            Atom::Exact(a, d) => {
                if self.positive(d) && self.nonnegative(a) {
                    let least = if self.positive(a) { 1 } else { 0 };
                    self.lower.insert(v.clone(), least);
                }
                self.note(a - d * &y);
                self.note(d * &y - a);
            }
            Atom::Pow(base, exponent) => {
                if self.positive(base) {
                    self.lower.insert(v.clone(), 1);
                } else if self.nonnegative(base) {
                    self.lower.insert(v.clone(), 0);
                }
                // b^e > e for b >= 2.
                if base.as_int().is_some_and(|b| b >= 2) {
                    self.note(y - exponent - Nat::ONE);
                }
            }
            Atom::Log2(a) => {
                // Defined for a >= 1 only, and below a.
                self.lower.insert(v.clone(), 0);
                self.note(a - y - Nat::ONE);
            }
            Atom::Min(parts) | Atom::Max(parts) if parts.len() > MAX_PARTS => {}
            Atom::Min(parts) => {
                let least = parts.iter().map(|p| self.lower(p)).collect::<Option<Vec<_>>>();
                if let Some(least) = least.and_then(|all| all.into_iter().min()) {
                    self.lower.insert(v.clone(), least);
                }
                parts.iter().for_each(|p| self.note(p - &y));
            }
            Atom::Max(parts) => {
                if let Some(least) = parts.iter().filter_map(|p| self.lower(p)).max() {
                    self.lower.insert(v.clone(), least);
                }
                parts.iter().for_each(|p| self.note(&y - p));
            }
            Atom::Cond(_, a, b) => {
                let mut least = |n| self.under(None, None, |inside, _| inside.lower(n));
                if let (Some(a), Some(b)) = (least(a), least(b)) {
                    self.lower.insert(v.clone(), a.min(b));
                }
            }
            Atom::Group(a) => {
                if let Some(least) = self.lower(a) {
                    self.lower.insert(v.clone(), least);
                }
            }
        }
    }

    /// What `a / d` is at least, where `a` is not negative and `d` is positive: a number where both are known well.
    fn least_quotient(&mut self, a: &Nat, d: &Nat) -> i128 {
        match d.as_int() {
            Some(d) if a.term_count() <= MAX_BOUNDED => {
                self.lower(a).unwrap_or(0).max(0) / d.max(1)
            }
            _ => 0,
        }
    }

    /// `a / (d * c)` is `(a / d) / c`, and so bounded by `a / d` besides by `a`.
    fn relate_quotients(&mut self, atom: &Atom, a: &Nat, d: &Nat) {
        let same: Vec<(Atom, Nat)> = self
            .stand_ins
            .keys()
            .filter_map(|other| match other {
                Atom::Quot(b, e) if b == a && other != atom => Some((other.clone(), e.clone())),
                _ => None,
            })
            .collect();
        for (other, e) in same {
            let (outer, inner, c) = match (d.over(&e), e.over(d)) {
                (Some(c), _) => (atom.clone(), other, c),
                (_, Some(c)) => (other, atom.clone(), c),
                _ => continue,
            };
            if self.positive(&c) {
                let (outer, inner) = (Nat::atom(outer), Nat::atom(inner));
                self.note(&inner - &c * &outer);
                self.note(&c * outer - inner + c - Nat::ONE);
            }
        }
    }

    fn note(&mut self, n: Nat) {
        let translated = self.translate(&n);
        let useful = !translated.is_overflow() && translated.as_int().is_none();
        if useful && self.constraints.len() < MAX_CONSTRAINTS {
            self.constraints.push(translated);
        }
    }
}
