//! What is known of indices and sizes, as linear bounds, and what follows from it.
//!
//! A quotient rounded down is an unknown of its own, between two bounds: `2 q <= x <= 2 q + 1` for `q = x / 2`. Whether bounds
//! contradict each other is found by eliminating one unknown after the other (Fourier and Motzkin). `lift_nat` proves more,
//! and takes longer than the hundreds of questions of a sum allow.

use std::collections::{BTreeMap, BTreeSet};

use lift_nat::{Nat, Var};

use crate::poly::gcd;
use crate::quasi::{Floor, Quasi};

/// How many numbers are tried.
const WITNESSES: u32 = 128;

/// Bounds that elimination leaves at most; beyond, nothing is found out.
const MOST_BOUNDS: usize = 160;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Unknown {
    Index(usize),
    Size(Var),
    /// What sizes make up otherwise.
    Other(Nat),
    Floor(Floor),
}

/// `0 <= factors · unknowns + constant`
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Bound {
    factors: BTreeMap<Unknown, i128>,
    constant: i128,
}

/// Bounds that hold. Indices and sizes are natural numbers besides.
#[derive(Clone)]
pub(crate) struct Known {
    bounds: Vec<Bound>,
    /// Numbers that meet them. What does not hold of one of these is not tried to be proved.
    witnesses: Vec<Witness>,
}

impl Default for Known {
    fn default() -> Known {
        Known { bounds: Vec::new(), witnesses: (0..WITNESSES).map(Witness).collect() }
    }
}

/// A number for every index and every size, drawn once and for all.
#[derive(Clone, Copy)]
pub(crate) struct Witness(u32);

impl Witness {
    pub fn index(self, at: usize) -> i128 {
        self.drawn(at as u64, [4, 8, 16, 40])
    }

    pub fn size(self, var: &Var) -> i128 {
        let byte = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let name = var.name().bytes().fold(u64::from(var.id()), byte);
        self.drawn(name.wrapping_add(16), [8, 16, 40, 100])
    }

    /// Some have small numbers only.
    fn drawn(self, what: u64, below: [u64; 4]) -> i128 {
        let mixed = (u64::from(self.0) << 32 ^ what).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let below = below[self.0 as usize % below.len()];
        i128::from((mixed >> 32) % below)
    }
}

impl Known {
    pub fn assume(&mut self, value: &Quasi) {
        self.bounds.push(Bound::of(value));
        self.witnesses.retain(|witness| value.at(*witness).is_some_and(|value| value >= 0));
    }

    /// Whether `0 <= value`, where that follows.
    pub fn decides(&self, value: &Quasi) -> Option<bool> {
        if let Some(value) = value.as_int() {
            return Some(value >= 0);
        }
        let (mut may_hold, mut may_fail) = (false, false);
        for witness in &self.witnesses {
            match value.at(*witness) {
                Some(value) if value >= 0 => may_hold = true,
                Some(_) => may_fail = true,
                None => {}
            }
            if may_hold && may_fail {
                return None;
            }
        }
        let fails = value.times(-1).minus(&Quasi::int(1));
        if !may_fail && self.contradicts(&fails) {
            return Some(true);
        }
        (!may_hold && self.contradicts(value)).then_some(false)
    }

    pub fn proves(&self, value: &Quasi) -> bool {
        self.decides(value) == Some(true)
    }

    /// Whether `0 <= value` cannot be.
    fn contradicts(&self, value: &Quasi) -> bool {
        let mut all = self.bounds.clone();
        all.push(Bound::of(value));
        // What is known of unknowns as such, quotients in quotients among them.
        let mut seen = BTreeSet::new();
        let mut open: Vec<Unknown> = all.iter().flat_map(|b| b.factors.keys().cloned()).collect();
        while let Some(unknown) = open.pop() {
            if !seen.insert(unknown.clone()) {
                continue;
            }
            for bound in unknown.bounds() {
                open.extend(bound.factors.keys().cloned());
                all.push(bound);
            }
        }
        is_empty(all)
    }
}

impl Unknown {
    fn bounds(&self) -> Vec<Bound> {
        match self {
            Unknown::Index(_) | Unknown::Size(_) => {
                vec![Bound { factors: BTreeMap::from([(self.clone(), 1)]), constant: 0 }]
            }
            Unknown::Other(_) => Vec::new(),
            Unknown::Floor(floor) => floor.bounds().iter().map(Bound::of).collect(),
        }
    }
}

