//! Simplification under facts, from the inside out.

use crate::session::{MAX_PARTS, Session};
use crate::term::{Atom, Mono, Term};
use crate::{Nat, Pred};

/// Values with more terms than this are left alone.
const MAX_TERMS: usize = 200;

impl Session<'_> {
    pub(crate) fn simplify(&mut self, n: &Nat) -> Nat {
        if n.is_polynomial() || n.is_overflow() || n.term_count() > MAX_TERMS {
            return n.clone();
        }
        if let Some(done) = self.simplified.get(n) {
            return done.clone();
        }
        if !self.spend(n.size() / 16) {
            return n.clone();
        }
        let simple = self.nested(n.clone(), |s| {
            let parts = n.replace_atoms(&mut |atom| s.simplify_atom(atom));
            cancel_exact(join_powers(parts))
        });
        // Cancelling may have brought atoms together that simplify further.
        let simple = if simple == *n {
            simple
        } else {
            self.nested(simple.clone(), |s| s.simplify(&simple))
        };
        self.simplified.insert(n.clone(), simple.clone());
        simple
    }

    /// What an atom becomes, unless it is a variable.
    fn simplify_atom(&mut self, atom: &Atom) -> Option<Nat> {
        Some(match atom {
            Atom::Var(_) => return None,
            Atom::Quot(a, b) => {
                let (a, b) = (self.simplify(a), self.simplify(b));
                self.quotient(&a, &b)
            }
            Atom::Exact(a, b) => self.simplify(a).exact_div(&self.simplify(b)),
            Atom::Pow(base, exponent) => {
                let (base, exponent) = (self.simplify(base), self.simplify(exponent));
                self.power(&base, &exponent)
            }
            Atom::Log2(a) => self.simplify(a).log2(),
            Atom::Min(parts) => {
                let parts = parts.iter().map(|p| self.simplify(p)).collect();
                Nat::min_of(self.undominated(parts, |s, a, b| s.nonnegative(&(b - a))))
            }
            Atom::Max(parts) => {
                let parts = parts.iter().map(|p| self.simplify(p)).collect();
                Nat::max_of(self.undominated(parts, |s, a, b| s.nonnegative(&(a - b))))
            }
            Atom::Cond(pred, a, b) => self.choice(pred, a, b),
            Atom::Sum(_) => atom.map_parts(&mut |part| self.simplify(part)),
            Atom::Group(a) => {
                let inside = self.simplify(a);
                if inside == *a { Nat::atom(atom.clone()) } else { inside }
            }
        })
    }

    /// The parts that no other part always beats.
    fn undominated(
        &mut self,
        parts: Vec<Nat>,
        beats: fn(&mut Self, &Nat, &Nat) -> bool,
    ) -> Vec<Nat> {
        if parts.len() > MAX_PARTS {
            return parts;
        }
        let mut kept: Vec<Nat> = Vec::new();
        for part in parts {
            if kept.iter().any(|k| beats(self, k, &part)) {
                continue;
            }
            kept.retain(|k| !beats(self, &part, k));
            kept.push(part);
        }
        kept
    }

    /// `b ^ (e + c) = b^c * b^e`, where `e >= 0` and `c` is a positive constant.
    fn power(&mut self, base: &Nat, exponent: &Nat) -> Nat {
        let constant = exponent.constant();
        let rest = exponent - Nat::int(constant);
        if constant > 0 && self.nonnegative(&rest) {
            return base.pow(&Nat::int(constant)) * base.pow(&rest);
        }
        base.pow(exponent)
    }

    /// A branch is simplified knowing that it is taken.
    fn choice(&mut self, pred: &Pred, yes: &Nat, no: &Nat) -> Nat {
        let pred = self.simplify_parts(pred);
        match self.decide(&pred) {
            Some(true) => self.simplify_under(None, yes),
            Some(false) => self.simplify_under(None, no),
            None => {
                let yes = self.simplify_under(Some(&pred), yes);
                let no = self.simplify_under(pred.negation().as_ref(), no);
                Nat::cond(pred, yes, no)
            }
        }
    }

    /// What is defined only under a condition must not add to what this session knows.
    fn simplify_under(&mut self, when: Option<&Pred>, n: &Nat) -> Nat {
        self.under(when, n.clone(), |inside, known| {
            known.unsolve(&inside.simplify(&known.solve(n)))
        })
    }

    /// Of a conjunction only the first part is defined wherever the whole is.
    fn simplify_parts(&mut self, pred: &Pred) -> Pred {
        match pred {
            Pred::And(all) => {
                let part = |p: &Pred| {
                    self.under(None, p.clone(), |inside, known| {
                        let simple = inside.simplify_parts(&p.substitute(&|v| known.solution(v)));
                        simple.map_parts(&mut |part| known.unsolve(part))
                    })
                };
                Pred::And(all.iter().map(part).collect())
            }
            _ => pred.map_parts(&mut |part| self.simplify(part)),
        }
    }

    fn decide(&mut self, pred: &Pred) -> Option<bool> {
        if let Some(decided) = pred.decide() {
            return Some(decided);
        }
        match pred {
            Pred::Eq(a, b) => self.is_zero(&(a - b)),
            Pred::Ne(a, b) => self.is_zero(&(a - b)).map(|zero| !zero),
            Pred::Lt(a, b) => self.is_nonnegative(&(b - a - Nat::ONE)),
            Pred::Le(a, b) => self.is_nonnegative(&(b - a)),
            Pred::Divides { divisor, of } => self.divides(divisor, of).then_some(true),
            Pred::And(all) => {
                let each = |p| self.under(None, None, |inside, _| inside.decide(p));
                let decided: Vec<_> = all.iter().map(each).collect();
                if decided.contains(&Some(false)) {
                    return Some(false);
                }
                decided.iter().all(|d| *d == Some(true)).then_some(true)
            }
        }
    }

    fn is_nonnegative(&mut self, n: &Nat) -> Option<bool> {
        if self.nonnegative(n) {
            return Some(true);
        }
        self.positive(&-n).then_some(false)
    }

    fn is_zero(&mut self, n: &Nat) -> Option<bool> {
        let simple = self.simplify(n);
        if simple.as_int() == Some(0) {
            return Some(true);
        }
        let apart =
            self.positive(&simple) || self.positive(&-&simple) || self.known.unequal(&simple);
        apart.then_some(false)
    }
}

