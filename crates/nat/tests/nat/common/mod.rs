//! Random expressions that can be evaluated without the library, as a second opinion.

pub mod c;

use lift_nat::{Facts, Nat, Pred, Range, Var};
use proptest::prelude::*;

pub const NAMES: [&str; 4] = ["N", "M", "i", "j"];
pub type Values = [i128; 4];

pub fn var(k: usize) -> Var {
    Var::named(NAMES[k])
}

/// A test suite's share of cases; `PROPTEST_CASES` asks for more.
pub fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { cases };
    ProptestConfig { failure_persistence: None, cases, ..default }
}

/// An expression as a program would write it.
#[derive(Clone, Debug)]
pub enum Raw {
    Int(i128),
    Var(usize),
    Add(Box<Raw>, Box<Raw>),
    Sub(Box<Raw>, Box<Raw>),
    Mul(Box<Raw>, Box<Raw>),
    Div(Box<Raw>, Box<Raw>),
    Rem(Box<Raw>, Box<Raw>),
    Exact(Box<Raw>, Box<Raw>),
    Min(Box<Raw>, Box<Raw>),
    Max(Box<Raw>, Box<Raw>),
    Pow(Box<Raw>, Box<Raw>),
    Log2(Box<Raw>),
    If(Box<RawPred>, Box<Raw>, Box<Raw>),
}

#[derive(Clone, Debug)]
pub enum RawPred {
    Eq(Raw, Raw),
    Ne(Raw, Raw),
    Lt(Raw, Raw),
    Le(Raw, Raw),
    Divides(Raw, Raw),
    And(Box<RawPred>, Box<RawPred>),
}

impl Raw {
    pub fn build(&self) -> Nat {
        match self {
            Raw::Int(i) => Nat::int(*i),
            Raw::Var(k) => Nat::var(&var(*k)),
            Raw::Add(a, b) => a.build() + b.build(),
            Raw::Sub(a, b) => a.build() - b.build(),
            Raw::Mul(a, b) => a.build() * b.build(),
            Raw::Div(a, b) => a.build().div(&b.build()),
            Raw::Rem(a, b) => a.build().rem(&b.build()),
            Raw::Exact(a, b) => a.build().exact_div(&b.build()),
            Raw::Min(a, b) => a.build().min(b.build()),
            Raw::Max(a, b) => a.build().max(b.build()),
            Raw::Pow(a, b) => a.build().pow(&b.build()),
            Raw::Log2(a) => a.build().log2(),
            Raw::If(p, a, b) => Nat::cond(p.build(), a.build(), b.build()),
        }
    }

    /// The value, if it is defined and small.
    pub fn value(&self, at: &Values) -> Option<i128> {
        let pair = |a: &Raw, b: &Raw| Some((a.value(at)?, b.value(at)?));
        let value = match self {
            Raw::Int(i) => Some(*i),
            Raw::Var(k) => Some(at[*k]),
            Raw::Add(a, b) => pair(a, b).and_then(|(a, b)| a.checked_add(b)),
            Raw::Sub(a, b) => pair(a, b).and_then(|(a, b)| a.checked_sub(b)),
            Raw::Mul(a, b) => pair(a, b).and_then(|(a, b)| a.checked_mul(b)),
            Raw::Div(a, b) => pair(a, b).and_then(|(a, b)| a.checked_div(b)),
            Raw::Rem(a, b) => pair(a, b).and_then(|(a, b)| a.checked_rem(b)),
            Raw::Exact(a, b) => {
                let (a, b) = pair(a, b)?;
                if a.checked_rem(b)? == 0 { a.checked_div(b) } else { None }
            }
            Raw::Min(a, b) => pair(a, b).map(|(a, b)| a.min(b)),
            Raw::Max(a, b) => pair(a, b).map(|(a, b)| a.max(b)),
            Raw::Pow(a, b) => {
                let (a, b) = pair(a, b)?;
                a.checked_pow(u32::try_from(b).ok()?)
            }
            Raw::Log2(a) => a.value(at)?.checked_ilog2().map(i128::from),
            Raw::If(p, a, b) => {
                if p.value(at)? {
                    a.value(at)
                } else {
                    b.value(at)
                }
            }
        };
        value.filter(|v| v.abs() < 1 << 40)
    }
}

impl RawPred {
    pub fn build(&self) -> Pred {
        match self {
            RawPred::Eq(a, b) => Pred::Eq(a.build(), b.build()),
            RawPred::Ne(a, b) => Pred::Ne(a.build(), b.build()),
            RawPred::Lt(a, b) => Pred::Lt(a.build(), b.build()),
            RawPred::Le(a, b) => Pred::Le(a.build(), b.build()),
            RawPred::Divides(d, n) => Pred::Divides { divisor: d.build(), of: n.build() },
            RawPred::And(a, b) => Pred::And(vec![a.build(), b.build()]),
        }
    }