impl Bound {
    fn of(value: &Quasi) -> Bound {
        let (indices, floors, rest) = value.terms();
        let (mut factors, constant) = linear(rest);
        factors.extend(indices.iter().map(|(k, c)| (Unknown::Index(*k), *c)));
        factors.extend(floors.iter().map(|(floor, c)| (Unknown::Floor(floor.clone()), *c)));
        Bound { factors, constant }.reduced()
    }

    /// Divided by what all factors have in common: for integers, the constant is rounded down.
    fn reduced(mut self) -> Bound {
        let shared = self.factors.values().fold(0, |all, c| gcd(all, c.abs()));
        if shared > 1 {
            self.factors.values_mut().for_each(|c| *c /= shared);
            self.constant = self.constant.div_euclid(shared);
        }
        self
    }

    fn factor(&self, unknown: &Unknown) -> i128 {
        self.factors.get(unknown).copied().unwrap_or(0)
    }

    /// The sum of two bounds from opposite sides in which an unknown is gone; `None` where numbers get too large.
    fn without(&self, unknown: &Unknown, other: &Bound) -> Option<Bound> {
        let (a, b) = (self.factor(unknown), other.factor(unknown).checked_neg()?);
        let mut factors = BTreeMap::new();
        for (key, c) in &self.factors {
            factors.insert(key.clone(), c.checked_mul(b)?);
        }
        for (key, c) in &other.factors {
            let sum = factors.get(key).copied().unwrap_or(0).checked_add(c.checked_mul(a)?)?;
            factors.insert(key.clone(), sum);
        }
        factors.retain(|_, c| *c != 0);
        let constant = self.constant.checked_mul(b)?.checked_add(other.constant.checked_mul(a)?)?;
        Some(Bound { factors, constant }.reduced())
    }
}

/// Whether no numbers meet all bounds, as far as that is found out.
fn is_empty(bounds: Vec<Bound>) -> bool {
    let mut bounds = tightest(bounds);
    loop {
        if bounds.iter().any(|b| b.factors.is_empty() && b.constant < 0) {
            return true;
        }
        // The unknown whose elimination adds least.
        let unknowns: BTreeSet<&Unknown> = bounds.iter().flat_map(|b| b.factors.keys()).collect();
        let added = |unknown: &&Unknown| {
            let sign = |s: i128| bounds.iter().filter(|b| b.factor(unknown).signum() == s).count();
            sign(1) * sign(-1)
        };
        let Some(unknown) = unknowns.into_iter().min_by_key(added).cloned() else { return false };
        let (with, mut left): (Vec<Bound>, Vec<Bound>) =
            bounds.into_iter().partition(|b| b.factor(&unknown) != 0);
        let (lower, upper): (Vec<Bound>, Vec<Bound>) =
            with.into_iter().partition(|b| b.factor(&unknown) > 0);
        for low in &lower {
            left.extend(upper.iter().filter_map(|high| low.without(&unknown, high)));
        }
        bounds = tightest(left);
        if bounds.len() > MOST_BOUNDS {
            return false;
        }
    }
}

/// Of bounds with the same factors the one that implies the others.
fn tightest(bounds: Vec<Bound>) -> Vec<Bound> {
    let mut least: BTreeMap<BTreeMap<Unknown, i128>, i128> = BTreeMap::new();
    for Bound { factors, constant } in bounds {
        let kept = least.entry(factors).or_insert(constant);
        *kept = constant.min(*kept);
    }
    least.into_iter().map(|(factors, constant)| Bound { factors, constant }).collect()
}

/// What sizes make up, as a multiple of each and a constant, where it is; else as one unknown.
fn linear(value: &Nat) -> (BTreeMap<Unknown, i128>, i128) {
    let at = |one: Option<&Var>| value.substitute(&|v| Some(Nat::int((Some(v) == one).into())));
    let mut factors = BTreeMap::new();
    let constant = at(None);
    let mut whole = constant.clone();
    for var in value.vars() {
        let slope = at(Some(&var)) - &constant;
        whole = whole + Nat::var(&var) * &slope;
        if let Some(slope) = slope.as_int().filter(|c| *c != 0) {
            factors.insert(Unknown::Size(var), slope);
        }
    }
    match constant.as_int() {
        Some(constant) if whole == *value => (factors, constant),
        _ => {
            let constant = value.constant();
            let other = Unknown::Other(value - Nat::int(constant));
            (BTreeMap::from([(other, 1)]), constant)
        }
    }
}