/// `q * (p // q) = p`, also with further factors.
fn cancel_exact(n: Nat) -> Nat {
    let mut out = n;
    let exact: Vec<Atom> =
        out.atoms().into_iter().filter(|a| matches!(a, Atom::Exact(..))).cloned().collect();
    for atom in exact {
        let Atom::Exact(p, q) = &atom else { continue };
        let Some((_, cofactor)) = out.linear_in(&atom) else { continue };
        let whole = cofactor.multiples_of(q);
        if whole.as_int() != Some(0) {
            out = out - &whole * q * Nat::atom(atom.clone()) + whole * p;
        }
    }
    out
}

/// `b^e * b^f = b^(e + f)`
fn join_powers(n: Nat) -> Nat {
    let is_power = |atom: &Atom| matches!(atom, Atom::Pow(..));
    let several = |t: &Term| {
        let powers = t.mono.factors().iter().filter(|(a, _)| is_power(a));
        powers.map(|(_, k)| *k).fold(0, u32::saturating_add) > 1
    };
    if !n.terms().iter().any(several) {
        return n;
    }
    let mut total = Nat::ZERO;
    for t in n.terms().iter() {
        let mut product = Nat::int(t.coeff);
        let mut powers: Vec<(Nat, Nat)> = Vec::new();
        for (atom, k) in t.mono.factors() {
            match atom {
                Atom::Pow(base, e) => {
                    let e = e * Nat::from(*k);
                    match powers.iter_mut().find(|(b, _)| b == base) {
                        Some((_, sum)) => *sum = &*sum + e,
                        None => powers.push((base.clone(), e)),
                    }
                }
                _ => product = product * Nat::term(1, Mono::atom(atom.clone())).raise(*k),
            }
        }
        for (base, e) in powers {
            product = product * base.pow(&e);
        }
        total = total + product;
    }
    total
}
