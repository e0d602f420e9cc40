//! Models that learn from measured programs.
