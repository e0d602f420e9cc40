//! What a low-level program does, in numbers.

/// Changes whenever the numbers mean something else. What was learned from others is of no use.
pub const VERSION: u32 = 1;

/// One number for each of [`names`], in their order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Features {
    pub values: Vec<f64>,
}

/// What the numbers are, always the same in the same order.
pub fn names() -> &'static [&'static str] {
    &[]
}
