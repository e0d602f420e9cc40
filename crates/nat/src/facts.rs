//! What is known about variables, and what follows from it.

use crate::found::Found;
use crate::known::Known;
use crate::session::{Effort, Session};
use crate::term::{Atom, Term};
use crate::{Nat, Pred, Var};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The values a variable may take.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Range {
    least: Option<Nat>,
    greatest: Option<Nat>,
}

impl Range {
    /// `lo <= x`
    pub fn at_least(lo: Nat) -> Range {
        Range { least: Some(lo), greatest: None }
    }

    /// `0 <= x < n`
    pub fn below(n: Nat) -> Range {
        Range::between(Nat::ZERO, n - Nat::ONE)
    }

    /// `lo <= x <= hi`
    pub fn between(lo: Nat, hi: Nat) -> Range {
        Range { least: Some(lo), greatest: Some(hi) }
    }

    /// Any integer.
    pub fn any() -> Range {
        Range { least: None, greatest: None }
    }

    /// That a variable is in it.
    fn of(self, v: &Var) -> Vec<Pred> {
        let above = self.least.map(|lo| Pred::Le(lo, Nat::var(v)));
        let below = self.greatest.map(|hi| Pred::Le(Nat::var(v), hi));
        above.into_iter().chain(below).collect()
    }
}

/// Ranges of variables and relations between them. A variable about which nothing is said may be
/// any integer. A clone costs one reference count.
///
/// Whatever is answered holds at every assignment at which the facts hold and the expressions
/// asked about are defined. What cannot be decided within a bounded search is not proved.
#[derive(Clone, Default, Debug)]
pub struct Facts {
    known: Arc<Known>,
    /// What holds where a variable is there, by that variable.
    inside: Arc<BTreeMap<Var, Vec<Pred>>>,
    found: Found,
}

/// Variables that take one of several values are split over, this many at a time.
const MAX_SPLITS: usize = 2;

impl Facts {
    pub fn new() -> Facts {
        Facts::default()
    }

    pub fn declare(&mut self, v: &Var, range: Range) {
        range.of(v).iter().for_each(|p| self.assume(p));
    }

    /// The range of a variable that is not everywhere, of a loop say, which may have no iteration: that there are
    /// values in the range is known only where a question mentions the variable.
    pub fn declare_inside(&mut self, v: &Var, range: Range) {
        range.of(v).into_iter().for_each(|p| self.assume_inside(v, p));
    }

    /// As [`Facts::declare_inside`], of anything that holds where the variable is there.
    pub fn assume_inside(&mut self, v: &Var, p: Pred) {
        self.found = Found::default();
        Arc::make_mut(&mut self.inside).entry(v.clone()).or_default().push(p);
    }

    /// `v >= 1`
    pub fn size(&mut self, v: &Var) {
        self.declare(v, Range::at_least(Nat::ONE));
    }

    pub fn assume(&mut self, p: &Pred) {
        self.found = Found::default();
        Arc::make_mut(&mut self.known).assume(p, &mut Effort::BRIEF.clone());
    }

    /// The variables that something is known about, or in terms of.
    pub fn vars(&self) -> BTreeSet<Var> {
        let mut found = self.known.vars();
        for (v, facts) in &*self.inside {
            found.insert(v.clone());
            found.extend(facts.iter().flat_map(Pred::vars));
        }
        found
    }

    /// What is known where some variables are there, of others too.
    pub fn inside(&self, vars: BTreeSet<Var>) -> Facts {
        self.where_there_are(vars).into_owned()
    }

