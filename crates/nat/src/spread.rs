//! How far the values on the way to a result reach.
//!
//! Law: let every variable lie in its spread, and let a signed integer type, which has one more number below zero than
//! above, hold all that was noted. Then the C text of the expression ([`Nat::to_c`]), computed in that type, never leaves it:
//! every partial sum, product and operand has its mathematical value, and so has the result.
//!
//! The text is what is looked at, not the canonical form: `a % d` reaches as far as `a` and `d`, while
//! `a - d * (a / d)` might reach further.

use crate::over::Summand;
use crate::written::Written;
use crate::{Nat, Pred, Var};

/// Values from `-below` to `above`. Neither bound is negative; both are in terms of sizes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spread {
    pub below: Nat,
    pub above: Nat,
}

impl Spread {
    /// Values from 0 to `above`.
    pub fn up_to(above: Nat) -> Spread {
        Spread { below: Nat::ZERO, above }
    }

    /// The values that either spread has.
    fn or(self, other: Spread) -> Spread {
        Spread { below: larger(self.below, other.below), above: larger(self.above, other.above) }
    }

    fn times(&self, other: &Spread) -> Spread {
        Spread {
            below: &self.above * &other.below + &self.below * &other.above,
            above: &self.above * &other.above + &self.below * &other.below,
        }
    }

    fn negated(self) -> Spread {
        Spread { below: self.above, above: self.below }
    }

    /// A bound of the absolute value.
    fn size(&self) -> Nat {
        larger(self.below.clone(), self.above.clone())
    }

    /// Values of the same sign that are no larger than `size`.
    fn within(&self, size: &Nat) -> Spread {
        let cut = |bound: &Nat| if *bound == Nat::ZERO { Nat::ZERO } else { size.clone() };
        Spread { below: cut(&self.below), above: cut(&self.above) }
    }
}

/// The spread of a variable.
pub type SpreadOf<'a> = &'a dyn Fn(&Var) -> Spread;

/// Is told how far values reach above zero, and below it less one, the larger ones not always last.
pub type Note<'a> = &'a mut dyn FnMut(Nat);

impl Nat {
    /// Where the value lies; everything on the way to it is noted, and it too.
    pub fn spread(&self, of: SpreadOf<'_>, note: Note<'_>) -> Spread {
        if let Some(value) = self.as_int() {
            let Some(size) = value.checked_abs().map(Nat::int) else { return overflow(note) };
            // The sign is applied to the number.
            note(size.clone());
            let spread = Spread::up_to(size);
            return if value < 0 { spread.negated() } else { spread };
        }
        if let Some(var) = self.as_var() {
            return noted(of(var), note);
        }
        self.written().spread(of, note)
    }

    /// Calls `f` on everything that is divided by, at any depth.
    pub fn each_divisor(&self, f: &mut dyn FnMut(&Nat)) {
        for atom in self.atoms() {
            if let crate::term::Atom::Quot(_, d) | crate::term::Atom::Exact(_, d) = atom {
                f(d);
            }
            atom.each_part(&mut |part| part.each_divisor(f));
        }
    }

    /// The same with what `f` gives for everything that is divided by, at any depth.
    pub fn with_divisors(&self, f: &mut dyn FnMut(&Nat) -> Nat) -> Nat {
        use crate::term::Atom;
        self.replace_atoms(&mut |atom| match atom {
            Atom::Var(_) => None,
            Atom::Quot(a, d) => {
                let d = f(d).with_divisors(f);
                Some(a.with_divisors(f).div(&d))
            }
            Atom::Exact(a, d) => {
                let d = f(d).with_divisors(f);
                Some(a.with_divisors(f).exact_div(&d))
            }
            _ => Some(atom.map_parts(&mut |part| part.with_divisors(f))),
        })
    }
}

impl Pred {
    /// Notes everything on the way to the truth value.
    pub fn spread(&self, of: SpreadOf<'_>, note: Note<'_>) {
        self.each_part(&mut |part| {
            part.spread(of, note);
        });
    }

    /// The spread of a variable where the condition holds, given what it is anyway.
    pub fn refine(&self, var: &Var, of: SpreadOf<'_>) -> Spread {
        let mut spread = of(var);
        let mut ignore = |_: Nat| {};
        match self {
            Pred::Eq(a, b) => {
                let same = match (a.as_var() == Some(var), b.as_var() == Some(var)) {
                    (true, false) => b,
                    (false, true) => a,
                    _ => return spread,
                };
                same.spread(of, &mut ignore)
            }
            Pred::Lt(a, b) | Pred::Le(a, b) => {
                if a.as_var() == Some(var) && !b.mentions(var) {
                    spread.above = smaller(spread.above, b.spread(of, &mut ignore).above);
                }
                if b.as_var() == Some(var) && !a.mentions(var) {
                    spread.below = smaller(spread.below, a.spread(of, &mut ignore).below);
                }
                spread
            }
            Pred::And(all) => all.iter().fold(spread, |spread, pred| {
                let so_far = |v: &Var| if v == var { spread.clone() } else { of(v) };
                pred.refine(var, &so_far)
            }),
            Pred::Ne(..) | Pred::Divides { .. } => spread,
        }
    }
}