    pub fn value(&self, at: &Values) -> Option<bool> {
        let pair = |a: &Raw, b: &Raw| Some((a.value(at)?, b.value(at)?));
        match self {
            RawPred::Eq(a, b) => pair(a, b).map(|(a, b)| a == b),
            RawPred::Ne(a, b) => pair(a, b).map(|(a, b)| a != b),
            RawPred::Lt(a, b) => pair(a, b).map(|(a, b)| a < b),
            RawPred::Le(a, b) => pair(a, b).map(|(a, b)| a <= b),
            RawPred::Divides(d, n) => pair(n, d).and_then(|(n, d)| Some(n.checked_rem(d)? == 0)),
            RawPred::And(a, b) => Some(a.value(at)? && b.value(at)?),
        }
    }
}

fn leaf() -> impl Strategy<Value = Raw> {
    prop_oneof![
        2 => (-5..=9_i128).prop_map(Raw::Int),
        1 => prop::sample::select(vec![2, 4, 8, 16, 12]).prop_map(Raw::Int),
        5 => (0..4_usize).prop_map(Raw::Var),
    ]
}

fn two(
    inner: &BoxedStrategy<Raw>,
    make: fn(Box<Raw>, Box<Raw>) -> Raw,
) -> impl Strategy<Value = Raw> + use<> {
    (inner.clone(), inner.clone()).prop_map(move |(a, b)| make(Box::new(a), Box::new(b)))
}

/// Indices: sums of products under divisions and remainders.
pub fn index() -> BoxedStrategy<Raw> {
    leaf()
        .prop_recursive(5, 24, 2, |inner| {
            let inner = inner.boxed();
            prop_oneof![
                4 => two(&inner, Raw::Add),
                1 => two(&inner, Raw::Sub),
                3 => two(&inner, Raw::Mul),
                3 => two(&inner, Raw::Div),
                3 => two(&inner, Raw::Rem),
            ]
        })
        .boxed()
}

/// Sums of products over small divisors, one in the other, of the shape that linearised positions
/// have: here most laws apply.
pub fn position() -> BoxedStrategy<Raw> {
    let v = || (0..4_usize).prop_map(Raw::Var);
    let c = || prop_oneof![(-3..=9_i128), Just(16), Just(12)].prop_map(Raw::Int);
    let factor = prop_oneof![3 => v(), 2 => c()].boxed();
    let product = prop_oneof![2 => factor.clone(), 3 => two(&factor, Raw::Mul)].boxed();
    let divisor = prop_oneof![
        3 => prop_oneof![Just(2), Just(3), Just(4), Just(6), Just(8)].prop_map(Raw::Int),
        3 => (0..2_usize).prop_map(Raw::Var),
        2 => two(&prop_oneof![(0..2_usize).prop_map(Raw::Var), c()].boxed(), Raw::Mul),
        2 => two(&prop_oneof![(0..2_usize).prop_map(Raw::Var), c()].boxed(), Raw::Add),
        1 => ((0..2_usize).prop_map(Raw::Var), prop_oneof![Just(2), Just(3), Just(4)])
            .prop_map(|(v, c)| Raw::Div(Box::new(v), Box::new(Raw::Int(c)))),
    ]
    .boxed();
    product
        .prop_recursive(4, 24, 3, move |inner| {
            let (inner, divisor) = (inner.boxed(), divisor.clone());
            let over = (inner.clone(), divisor);
            prop_oneof![
                4 => two(&inner, Raw::Add),
                1 => two(&inner, Raw::Sub),
                2 => over.clone().prop_map(|(a, b)| Raw::Div(Box::new(a), Box::new(b))),
                2 => over.clone().prop_map(|(a, b)| Raw::Rem(Box::new(a), Box::new(b))),
                1 => over.prop_map(|(a, b)| Raw::Mul(Box::new(a), Box::new(b))),
            ]
        })
        .boxed()
}

