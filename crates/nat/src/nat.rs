//! The canonical form: an integer, or a sum of scaled products of atoms.

use crate::Var;
use crate::term::{Atom, Mono, Term};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::slice;
use std::sync::Arc;

/// Products that would have more terms than this are kept closed.
pub(crate) const MAX_TERMS: usize = 600;
/// Sums nested deeper than this are given up as overflow, so that no recursion runs away.
pub(crate) const MAX_DEPTH: u32 = 64;

/// Expressions larger than this are given up as overflow: remainders mention their operands twice,
/// so sizes may double with each level.
pub(crate) const MAX_SIZE: usize = 40_000;

/// An integer expression over variables, in canonical form.
///
/// Two expressions that are equal as polynomials over their atoms are equal as values of this
/// type; [`crate::Facts::equal`] knows more. A clone costs one reference count.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Nat(Repr);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Repr {
    Int(i128),
    /// Two or more terms, or one that is not an integer; sorted by monomial, none of them zero.
    Sum(Arc<Sum>),
    /// A constant left the range of `i128`, or the nesting its limit.
    Overflow,
}

/// Terms, and what follows from them.
#[derive(Debug)]
struct Sum {
    terms: Vec<Term>,
    depth: u32,
    /// How many atoms and terms there are at all depths, counting shared ones again.
    size: usize,
    /// All atoms are variables.
    polynomial: bool,
    /// Some value in it is added up one by one.
    summed: bool,
}

impl PartialEq for Sum {
    fn eq(&self, other: &Sum) -> bool {
        self.size == other.size && self.terms == other.terms
    }
}

impl Eq for Sum {}

impl Hash for Sum {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.terms.hash(state);
    }
}

/// The terms of a value, of which an integer has one that is nowhere stored.
pub(crate) enum Terms<'n> {
    Stored(&'n [Term]),
    Integer(Term),
}

impl Deref for Terms<'_> {
    type Target = [Term];

    fn deref(&self) -> &[Term] {
        match self {
            Terms::Stored(terms) => terms,
            Terms::Integer(term) => slice::from_ref(term),
        }
    }
}

impl AsRef<[Term]> for Terms<'_> {
    fn as_ref(&self) -> &[Term] {
        self
    }
}

/// An order of expressions, not of their values: for sorting and for keys of maps.
impl Ord for Nat {
    fn cmp(&self, other: &Nat) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Int(a), Repr::Int(b)) => a.cmp(b),
            (Repr::Sum(a), Repr::Sum(b)) if Arc::ptr_eq(a, b) => Ordering::Equal,
            (Repr::Sum(a), Repr::Sum(b)) => a.terms.cmp(&b.terms),
            (Repr::Overflow, Repr::Overflow) => Ordering::Equal,
            (Repr::Int(_), _) | (_, Repr::Overflow) => Ordering::Less,
            (_, Repr::Int(_)) | (Repr::Overflow, _) => Ordering::Greater,
        }
    }

    /// The symbolic minimum, so that `a.min(b)` means the same for owned and borrowed operands.
    fn min(self, other: Nat) -> Nat {
        Nat::min_of(vec![self, other])
    }

    /// The symbolic maximum.
    fn max(self, other: Nat) -> Nat {
        Nat::max_of(vec![self, other])
    }
}

impl PartialOrd for Nat {
    fn partial_cmp(&self, other: &Nat) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Nat {
    pub const ZERO: Nat = Nat(Repr::Int(0));
    pub const ONE: Nat = Nat(Repr::Int(1));

    pub fn int(value: i128) -> Nat {
        Nat(Repr::Int(value))
    }

    pub fn var(v: &Var) -> Nat {
        Nat::atom(Atom::Var(v.clone()))
    }

    /// The value that left the range of the arithmetic. It equals nothing, provably.
    pub(crate) fn overflow() -> Nat {
        Nat(Repr::Overflow)
    }

    pub(crate) fn atom(atom: Atom) -> Nat {
        Nat::term(1, Mono::atom(atom))
    }

    pub(crate) fn term(coeff: i128, mono: Mono) -> Nat {
        Nat::from_sorted(vec![Term::new(coeff, mono)])
    }

    /// `terms` are sorted by monomial, without repetition; zero coefficients are dropped.
    pub(crate) fn from_sorted(mut terms: Vec<Term>) -> Nat {
        terms.retain(|t| t.coeff != 0);
        match terms.as_slice() {
            [] => return Nat::ZERO,
            [only] if only.mono.is_one() => return Nat::int(only.coeff),
            _ => {}
        }
        let atoms = terms.iter().flat_map(|t| t.mono.factors());
        let polynomial = atoms.clone().all(|(a, _)| matches!(a, Atom::Var(_)));
        let depth =
            if polynomial { 0 } else { atoms.clone().map(|(a, _)| a.depth()).max().unwrap_or(0) };
        let summed = !polynomial && atoms.clone().any(|(a, _)| a.is_summed());
        let size = terms.iter().map(Term::size).fold(0, usize::saturating_add);
        if depth > MAX_DEPTH || size > MAX_SIZE {
            return Nat::overflow();
        }
        Nat(Repr::Sum(Arc::new(Sum { terms, depth, size, polynomial, summed })))
    }

    /// Adds up terms given in any order.
    pub(crate) fn from_terms(terms: impl IntoIterator<Item = Term>) -> Nat {
        let mut sum: BTreeMap<Mono, i128> = BTreeMap::new();
        for t in terms {
            let slot = sum.entry(t.mono).or_insert(0);
            match slot.checked_add(t.coeff) {
                Some(coeff) => *slot = coeff,
                None => return Nat::overflow(),
            }
        }
        Nat::from_sorted(sum.into_iter().map(|(mono, coeff)| Term { mono, coeff }).collect())
    }

    /// The terms, least monomial first. An overflow has none: callers ask first.
    pub(crate) fn terms(&self) -> Terms<'_> {
        match &self.0 {
            Repr::Int(0) | Repr::Overflow => Terms::Stored(&[]),
            Repr::Int(i) => Terms::Integer(Term::new(*i, Mono::one())),
            Repr::Sum(sum) => Terms::Stored(&sum.terms),
        }
    }