    /// What is known where some variables are there, and those that they are known in terms of.
    fn where_there_are(&self, mut vars: BTreeSet<Var>) -> Cow<'_, Facts> {
        let mut open: Vec<Var> = vars.iter().cloned().collect();
        let mut found = Vec::new();
        while let Some(v) = open.pop() {
            for fact in self.inside.get(&v).into_iter().flatten() {
                open.extend(fact.vars().into_iter().filter(|other| vars.insert(other.clone())));
                found.push(fact);
            }
        }
        if found.is_empty() && self.inside.is_empty() {
            return Cow::Borrowed(self);
        }
        let facts = self.found.here(&vars, || {
            let known = self.known.clone();
            let mut facts = Facts { known, inside: Arc::default(), found: Found::default() };
            // What others are known in terms of comes first.
            found.into_iter().rev().for_each(|fact| facts.assume(fact));
            facts
        });
        Cow::Owned(facts)
    }

    /// Whether what is known where some variables are there excludes each other, so that they are nowhere.
    pub fn are_nowhere(&self, vars: &BTreeSet<Var>) -> bool {
        vars.iter().flat_map(|v| self.inside.get(v)).flatten().any(|fact| self.refutes(fact))
    }

    /// `v` is a length that takes one of these values. It is at least 1, unless one of them is 0 for certain: two facts that
    /// exclude each other prove anything.
    pub fn length_among(&mut self, v: &Var, values: Vec<Nat>) {
        let is_empty = |n: &Nat| self.refutes(&Pred::Le(Nat::ONE, n.clone()));
        let least = if values.iter().any(is_empty) { Nat::ZERO } else { Nat::ONE };
        self.declare(v, Range::at_least(least));
        self.one_of(v, values);
    }

    /// `v` takes one of these values: what holds at each of them holds of `v`.
    pub fn one_of(&mut self, v: &Var, values: Vec<Nat>) {
        match values.as_slice() {
            [] => {}
            _ => {
                self.found = Found::default();
                Arc::make_mut(&mut self.known).one_of(v, values);
            }
        }
    }

    /// An expression equal to `n` wherever `n` is defined, with as few divisions as can be.
    pub fn simplify(&self, n: &Nat) -> Nat {
        if n.is_polynomial() && self.known.keeps(n) {
            return n.clone();
        }
        self.found.simple(n, || {
            let here = self.where_there_are(n.vars());
            let solved = here.known.solve(n);
            let simple = Session::new(&here.known, Effort::FULL).simplify(&solved);
            here.known.unsolve(&simple)
        })
    }

    /// The condition over simplified values; the empty conjunction where it is proved, and `0 == 1`
    /// where it is refuted.
    pub fn simplify_pred(&self, p: &Pred) -> Pred {
        if self.proves(p) {
            return Pred::And(Vec::new());
        }
        if self.refutes(p) {
            return Pred::Eq(Nat::ZERO, Nat::ONE);
        }
        match p {
            Pred::And(all) => {
                let open = all.iter().filter(|p| !self.proves(p));
                Pred::And(open.map(|p| self.simplify_pred(p)).collect())
            }
            _ => p.map_parts(&mut |part| self.simplify(part)),
        }
    }

    pub fn proves(&self, p: &Pred) -> bool {
        if let Some(decided) = p.decide() {
            return decided;
        }
        let here = self.where_there_are(p.vars());
        here.by_cases(p, MAX_SPLITS, &|facts| facts.proves_directly(p))
    }

    pub fn refutes(&self, p: &Pred) -> bool {
        if let Some(decided) = p.decide() {
            return !decided;
        }
        if self.inside.is_empty() && self.known.has_example(p) {
            return false;
        }
        let pair = |a: &Nat, b: &Nat| (a.clone(), b.clone());
        match p {
            Pred::Eq(a, b) => {
                let (a, b) = pair(a, b);
                self.proves(&Pred::Ne(a, b))
            }
            Pred::Ne(a, b) => self.equal(a, b),
            Pred::Lt(a, b) => self.at_most(b, a),
            Pred::Le(a, b) => self.less(b, a),
            Pred::Divides { divisor, of } => {
                // What remains is somewhere between zero and the divisor.
                let rest = self.simplify(&of.rem(divisor));
                self.less(&Nat::ZERO, &rest) || self.less(&rest, &Nat::ZERO)
            }
            Pred::And(all) => all.iter().any(|p| self.refutes(p)),
        }
    }

    pub fn equal(&self, a: &Nat, b: &Nat) -> bool {
        (a == b && !a.is_overflow()) || self.proves(&Pred::Eq(a.clone(), b.clone()))
    }

    /// `a < b`
    pub fn less(&self, a: &Nat, b: &Nat) -> bool {
        self.proves(&Pred::Lt(a.clone(), b.clone()))
    }

    /// `a <= b`
    pub fn at_most(&self, a: &Nat, b: &Nat) -> bool {
        self.proves(&Pred::Le(a.clone(), b.clone()))
    }

    /// Whether one proof shows that all values are at most `bound`; each may still be where it does not. The proof is about
    /// the sum of all products in them, each as often as in the value that has it most often.
    pub fn all_at_most<'n>(&self, values: impl IntoIterator<Item = &'n Nat>, bound: &Nat) -> bool {
        let (mut most, mut factors) = (BTreeMap::new(), BTreeSet::new());
        for value in values {
            if value.is_overflow() {
                return false;
            }
            for Term { mono, coeff } in value.terms().iter() {
                let often = most.entry(mono.clone()).or_insert(0);
                *often = (*often).max(*coeff);
                factors.extend(mono.factors().iter().map(|(atom, _)| atom.clone()));
            }
        }
        // A product that is left out, or is there more often, makes nothing smaller where no factor is negative.
        let is_natural = |factor: &Atom| {
            matches!(factor, Atom::Var(v) if self.known.lower.get(v).is_some_and(|least| *least >= 0))
                || self.at_most(&Nat::ZERO, &Nat::atom(factor.clone()))
        };
        let most = most.into_iter().map(|(mono, often)| Term::new(often, mono));
        factors.iter().all(is_natural) && self.at_most(&Nat::from_terms(most), bound)
    }

    /// `n % d == 0`
    pub fn divides(&self, d: &Nat, n: &Nat) -> bool {
        self.proves(&Pred::Divides { divisor: d.clone(), of: n.clone() })
    }

    /// A constant that `n` does not go below.
    pub fn lower(&self, n: &Nat) -> Option<i128> {
        if let Some(i) = n.as_int() {
            return Some(i);
        }
        let here = self.where_there_are(n.vars());
        let mut session = Session::new(&here.known, Effort::FULL);
        let simple = session.simplify(&here.known.solve(n));
        let direct = session.lower(&simple);
        let Some((v, values)) = here.known.case_of(&|v| n.mentions(v)) else { return direct };
        let each = |value: &Nat| {
            let mut facts = here.without_case(&v);
            facts.assume(&Pred::Eq(Nat::var(&v), value.clone()));
            facts.lower(n)
        };
        let split = values.iter().map(each).collect::<Option<Vec<_>>>();
        split.and_then(|all| all.into_iter().min()).max(direct)
    }

    /// A constant that `n` does not exceed.
    pub fn upper(&self, n: &Nat) -> Option<i128> {
        self.lower(&-n)?.checked_neg()
    }

    fn proves_directly(&self, p: &Pred) -> bool {
        let mut session = Session::new(&self.known, Effort::FULL);
        let mut value = |n: &Nat| session.simplify(&self.known.solve(n));
        match p {
            Pred::Eq(a, b) => {
                let difference = value(&(a - b));
                difference.as_int() == Some(0)
                    || (session.nonnegative(&difference) && session.nonnegative(&-difference))
            }
            Pred::Ne(a, b) => {
                let difference = value(&(a - b));
                session.positive(&difference)
                    || session.positive(&-&difference)
                    || self.known.unequal(&difference)
            }
            Pred::Lt(a, b) => {
                let difference = value(&(b - a));
                session.positive(&difference)
            }
            Pred::Le(a, b) => {
                let difference = value(&(b - a));
                session.nonnegative(&difference)
            }
            Pred::Divides { divisor, of } => {
                let (divisor, of) = (value(divisor), value(of));
                session.divides(&divisor, &of)
            }
            Pred::And(all) => all.iter().all(|p| self.proves(p)),
        }
    }

    /// Proves `p` outright, or at each value of a variable that takes one of several.
    fn by_cases(&self, p: &Pred, splits: usize, proof: &dyn Fn(&Facts) -> bool) -> bool {
        if proof(self) {
            return true;
        }
        if splits == 0 {
            return false;
        }
        let Some((v, values)) = self.known.case_of(&|v| p.mentions(v)) else { return false };
        values.iter().all(|value| {
            let mut facts = self.without_case(&v);
            facts.assume(&Pred::Eq(Nat::var(&v), value.clone()));
            facts.by_cases(p, splits - 1, proof)
        })
    }

    fn without_case(&self, v: &Var) -> Facts {
        let mut facts = Facts { found: Found::default(), ..self.clone() };
        Arc::make_mut(&mut facts.known).forget_case(v);
        facts
    }
}

/// What `lift nat` takes for granted: names that begin with an upper-case letter are sizes
/// (at least one), other variables are natural numbers.
pub fn default_facts(values: &[&Nat], given: &[Pred]) -> Facts {
    let mut vars = BTreeSet::new();
    values.iter().for_each(|n| vars.extend(n.vars()));
    given.iter().for_each(|p| vars.extend(p.vars()));
    let mut facts = Facts::new();
    for v in &vars {
        let size = v.name().starts_with(char::is_uppercase);
        facts.declare(v, Range::at_least(Nat::int(if size { 1 } else { 0 })));
    }
    given.iter().for_each(|p| facts.assume(p));
    facts
}
