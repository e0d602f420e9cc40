//! How often conditions hold.
//!
//! A condition on indices is looked at over the values of its variables. One that says where in the grid a work-item
//! is tells the interior from the boundary: one that nearly all work-items meet counts as met by all.
//! That an index taken from data is in range holds; any other condition on data holds half the time.

use lift_ir::{Nat, Pred, UnaryOp};
use lift_kernel::Expr;

use super::scope::{Role, Scope};
use super::values::Values;

/// Of the grid's work-items, those that make the common case.
const NEARLY_ALL: f64 = 0.75;

/// Up to so many values of a variable are all tried; of several variables, so many combinations.
const MOST_TRIED: i128 = 4096;
/// Otherwise so many.
const SAMPLES: i128 = 256;

/// What was narrowed, to be given back.
pub(super) type Narrowed = Vec<(usize, Values)>;

impl Scope<'_> {
    /// How often a condition holds (or does not, as `wanted` says). The variables keep the values for which it does, until
    /// they are restored.
    pub fn assume(&mut self, condition: &Expr, wanted: bool) -> (f64, Narrowed) {
        let mut narrowed = Vec::new();
        let chance = self.narrow(condition, wanted, &mut narrowed);
        (chance, narrowed)
    }

    pub fn restore(&mut self, narrowed: Narrowed) {
        for (number, values) in narrowed.into_iter().rev() {
            self.replace(number, values);
        }
    }

    fn narrow(&mut self, condition: &Expr, wanted: bool, narrowed: &mut Narrowed) -> f64 {
        match condition {
            Expr::Unary(UnaryOp::Not, value) => self.narrow(value, !wanted, narrowed),
            Expr::Test(Pred::And(all)) if wanted => {
                all.iter().map(|p| self.narrow(&Expr::Test(p.clone()), true, narrowed)).product()
            }
            Expr::Test(Pred::And(_)) => {
                let (holds, own) = self.assume(condition, true);
                self.restore(own);
                1.0 - holds
            }
            _ => self.narrow_simple(condition, wanted, narrowed),
        }
    }

    fn narrow_simple(&mut self, condition: &Expr, wanted: bool, narrowed: &mut Narrowed) -> f64 {
        let Some(holds) = self.truth(condition, &[]) else {
            return match condition {
                Expr::Test(_) => f64::from(u8::from(wanted)),
                _ => 0.5,
            };
        };
        let mut vars = Vec::new();
        self.collect_expr(condition, &mut vars);
        let chance = match vars.as_slice() {
            [] => f64::from(u8::from(holds == wanted)),
            [only] => self.narrow_one(*only, condition, wanted, narrowed),
            several => self.try_several(several, condition, wanted),
        };
        let in_grid = |n: &usize| self.entry(*n).is_some_and(|(_, role)| Role::is_in_grid(role));
        match vars.iter().any(in_grid) {
            true if wanted => common(chance),
            true => 1.0 - common(1.0 - chance),
            false => chance,
        }
    }

    fn narrow_one(
        &mut self,
        number: usize,
        condition: &Expr,
        wanted: bool,
        narrowed: &mut Narrowed,
    ) -> f64 {
        let Some((values, _)) = self.entry(number) else { return 1.0 };
        let holds = |v: i128| self.truth(condition, &[(number, v)]) == Some(wanted);
        let count = values.count();
        let (kept, of) = match values {
            Values::Between(from, to) if self.changes_once(condition, number) => {
                (bisect(*from, *to, &holds), count)
            }
            _ => {
                let most = if count <= MOST_TRIED { count } else { SAMPLES };
                let kept = values.sample(most).filter(|v| holds(*v)).collect();
                (Values::Listed(kept), count.min(most))
            }
        };
        let left = kept.count();
        if left > 0
            && left < of
            && let Some(before) = self.replace(number, kept)
        {
            narrowed.push((number, before));
        }
        left as f64 / of.max(1) as f64
    }

    /// Whether a condition compares sums and products of a variable, so that it changes once over its values.
    fn changes_once(&self, condition: &Expr, number: usize) -> bool {
        let plain = |n: &Nat| {
            let vars = n.vars();
            let mut on_it = vars.iter().filter(|v| self.depends(v, number));
            on_it.all(|v| n.is_polynomial_in(v))
        };
        matches!(condition, Expr::Test(Pred::Lt(a, b) | Pred::Le(a, b)) if plain(a) && plain(b))
    }

    fn try_several(&self, vars: &[usize], condition: &Expr, wanted: bool) -> f64 {
        let counts = vars.iter().filter_map(|n| self.entry(*n)).map(|(v, _)| v.count());
        let all = counts.fold(1i128, i128::saturating_mul);
        let each = match all <= MOST_TRIED {
            true => all,
            false => (SAMPLES as f64).powf(1.0 / vars.len() as f64) as i128,
        };
        let mut at = Vec::new();
        let (held, tried) = self.try_all(vars, each, condition, wanted, &mut at);
        held / tried.max(1.0)
    }

    fn try_all(
        &self,
        vars: &[usize],
        each: i128,
        condition: &Expr,
        wanted: bool,
        at: &mut Vec<(usize, i128)>,
    ) -> (f64, f64) {
        let Some((first, rest)) = vars.split_first() else {
            let holds = self.truth(condition, at) == Some(wanted);
            return (f64::from(u8::from(holds)), 1.0);
        };
        let Some((values, _)) = self.entry(*first) else { return (0.0, 0.0) };
        let mut sum = (0.0, 0.0);
        for value in values.sample(each) {
            at.push((*first, value));
            let (held, tried) = self.try_all(rest, each, condition, wanted, at);
            at.pop();
            sum = (sum.0 + held, sum.1 + tried);
        }
        sum
    }
}

/// What the interior does, where nearly all is interior.
fn common(holds: f64) -> f64 {
    if holds >= NEARLY_ALL { 1.0 } else { holds }
}

/// The part of `from..to` where a condition holds that changes at most once.
fn bisect(from: i128, to: i128, holds: &dyn Fn(i128) -> bool) -> Values {
    let (first, last) = (holds(from), holds(to - 1));
    if first == last {
        return if first { Values::Between(from, to) } else { Values::Between(from, from) };
    }
    let (mut low, mut high) = (from, to - 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) == first {
            low = middle;
        } else {
            high = middle;
        }
    }
    if first { Values::Between(from, high) } else { Values::Between(high, to) }
}
