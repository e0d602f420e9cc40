//! Division that needs to know signs and bounds.

use crate::Nat;
use crate::session::Session;
use crate::term::{Atom, Mono, Term};

/// Steps of one polynomial division with remainder.
const MAX_STEPS: usize = 64;

/// Coefficients of which multiples of a divisor are taken.
const LARGE: u128 = 1 << 31;

impl Session<'_> {
    /// `p / q` for simplified operands.
    pub(crate) fn quotient(&mut self, p: &Nat, q: &Nat) -> Nat {
        let plain = p.div(q);
        let (unsigned, negated) = match plain.as_term() {
            Some(t) if t.coeff == -1 => (-&plain, true),
            _ => (plain.clone(), false),
        };
        let Some(Atom::Quot(p, q)) = unsigned.as_atom() else { return plain };
        let result = self.nested(unsigned.clone(), |s| s.proper_quotient(p, q));
        if negated { -result } else { result }
    }

    /// `p / q` where no law without conditions applies.
    fn proper_quotient(&mut self, p: &Nat, q: &Nat) -> Nat {
        let as_it_is = || p.div(q);
        if let Some((p, q)) = self.without_common_powers(p, q) {
            return self.quotient(&p, &q);
        }
        if !self.positive(q) {
            if self.positive(&-q) {
                return -self.nested(-as_it_is(), |s| s.proper_quotient(p, &-q));
            }
            return as_it_is();
        }
        if !self.nonnegative(p) {
            if self.nonnegative(&-p) {
                return -self.nested(-as_it_is(), |s| s.proper_quotient(&-p, q));
            }
            return if self.divides(q, p) {
                p.exact_div(q)
            } else if self.positive(&(q - p)) && self.positive(&(q + p)) {
                Nat::ZERO
            } else {
                as_it_is()
            };
        }
        if self.positive(&(q - p)) {
            return Nat::ZERO;
        }
        self.whole(p, q)
            .or_else(|| self.by_factors(p, q))
            .or_else(|| self.divides(q, p).then(|| p.exact_div(q)))
            .or_else(|| self.without_multiples(p, q))
            .unwrap_or_else(as_it_is)
    }

    /// `(x * b^e) / (y * b^f) = (x * b^(e - f)) / y`, where `e >= f`.
    fn without_common_powers(&mut self, p: &Nat, q: &Nat) -> Option<(Nat, Nat)> {
        let (over, under) = (p.as_term()?, q.as_term()?);
        for (small, _) in under.mono.factors() {
            let Atom::Pow(base, f) = small else { continue };
            for (large, _) in over.mono.factors() {
                let Atom::Pow(same, e) = large else { continue };
                if same == base && self.nonnegative(&(e - f)) {
                    let p = p.over(&Nat::atom(large.clone()))? * base.pow(&(e - f));
                    return Some((p, q.over(&Nat::atom(small.clone()))?));
                }
            }
        }
        None
    }

    /// `(k * q + r) / q = k`, where `0 <= r < q`.
    fn whole(&mut self, p: &Nat, q: &Nat) -> Option<Nat> {
        for lead in leads(q) {
            for rounded in [true, false] {
                let Some((k, r)) = divide_by_lead(p, q, &lead, rounded) else { continue };
                let near = [(0, r.clone()), (-1, &r + q), (1, &r - q)];
                for (step, rest) in near {
                    if self.nonnegative(&rest) && self.positive(&(q - &rest)) {
                        return Some(k + Nat::from(step));
                    }
                }
            }
        }
        None
    }

    /// `p / (g * d) = (p / g) / d`, where `p / g` comes out without a division.
    fn by_factors(&mut self, p: &Nat, q: &Nat) -> Option<Nat> {
        let content = q.content();
        let mut factors: Vec<Nat> = Vec::new();
        for t in p.terms().iter() {
            let shared =
                Term::new(crate::divide::gcd(t.coeff, content.coeff), t.mono.common(&content.mono));
            let shared = Nat::from(shared);
            if shared.as_int() != Some(1) && !factors.contains(&shared) {
                factors.push(shared);
            }
        }
        for g in factors {
            let Some(d) = q.over(&g).filter(|d| d.as_int() != Some(1)) else { continue };
            if let Some(part) = self.whole(p, &g) {
                return Some(self.quotient(&part, &d));
            }
        }
        None
    }

    /// `(k * q + r) / q = k + r / q`, where neither `k * q + r` nor `r` is negative.
    fn without_multiples(&mut self, p: &Nat, q: &Nat) -> Option<Nat> {
        for lead in leads(q) {
            let Some((k, r)) = divide_by_lead(p, q, &lead, false) else { continue };
            if k.as_int() != Some(0) && r.term_count() < p.term_count() && self.nonnegative(&r) {
                return Some(k + self.quotient(&r, q));
            }
        }
        // Of the constant a multiple of a constant divisor can be taken, and of large coefficients, so that those of indices in
        // indices do not become larger than a machine's integers.
        let (constant, q_int) = (p.constant(), q.as_int()?);
        if p.terms().iter().any(|t| t.coeff.unsigned_abs() >= LARGE) {
            let k = p.rounded_over(q_int);
            let r = p - &k * q;
            if k.as_int() != Some(0) && !r.is_overflow() && self.nonnegative(&r) {
                return Some(k + self.quotient(&r, q));
            }
        }
        let k = constant.checked_div(q_int)?;
        let r = p - Nat::int(k.checked_mul(q_int)?);
        (k != 0 && self.nonnegative(&r)).then(|| Nat::int(k) + self.quotient(&r, q))
    }

    /// `n % d == 0`
    pub(crate) fn divides(&mut self, d: &Nat, n: &Nat) -> bool {
        if n.is_overflow() || d.is_overflow() {
            return false;
        }
        if n.over(d).is_some() {
            return true;
        }
        // Terms that are multiples do not matter; the rest may be a multiple of a known one.
        let left = n.without_multiples_of(d);
        self.known.divides.iter().any(|(divisor, of)| {
            let known = |n: &Nat| match n.over(of) {
                // (m * of) is a multiple of m * divisor.
                Some(m) => (divisor * m).over(d).is_some(),
                None => false,
            };
            known(&left) || known(n)
        })
    }
}

