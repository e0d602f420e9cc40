//! Rounding to half precision.

use half::f16;

/// The nearest f16, ties to even.
///
/// The step over f32 rounds to odd: an inexact f32 ends in a one, so that it is never taken for a
/// tie between two f16.
pub fn f16_from_f64(value: f64) -> f16 {
    let near = value as f32;
    let bits = near.to_bits();
    if f64::from(near) == value || value.is_nan() || bits & 1 == 1 {
        return f16::from_f32(near);
    }
    let odd = if f64::from(near).abs() > value.abs() { bits - 1 } else { bits + 1 };
    f16::from_f32(f32::from_bits(odd))
}

#[cfg(test)]
mod tests {
    use half::f16;

    use super::f16_from_f64;

    /// Every f16 is found again, and between two neighbours the nearer one, ties to even.
    #[test]
    fn f64_to_f16_is_the_nearest() {
        for bits in 0..f16::INFINITY.to_bits() {
            let (low, high) = (f16::from_bits(bits), f16::from_bits(bits + 1));
            assert_eq!(f16_from_f64(low.to_f64()), low);
            // The neighbour above the largest is where the next would be, were there one.
            let above = if high.is_finite() { high.to_f64() } else { 65536.0 };
            let middle = (low.to_f64() + above) / 2.0;
            let even = if bits % 2 == 0 { low } else { high };
            assert_eq!(f16_from_f64(middle), even);
            assert_eq!(f16_from_f64(middle.next_down()), low);
            assert_eq!(f16_from_f64(middle.next_up()), high);
            assert_eq!(f16_from_f64(-middle.next_up()), -high);
        }
    }
}