    pub(crate) fn term_count(&self) -> usize {
        match &self.0 {
            Repr::Int(0) | Repr::Overflow => 0,
            Repr::Int(_) => 1,
            Repr::Sum(sum) => sum.terms.len(),
        }
    }

    pub(crate) fn depth(&self) -> u32 {
        match &self.0 {
            Repr::Sum(sum) => sum.depth,
            Repr::Int(_) | Repr::Overflow => 0,
        }
    }

    /// How long it is: the atoms and terms at all depths.
    pub fn size(&self) -> usize {
        match &self.0 {
            Repr::Sum(sum) => sum.size,
            Repr::Int(_) | Repr::Overflow => 1,
        }
    }

    /// Whether the value left the range of 128 bits, or the expression grew too large to keep. Such
    /// a size equals nothing.
    pub fn is_overflow(&self) -> bool {
        self.0 == Repr::Overflow
    }

    /// The largest absolute value of a number that is written in the expression.
    pub fn largest_constant(&self) -> u128 {
        match &self.0 {
            Repr::Int(value) => value.unsigned_abs(),
            Repr::Overflow => u128::MAX,
            Repr::Sum(sum) => {
                let mut largest = 0;
                for term in &sum.terms {
                    largest = largest.max(term.coeff.unsigned_abs());
                    for (atom, _) in term.mono.factors() {
                        atom.each_part(&mut |part| largest = largest.max(part.largest_constant()));
                    }
                }
                largest
            }
        }
    }

    pub fn as_int(&self) -> Option<i128> {
        match &self.0 {
            Repr::Int(i) => Some(*i),
            Repr::Sum(_) | Repr::Overflow => None,
        }
    }

    pub fn as_var(&self) -> Option<&Var> {
        match self.as_atom()? {
            Atom::Var(v) => Some(v),
            _ => None,
        }
    }

    /// The atom this value is, unscaled and alone.
    pub(crate) fn as_atom(&self) -> Option<&Atom> {
        let Repr::Sum(sum) = &self.0 else { return None };
        match sum.terms.as_slice() {
            [Term { mono, coeff: 1 }] => match mono.factors() {
                [(atom, 1)] => Some(atom),
                _ => None,
            },
            _ => None,
        }
    }

    /// The single term this value is.
    pub(crate) fn as_term(&self) -> Option<Term> {
        match self.terms().as_ref() {
            [only] => Some(only.clone()),
            _ => None,
        }
    }

    /// The integer added to the terms that have atoms.
    pub fn constant(&self) -> i128 {
        match &self.0 {
            Repr::Int(i) => *i,
            Repr::Overflow => 0,
            Repr::Sum(sum) => sum.terms.first().filter(|t| t.mono.is_one()).map_or(0, |t| t.coeff),
        }
    }

    /// Whether some value in it is added up one by one, so that asking for its value may take long.
    pub(crate) fn is_summed(&self) -> bool {
        matches!(&self.0, Repr::Sum(sum) if sum.summed)
    }

    /// Whether all atoms are variables.
    pub(crate) fn is_polynomial(&self) -> bool {
        match &self.0 {
            Repr::Sum(sum) => sum.polynomial,
            Repr::Int(_) => true,
            Repr::Overflow => false,
        }
    }

    /// The different atoms among the factors of the terms, not looking inside them.
    pub(crate) fn atoms(&self) -> BTreeSet<&Atom> {
        match &self.0 {
            Repr::Sum(s) => s.terms.iter().flat_map(|t| t.mono.factors()).map(|(a, _)| a).collect(),
            Repr::Int(_) | Repr::Overflow => BTreeSet::new(),
        }
    }

