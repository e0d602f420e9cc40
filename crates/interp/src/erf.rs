//! The error function and its complement, within 4 units in the last place of `f64`.
//!
//! Near 0 the power series, in sums of two `f64` so that `1 - erf(x)` keeps its digits; far from 0 the continued
//! fraction of `erfc`, whose square in the exponent is kept in two parts.

use std::f64::consts::FRAC_2_SQRT_PI;

/// Where the series ends and the fraction begins.
const MIDDLE: f64 = 2.0;
/// `erfc` is zero from here on, and less than half a unit in the last place of 2 from -6 on.
const END: f64 = 28.0;

pub(crate) fn erf(x: f64) -> f64 {
    let a = x.abs();
    let value = match a {
        _ if a.is_nan() => return x,
        _ if a < MIDDLE => series(a).high,
        _ => 1.0 - tail(a),
    };
    value.copysign(x)
}

pub(crate) fn erfc(x: f64) -> f64 {
    let a = x.abs();
    let (below, above) = match a {
        _ if a.is_nan() => return x,
        _ if a < MIDDLE => {
            let Two { high, low } = series(a);
            (Two::sum(1.0, high).plus(low).high, Two::sum(1.0, -high).plus(-low).high)
        }
        _ => (2.0 - tail(a), tail(a)),
    };
    if x < 0.0 { below } else { above }
}

/// `erf(x) = 2/√π (x - x³/3 + x⁵/(2!·5) - x⁷/(3!·7) + …)` for x from 0 to [`MIDDLE`].
fn series(x: f64) -> Two {
    /// `2/√π` less its nearest `f64`.
    const REST: f64 = 1.533545961316588e-17;
    let square = Two::product(x, x);
    let mut term = Two { high: FRAC_2_SQRT_PI, low: REST }.times(Two { high: x, low: 0.0 });
    let mut total = term;
    let mut n = 1.0;
    loop {
        term = term.times(square).over(-n);
        let part = term.over(2.0 * n + 1.0);
        total = total.plus(part.high).plus(part.low);
        if part.high.abs() <= 1e-22 * total.high {
            return total;
        }
        n += 1.0;
    }
}

/// `erfc(x) = exp(-x²)/√π / (x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …))))` for x from [`MIDDLE`] on.
fn tail(x: f64) -> f64 {
    if x >= END {
        return 0.0;
    }
    let terms = (8.0 + 420.0 / (x * x)) as u32;
    let fraction = (1..=terms).rev().fold(x, |rest, k| x + f64::from(k) / 2.0 / rest);
    let square = Two::product(x, x);
    (-square.high).exp() * (1.0 - square.low) * (FRAC_2_SQRT_PI / 2.0) / fraction
}

/// A number as the sum of two, the second below half a unit in the last place of the first.
#[derive(Clone, Copy)]
struct Two {
    high: f64,
    low: f64,
}

impl Two {
    fn sum(a: f64, b: f64) -> Two {
        let high = a + b;
        let second = high - a;
        Two { high, low: (a - (high - second)) + (b - second) }
    }

    fn product(a: f64, b: f64) -> Two {
        let high = a * b;
        Two { high, low: a.mul_add(b, -high) }
    }

    fn plus(self, other: f64) -> Two {
        let sum = Two::sum(self.high, other);
        Two::sum(sum.high, sum.low + self.low)
    }

    fn times(self, other: Two) -> Two {
        let product = Two::product(self.high, other.high);
        Two::sum(product.high, product.low + self.high * other.low + self.low * other.high)
    }

    fn over(self, divisor: f64) -> Two {
        let quotient = self.high / divisor;
        let rest = (-quotient).mul_add(divisor, self.high) + self.low;
        Two::sum(quotient, rest / divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::{erf, erfc};

    /// Digits from a computation with 30 of them.
    #[test]
    fn known_values() {
        for (x, of_x, complement) in [
            (0.1, 0.1124629160182849, 0.8875370839817152),
            (0.5, 0.5204998778130465, 0.4795001221869535),
            (1.0, 0.8427007929497149, 0.15729920705028513),
            (1.999, 0.9953015566513705, 0.004698443348629487),
            (2.0, 0.9953222650189527, 0.004677734981047266),
            (3.0, 0.9999779095030014, 2.209049699858544e-05),
            (10.0, 1.0, 2.088487583762545e-45),
            (26.0, 1.0, 5.663192408856143e-296),
        ] {
            let near = |a: f64, b: f64| (a - b).abs() <= 4.0 * f64::EPSILON * b;
            assert!(near(erf(x), of_x), "erf({x}) = {}", erf(x));
            assert!(near(erfc(x), complement), "erfc({x}) = {}", erfc(x));
            assert_eq!(erf(-x), -erf(x));
            assert!(near(erfc(-x), 1.0 + of_x), "erfc(-{x}) = {}", erfc(-x));
        }
        assert!(erf(0.0).to_bits() == 0 && erf(-0.0).is_sign_negative());
        assert_eq!(
            (erf(f64::INFINITY), erfc(f64::INFINITY), erfc(f64::NEG_INFINITY)),
            (1.0, 0.0, 2.0)
        );
        assert!(erf(f64::NAN).is_nan() && erfc(f64::NAN).is_nan());
    }
}
