//! How threads of kernels wait for each other.
//!
//! GNU's OpenMP library lets a thread that waits look again and again, for milliseconds, before it sleeps. On a machine that
//! others use too, it then takes the processor from the very thread it waits for, and kernels of microseconds take many
//! milliseconds; with a short look they do not. On a quiet machine of many cores a short look costs about a tenth: threads that
//! were done early are asleep when the next loop begins. The library reads the wish from the environment when it is
//! loaded, which is with the first kernel.

#![allow(unsafe_code)]

use std::path::Path;

/// How often a thread looks before it sleeps: some microseconds.
const LOOKS: &str = "1000";

/// Where a user says it otherwise.
const SAID: [&str; 2] = ["OMP_WAIT_POLICY", "GOMP_SPINCOUNT"];

/// Lets threads of kernels look for work a short while only, unless nobody else uses the machine or the user says otherwise. It
/// does nothing where the process has more than one thread already: it is for the beginning of a program.
pub fn wait_briefly() {
    let is_said = SAID.iter().any(|name| std::env::var_os(name).is_some());
    if is_said || !is_alone() || is_quiet() {
        return;
    }
    // SAFETY: There is no other thread that could read the environment meanwhile.
    unsafe { std::env::set_var("GOMP_SPINCOUNT", LOOKS) }
}

/// Whether the processor has had little to do lately, and has nothing else to do now.
fn is_quiet() -> bool {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::fs::read_to_string("/proc/loadavg").is_ok_and(|load| says_quiet(&load, cores))
}

/// What `/proc/loadavg` says: the processes that ran on average, over three spans of time, and those that run now, of all.
fn says_quiet(load: &str, cores: usize) -> bool {
    let mut words = load.split_whitespace();
    let lately: Option<f64> = words.next().and_then(|word| word.parse().ok());
    let now = words.nth(2).and_then(|word| word.split('/').next()?.parse().ok());
    // One of those that run now is this one.
    matches!((lately, now), (Some(lately), Some(0..=1u32)) if lately < cores as f64 / 2.0)
}

/// Whether the process certainly has one thread.
fn is_alone() -> bool {
    Path::new("/proc/self/task").read_dir().is_ok_and(|threads| threads.count() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_quiet_if_nobody_else_uses_it() {
        assert!(says_quiet("0.31 1.20 2.00 1/312 4711", 2));
        assert!(says_quiet("4.60 1.57 0.56 1/312 4711", 16));
        assert!(!says_quiet("0.31 0.20 0.10 2/312 4711", 2));
        assert!(!says_quiet("1.00 0.20 0.10 1/312 4711", 2));
        assert!(!says_quiet("", 2));
        assert!(!says_quiet("0.31 0.20", 2));
    }

    #[test]
    fn an_environment_that_others_may_read_is_left_alone() {
        let other = std::thread::spawn(|| {
            wait_briefly();
            std::env::var_os("GOMP_SPINCOUNT")
        });
        assert_eq!(other.join().ok(), Some(std::env::var_os("GOMP_SPINCOUNT")));
    }
}