    /// Every variable that occurs, at any depth.
    pub fn vars(&self) -> BTreeSet<Var> {
        let mut found = BTreeSet::new();
        self.each_var(&mut |v| {
            found.insert(v.clone());
        });
        found
    }

    pub fn mentions(&self, var: &Var) -> bool {
        self.any_var(&mut |v| v == var)
    }

    /// The numbers of which it is the smallest, where it is that.
    pub fn min_parts(&self) -> Option<&[Nat]> {
        match self.as_atom()? {
            Atom::Min(parts) => Some(parts),
            _ => None,
        }
    }

    /// Whether a minimum, a maximum or a condition in it depends on a variable.
    pub fn chooses_by(&self, var: &Var) -> bool {
        self.atoms().into_iter().any(|atom| {
            let choice = matches!(atom, Atom::Min(_) | Atom::Max(_) | Atom::Cond(..));
            let mut found = false;
            atom.each_part(&mut |part| {
                found |= if choice { part.mentions(var) } else { part.chooses_by(var) };
            });
            found
        })
    }

    /// Whether a variable occurs in sums and products only, not inside a division or a choice.
    pub fn is_polynomial_in(&self, var: &Var) -> bool {
        self.atoms().into_iter().all(|atom| {
            let mut inside = false;
            atom.each_part(&mut |part| inside |= part.mentions(var));
            !inside
        })
    }

    /// Calls `f` on every variable, as often as it occurs.
    pub fn each_var(&self, f: &mut dyn FnMut(&Var)) {
        self.any_var(&mut |v| {
            f(v);
            false
        });
    }

    /// Whether `f` holds of some variable that occurs; stops at the first.
    pub fn any_var(&self, f: &mut dyn FnMut(&Var) -> bool) -> bool {
        let Repr::Sum(sum) = &self.0 else { return false };
        sum.terms.iter().flat_map(|t| t.mono.factors()).any(|(atom, _)| match atom {
            Atom::Var(v) => f(v),
            _ => {
                let mut hit = false;
                atom.each_part(&mut |part| hit = hit || part.any_var(f));
                hit
            }
        })
    }

    /// Replaces variables, all at once; a variable for which `with` has nothing stays.
    pub fn substitute(&self, with: &dyn Fn(&Var) -> Option<Nat>) -> Nat {
        if !self.any_var(&mut |v| with(v).is_some()) {
            return self.clone();
        }
        self.replace_atoms(&mut |atom| match atom {
            Atom::Var(v) => with(v),
            _ => Some(atom.map_parts(&mut |part| part.substitute(with))),
        })
    }

    /// Replaces each atom that `f` has something for, and multiplies and adds up again.
    pub(crate) fn replace_atoms(&self, f: &mut dyn FnMut(&Atom) -> Option<Nat>) -> Nat {
        let Repr::Sum(sum) = &self.0 else { return self.clone() };
        let mut kept = Vec::new();
        let mut replaced = Nat::ZERO;
        for term in &sum.terms {
            match term.replace_atoms(f) {
                Some(value) => replaced = replaced + value,
                None => kept.push(term.clone()),
            }
        }
        if kept.len() == sum.terms.len() {
            return self.clone();
        }
        Nat::from_sorted(kept) + replaced
    }

    /// `self = a + b * atom` with `atom` in neither `a` nor `b`: gives `(a, b)`.
    pub(crate) fn linear_in(&self, atom: &Atom) -> Option<(Nat, Nat)> {
        let (mut rest, mut cofactor) = (Vec::new(), Vec::new());
        for t in self.terms().iter() {
            match t.mono.power_of(atom) {
                0 => rest.push(t.clone()),
                1 => cofactor.push(Term::new(t.coeff, t.mono.without(atom))),
                _ => return None,
            }
        }
        Some((Nat::from_sorted(rest), Nat::from_terms(cofactor)))
    }
}

impl Term {
    /// Replaces atoms and multiplies again; `None` where `f` has nothing for any of them.
    fn replace_atoms(&self, f: &mut dyn FnMut(&Atom) -> Option<Nat>) -> Option<Nat> {
        let mut product: Option<Nat> = None;
        let factors = self.mono.factors();
        for (i, (atom, k)) in factors.iter().enumerate() {
            product = match (f(atom), product) {
                (None, None) => None,
                (None, Some(product)) => Some(product * Nat::atom(atom.clone()).raise(*k)),
                (Some(value), before) => {
                    let unchanged =
                        || Nat::term(self.coeff, factors[..i].iter().cloned().collect());
                    Some(before.unwrap_or_else(unchanged) * value.raise(*k))
                }
            };
        }
        product
    }
}