/// Bounds on both indices by a size, a constant or a part of a size, and divisible sizes.
pub fn bounded() -> impl Strategy<Value = Vec<RawPred>> {
    let bound = || {
        prop_oneof![
            3 => (0..2_usize).prop_map(Raw::Var),
            2 => (1..=8_i128).prop_map(Raw::Int),
            1 => (0..2_usize, 2..=4_i128)
                .prop_map(|(v, c)| Raw::Div(Box::new(Raw::Var(v)), Box::new(Raw::Int(c)))),
            1 => (0..2_usize, 1..=3_i128)
                .prop_map(|(v, c)| Raw::Add(Box::new(Raw::Var(v)), Box::new(Raw::Int(c)))),
            1 => Just(Raw::Mul(Box::new(Raw::Var(0)), Box::new(Raw::Var(1)))),
        ]
    };
    let i = bound().prop_map(|b| RawPred::Lt(Raw::Var(2), b));
    let j = bound().prop_map(|b| RawPred::Lt(Raw::Var(3), b));
    let multiple = prop_oneof![
        2 => Just(vec![]),
        2 => (2..=4_i128).prop_map(|c| vec![RawPred::Divides(Raw::Int(c), Raw::Var(0))]),
        1 => Just(vec![RawPred::Divides(Raw::Var(1), Raw::Var(0))]),
        1 => (2..=4_i128).prop_map(|c| vec![
            RawPred::Divides(Raw::Var(1), Raw::Var(0)),
            RawPred::Divides(Raw::Int(c), Raw::Var(1)),
        ]),
    ];
    (i, j, multiple).prop_map(|(i, j, mut multiple)| {
        multiple.extend([i, j]);
        multiple
    })
}

fn boxed(make: fn(Box<Raw>, Box<Raw>) -> Raw, a: Raw, b: Raw) -> Raw {
    make(Box::new(a), Box::new(b))
}

/// Divisions one on the other, of values that have divisors.
pub fn chain() -> BoxedStrategy<Raw> {
    let product = two(&prop_oneof![leaf(), two(&leaf().boxed(), Raw::Add)].boxed(), Raw::Mul);
    let divisor = || {
        prop_oneof![
            3 => prop::sample::select(vec![2, 3, 4, 6, -2, 1]).prop_map(Raw::Int),
            1 => (0..4_usize).prop_map(Raw::Var),
        ]
    };
    let kind = || prop::sample::select(vec![Raw::Exact, Raw::Exact, Raw::Div, Raw::Rem, Raw::Mul]);
    let steps = prop::collection::vec((kind(), divisor()), 1..4);
    (product, steps)
        .prop_map(|(start, steps)| {
            let step = |value, (make, by): (fn(_, _) -> _, Raw)| boxed(make, value, by);
            steps.into_iter().fold(start, step)
        })
        .boxed()
}

/// `(x * d + r) / d` and its remainder, where `d` is a difference or a product of either sign.
pub fn signed_quotient() -> BoxedStrategy<Raw> {
    let v = || (0..4_usize).prop_map(Raw::Var);
    let divisor = prop_oneof![
        2 => two(&v().boxed(), Raw::Sub),
        1 => two(&v().boxed(), Raw::Add),
        1 => v(),
        1 => prop::sample::select(vec![-4, -3, 2, 3, 4]).prop_map(Raw::Int),
    ];
    let kind = prop::sample::select(vec![Raw::Div, Raw::Div, Raw::Rem]);
    let sign = prop::sample::select(vec![Raw::Add, Raw::Sub]);
    (v(), divisor, prop_oneof![v(), leaf()], kind, sign)
        .prop_map(|(x, d, r, kind, sign)| {
            let whole = boxed(Raw::Mul, x, d.clone());
            boxed(kind, boxed(sign, whole, r), d)
        })
        .boxed()
}

/// Which of the variables are negative, which are greater than which, and what is nowhere equal.
pub fn signs() -> impl Strategy<Value = Vec<RawPred>> {
    let v = || (0..4_usize).prop_map(Raw::Var);
    let c = || (-3..=3_i128).prop_map(Raw::Int);
    let fact = prop_oneof![
        3 => (v(), c()).prop_map(|(a, b)| RawPred::Le(a, b)),
        3 => (c(), v()).prop_map(|(a, b)| RawPred::Le(a, b)),
        3 => (v(), v()).prop_map(|(a, b)| RawPred::Lt(a, b)),
        1 => (v(), c()).prop_map(|(a, b)| RawPred::Ne(a, b)),
        1 => (v(), v(), v()).prop_map(|(a, b, c)| RawPred::Lt(a, boxed(Raw::Sub, b, c))),
        1 => (v(), v(), c()).prop_map(|(a, b, c)| RawPred::Le(c, boxed(Raw::Mul, a, b))),
    ];
    prop::collection::vec(fact, 1..5)
}

