//! Values for the parameters of low-level programs.
