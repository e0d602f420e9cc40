//! Exact times of short kernels.
//!
//! On an idle stream the first of the two events around a launch happens before the host has queued the
//! kernel, and what the host takes counts as the kernel's time. So that all three are queued by then, a
//! kernel that does nothing holds the stream for that long.

use std::cell::OnceCell;

use super::context::Module;

/// Of the device's clock: about 20 microseconds, several times what it takes to queue a launch.
pub const CYCLES: u64 = 40_000;

/// The text of the kernel that does nothing, and its name.
pub const TEXT: &str = include_str!("hold.cu");
pub const NAME: &str = "hold";

/// The kernel that does nothing, once it was needed; nothing where it cannot be made.
pub type Hold = OnceCell<Option<Module>>;

/// Whether it matters what the host takes, by the kernel's last time.
///
/// The first launch is not held: it may load the kernel, which can take as long as it likes.
pub fn matters(last_ms: Option<f64>) -> bool {
    const LONG_MS: f64 = 1.0;
    last_ms.is_some_and(|ms| ms < LONG_MS)
}

#[cfg(test)]
mod tests {
    use super::{NAME, TEXT, matters};

    #[test]
    fn short_kernels_are_timed_closely_from_the_second_launch_on() {
        assert!(!matters(None));
        assert!(matters(Some(0.03)));
        assert!(!matters(Some(3.0)));
    }

    #[test]
    fn the_text_has_the_kernel() {
        assert!(TEXT.contains(&format!("extern \"C\" __global__ void {NAME}(long long cycles)")));
    }
}