impl Written {
    fn spread(&self, of: SpreadOf<'_>, note: Note<'_>) -> Spread {
        let spread = match self {
            Written::Int(value) => match i128::try_from(*value) {
                Ok(value) => Spread::up_to(Nat::int(value)),
                Err(_) => return overflow(note),
            },
            Written::Var(var) => of(var),
            // Partial sums lie between the sum of what is below zero and the sum of what is above.
            Written::Sum(parts) => {
                let mut sum = Spread::up_to(Nat::ZERO);
                for (negative, part) in parts {
                    let part = part.spread(of, note);
                    let part = if *negative { part.negated() } else { part };
                    sum.below = sum.below + part.below;
                    sum.above = sum.above + part.above;
                }
                sum
            }
            Written::Product(factors) => {
                let mut product = Spread::up_to(Nat::ONE);
                for factor in factors {
                    product = noted(product.times(&factor.spread(of, note)), note);
                }
                product
            }
            // A quotient is no larger than what is divided, and has its sign where the divisor has none.
            Written::Div(a, b) => {
                let (a, by) = (a.spread(of, note), b.spread(of, note));
                divided(&a, &by, note);
                match &**b {
                    Written::Int(_) => {
                        Spread { below: a.below.div(&by.above), above: a.above.div(&by.above) }
                    }
                    _ if by.below == Nat::ZERO => a,
                    _ => Spread { below: a.size(), above: a.size() },
                }
            }
            Written::Rem(a, b) => {
                let (a, b) = (a.spread(of, note), b.spread(of, note));
                divided(&a, &b, note);
                let (most, by) = (a.size(), b.size());
                let rest = by.as_int().and_then(|by| by.checked_sub(1)).map(Nat::int);
                a.within(&smaller(most, rest.unwrap_or(by)))
            }
            Written::Pow(a, b) => {
                let (a, b) = (a.spread(of, note), b.spread(of, note));
                let size = larger(a.size().pow(&b.above), Nat::ONE);
                if a.below == Nat::ZERO {
                    Spread::up_to(size)
                } else {
                    Spread { below: size.clone(), above: size }
                }
            }
            Written::Log2(a) => Spread::up_to(a.spread(of, note).above),
            Written::Min(parts) => {
                let parts = parts.iter().map(|part| part.spread(of, note));
                parts
                    .reduce(|a, b| Spread {
                        below: larger(a.below, b.below),
                        above: smaller(a.above, b.above),
                    })
                    .unwrap_or(Spread::up_to(Nat::ZERO))
            }
            Written::Max(parts) => {
                let parts = parts.iter().map(|part| part.spread(of, note));
                parts
                    .reduce(|a, b| Spread {
                        below: smaller(a.below, b.below),
                        above: larger(a.above, b.above),
                    })
                    .unwrap_or(Spread::up_to(Nat::ZERO))
            }
            Written::Choice(pred, a, b) => {
                pred.spread(of, note);
                let inside = |v: &Var| pred.refine(v, of);
                a.spread(&inside, note).or(b.spread(of, note))
            }
            // All sums on the way are no larger than as many of the largest.
            Written::Over(sum) => {
                let (summand, args) = (&sum.summand, &sum.args);
                let end = sum.end.spread(of, note);
                sum.most.spread(of, note);
                let args: Vec<Spread> = args.iter().map(|arg| arg.spread(of, note)).collect();
                let parameter = |v: &Var| (0..args.len()).find(|k| Summand::parameter(*k) == *v);
                let of = |v: &Var| match parameter(v).and_then(|k| args.get(k)) {
                    Some(spread) => spread.clone(),
                    None => Spread::up_to(end.above.clone()),
                };
                summand.of().spread(&of, note).times(&Spread::up_to(end.above.clone()))
            }
            Written::Overflow => return overflow(note),
        };
        noted(spread, note)
    }
}

fn noted(spread: Spread, note: Note<'_>) -> Spread {
    note(match spread.below.as_int() {
        Some(below) => Nat::int((below - 1).max(0)),
        None => spread.below.clone(),
    });
    note(spread.above.clone());
    spread
}

/// What may be divided by -1 has room above zero, too, even where only the rest is wanted.
fn divided(a: &Spread, by: &Spread, note: Note<'_>) {
    if by.below != Nat::ZERO {
        note(a.below.clone());
    }
}

fn overflow(note: Note<'_>) -> Spread {
    note(Nat::overflow());
    Spread { below: Nat::overflow(), above: Nat::overflow() }
}

/// The larger of two bounds; of symbolic ones, which is not known.
fn larger(a: Nat, b: Nat) -> Nat {
    match (a.as_int(), b.as_int()) {
        (Some(0), _) => b,
        (_, Some(0)) => a,
        _ => Nat::max_of(vec![a, b]),
    }
}

fn smaller(a: Nat, b: Nat) -> Nat {
    match (a.as_int(), b.as_int()) {
        (Some(0), _) | (_, Some(0)) => Nat::ZERO,
        _ if a.is_overflow() => b,
        _ if b.is_overflow() => a,
        _ => Nat::min_of(vec![a, b]),
    }
}