/// Everything there is.
pub fn anything() -> BoxedStrategy<Raw> {
    leaf()
        .prop_recursive(4, 20, 3, |inner| {
            let inner = inner.boxed();
            let choice = (compare(inner.clone()), inner.clone(), inner.clone());
            prop_oneof![
                4 => two(&inner, Raw::Add),
                2 => two(&inner, Raw::Sub),
                4 => two(&inner, Raw::Mul),
                4 => two(&inner, Raw::Div),
                4 => two(&inner, Raw::Rem),
                2 => two(&inner, Raw::Exact),
                1 => two(&inner, Raw::Min),
                1 => two(&inner, Raw::Max),
                1 => two(&inner, Raw::Pow),
                1 => inner.clone().prop_map(|a| Raw::Log2(Box::new(a))),
                2 => choice.prop_map(|(p, a, b)| Raw::If(Box::new(p), Box::new(a), Box::new(b))),
            ]
        })
        .boxed()
}

pub fn compare(value: BoxedStrategy<Raw>) -> BoxedStrategy<RawPred> {
    let pair = (value.clone(), value.clone());
    let simple = prop_oneof![
        pair.clone().prop_map(|(a, b)| RawPred::Eq(a, b)),
        pair.clone().prop_map(|(a, b)| RawPred::Ne(a, b)),
        pair.clone().prop_map(|(a, b)| RawPred::Lt(a, b)),
        pair.clone().prop_map(|(a, b)| RawPred::Le(a, b)),
        pair.prop_map(|(a, b)| RawPred::Divides(a, b)),
    ]
    .boxed();
    prop_oneof![
        6 => simple.clone(),
        1 => (simple.clone(), simple).prop_map(|(a, b)| RawPred::And(Box::new(a), Box::new(b))),
    ]
    .boxed()
}

/// Facts of the kinds programs state, and a few odd ones.
pub fn given() -> impl Strategy<Value = Vec<RawPred>> {
    let v = || (0..4_usize).prop_map(Raw::Var);
    let c = || (1..=6_i128).prop_map(Raw::Int);
    let small = || prop_oneof![3 => v(), 1 => c()];
    let sum = || {
        let pair = (small(), small());
        prop_oneof![
            3 => small(),
            1 => pair.clone().prop_map(|(a, b)| Raw::Add(Box::new(a), Box::new(b))),
            1 => pair.clone().prop_map(|(a, b)| Raw::Sub(Box::new(a), Box::new(b))),
            1 => pair.clone().prop_map(|(a, b)| Raw::Mul(Box::new(a), Box::new(b))),
            1 => pair.prop_map(|(a, b)| Raw::Div(Box::new(a), Box::new(b))),
        ]
        .boxed()
    };
    let fact = prop_oneof![
        4 => (v(), sum()).prop_map(|(a, b)| RawPred::Lt(a, b)),
        2 => (sum(), sum()).prop_map(|(a, b)| RawPred::Le(a, b)),
        4 => (c(), sum()).prop_map(|(d, n)| RawPred::Divides(d, n)),
        3 => (v(), sum()).prop_map(|(d, n)| RawPred::Divides(d, n)),
        2 => (sum(), sum()).prop_map(|(a, b)| RawPred::Eq(a, b)),
        1 => (sum(), sum()).prop_map(|(a, b)| RawPred::Ne(a, b)),
    ];
    prop::collection::vec(fact, 0..4)
}

/// What the facts say about the signs of variables.
#[derive(Clone, Copy, Debug)]
pub enum World {
    /// `N`, `M` at least one, `i`, `j` at least zero.
    Naturals,
    /// Nothing.
    Integers,
}

pub fn world() -> impl Strategy<Value = World> {
    prop_oneof![4 => Just(World::Naturals), 1 => Just(World::Integers)]
}

pub fn facts(world: World, given: &[RawPred]) -> Facts {
    let mut facts = Facts::new();
    for k in 0..4 {
        match world {
            World::Naturals if k < 2 => facts.size(&var(k)),
            World::Naturals => facts.declare(&var(k), Range::at_least(Nat::ZERO)),
            World::Integers => {}
        }
    }
    given.iter().for_each(|p| facts.assume(&p.build()));
    facts
}

/// Every assignment of a small range at which the facts hold.
pub fn assignments(world: World, given: &[RawPred]) -> Vec<Values> {
    let (low, high) = match world {
        World::Naturals => ([1, 1, 0, 0], [9, 6, 8, 6]),
        World::Integers => ([-4, -3, -4, -3], [5, 4, 4, 4]),
    };
    let mut all = Vec::new();
    for a in low[0]..=high[0] {
        for b in low[1]..=high[1] {
            for c in low[2]..=high[2] {
                for d in low[3]..=high[3] {
                    let at = [a, b, c, d];
                    if given.iter().all(|p| p.value(&at) == Some(true)) {
                        all.push(at);
                    }
                }
            }
        }
    }
    all
}

pub fn lookup(at: &Values) -> impl Fn(&Var) -> Option<i128> {
    let at = *at;
    move |v| NAMES.iter().position(|n| *n == v.name()).map(|k| at[k])
}