/// The terms of `q` that can lead a division: those that divide no other term of it.
fn leads(q: &Nat) -> Vec<Term> {
    let terms = q.terms();
    let proper = |t: &&Term| {
        terms.iter().all(|other| other.mono == t.mono || other.mono.over(&t.mono).is_none())
    };
    terms.iter().rev().filter(proper).cloned().collect()
}

/// `p = k * q + r`, taking multiples of the term `lead` of `q` out of `p`. Coefficients that do
/// not divide are rounded towards zero if `rounded`, and stay in `r` if not.
fn divide_by_lead(p: &Nat, q: &Nat, lead: &Term, rounded: bool) -> Option<(Nat, Nat)> {
    let (mut rest, mut quotient) = (p.clone(), Nat::ZERO);
    for _ in 0..MAX_STEPS {
        let step = rest.terms().iter().rev().find_map(|t| step(t, lead, rounded));
        let Some((coeff, mono)) = step else { return Some((quotient, rest)) };
        let step = Nat::term(coeff, mono);
        rest = rest - &step * q;
        quotient = quotient + step;
        if rest.is_overflow() {
            return None;
        }
    }
    None
}

fn step(t: &Term, lead: &Term, rounded: bool) -> Option<(i128, Mono)> {
    let mono = t.mono.over(&lead.mono)?;
    let coeff = t.coeff.checked_div(lead.coeff)?;
    let fits = coeff != 0 && (rounded || t.coeff.checked_rem(lead.coeff) == Some(0));
    fits.then_some((coeff, mono))
}

#[cfg(test)]
mod tests {
    use super::{divide_by_lead, leads, step};
    use crate::known::Known;
    use crate::session::{Effort, Session};
    use crate::{Nat, Pred, Var, parse, parse_assumptions};

    fn nat(text: &str) -> Nat {
        parse(text).unwrap()
    }

