//! The drawings of the page, one a file.

pub mod bars;
pub mod histogram;
pub mod progress;
pub mod radar;
pub mod scatter;
