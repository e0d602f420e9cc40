//! The drawings of the page, one a file.

pub mod bars;
pub mod histogram;
pub mod progress;
pub mod quotients;
pub mod radar;
pub mod roofline;
pub mod scatter;
pub mod times;