    #[test]
    fn a_term_that_divides_another_does_not_lead() {
        let leads = |text: &str| {
            leads(&nat(text)).into_iter().map(|t| Nat::from(t).to_string()).collect::<Vec<_>>()
        };
        assert_eq!(leads("M + 2"), ["M"]);
        assert_eq!(leads("M + N"), ["M", "N"]);
        assert_eq!(leads("3*M*N + M + 5"), ["3*M*N"]);
        assert_eq!(leads("7"), ["7"]);
    }

    #[test]
    fn coefficients_are_rounded_or_left() {
        let step = |t: &str, lead: &str, rounded: bool| {
            let (t, lead) = (nat(t).as_term().unwrap(), nat(lead).as_term().unwrap());
            step(&t, &lead, rounded).map(|(coeff, mono)| Nat::term(coeff, mono).to_string())
        };
        assert_eq!(step("7*x*y", "2*y", true).as_deref(), Some("3*x"));
        assert_eq!(step("7*x*y", "2*y", false), None);
        assert_eq!(step("6*x*y", "2*y", false).as_deref(), Some("3*x"));
        assert_eq!(step("-7*y", "2*y", true).as_deref(), Some("-3"));
        assert_eq!(step("y", "2*y", true), None);
        assert_eq!(step("4*x", "2*y", true), None);
    }

    /// A quotient that is given up half way is still the quotient.
    #[test]
    fn giving_up_keeps_the_sign() {
        fn nested(depth: u32, session: &mut Session<'_>, p: &Nat, q: &Nat) -> Nat {
            match depth {
                0 => session.quotient(p, q),
                _ => session.nested(Nat::ZERO, |s| nested(depth - 1, s, p, q)),
            }
        }
        for (given, i, n) in [("i < N, 0 <= x", 3, 10), ("N < i, 0 <= x", 10, 3)] {
            let mut known = Known::default();
            let given = Pred::And(parse_assumptions(given).unwrap());
            known.assume(&given, &mut Effort::BRIEF.clone());
            for (p, q) in ["x + 5", "-x - 5"]
                .into_iter()
                .flat_map(|p| ["i - N", "N - i"].map(|q| (nat(p), nat(q))))
            {
                for depth in 40..48 {
                    let mut session = Session::new(&known, Effort::FULL);
                    // Signs are known before the depth runs out.
                    for side in [&p, &q, &-&p, &-&q] {
                        session.positive(side);
                        session.nonnegative(side);
                    }
                    let simple = nested(depth, &mut session, &p, &q);
                    let at = |v: &Var| match v.name() {
                        "i" => Some(i),
                        "N" => Some(n),
                        _ => Some(9),
                    };
                    assert_eq!(simple.eval(&at), p.div(&q).eval(&at), "{p} by {q} at {depth}");
                }
            }
        }
    }

    /// `p = k * q + r` with nothing in `r` that the lead divides.
    #[test]
    fn division_with_rest() {
        for (p, q, rounded, k, r) in [
            ("2*M*j + 4*j + i", "M + 2", false, "2*j", "i"),
            ("7*i + j", "4", true, "i", "3*i + j"),
            ("7*i + j", "4", false, "0", "7*i + j"),
            ("9*i + 8", "4", false, "2", "9*i"),
            ("9*i + 9", "4", true, "2*i + 2", "i + 1"),
            ("i + j", "N", false, "0", "i + j"),
            ("M*M + M", "M + 1", false, "M", "0"),
            ("x*N - y", "N", true, "x", "-y"),
        ] {
            let (p, q) = (nat(p), nat(q));
            let lead = leads(&q).remove(0);
            let divided = divide_by_lead(&p, &q, &lead, rounded);
            assert_eq!(divided, Some((nat(k), nat(r))), "{p} by {q}");
        }
        // Each step makes a new term: x^40 + … leads nowhere within the steps there are.
        let (p, q) = (nat("x^100"), nat("x + y"));
        let lead = nat("x").as_term().unwrap();
        assert_eq!(divide_by_lead(&p, &q, &lead, false), None);
        assert!(divide_by_lead(&nat("x^60"), &q, &lead, false).is_some());
    }
}
