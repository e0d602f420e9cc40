//! The low-level programs to try.
