//! How threads of kernels wait for each other.
//!
//! GNU's OpenMP library lets a thread that waits look again and again, for milliseconds, before it sleeps. On a machine that
//! others use too, it then takes the processor from the very thread it waits for. A short look costs nothing on a quiet
//! machine. The library reads the wish from the environment when it is loaded, which is with the first kernel.

#![allow(unsafe_code)]

use std::path::Path;

/// How often a thread looks before it sleeps: some microseconds.
const LOOKS: &str = "1000";

/// Where a user says it otherwise.
const SAID: [&str; 2] = ["OMP_WAIT_POLICY", "GOMP_SPINCOUNT"];

/// Lets threads of kernels look for work a short while only, unless the user says otherwise. It does nothing where the process
/// has more than one thread already: it is for the beginning of a program.
pub fn wait_briefly() {
    if SAID.iter().any(|name| std::env::var_os(name).is_some()) || !is_alone() {
        return;
    }
    // SAFETY: There is no other thread that could read the environment meanwhile.
    unsafe { std::env::set_var("GOMP_SPINCOUNT", LOOKS) }
}

/// Whether the process certainly has one thread.
fn is_alone() -> bool {
    Path::new("/proc/self/task").read_dir().is_ok_and(|threads| threads.count() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_that_others_may_read_is_left_alone() {
        let other = std::thread::spawn(|| {
            wait_briefly();
            std::env::var_os("GOMP_SPINCOUNT")
        });
        assert_eq!(other.join().ok(), Some(std::env::var_os("GOMP_SPINCOUNT")));
    }
}
