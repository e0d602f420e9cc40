//! Models that learn from measured programs.
//!
//! What is learned is how fast a candidate is compared with the best for the same program and sizes, from its
//! [features](crate::features). Two models are there: the one of the literature, [`Knn`], and [`Trees`].
//! [`leave_one_out`] says how well they do for programs that they have not seen.
//!
//! ```
//! use lift_model::learn::{Dataset, Kind, Layout, Sample, Trained};
//!
//! # fn main() -> Result<(), lift_model::learn::LearnError> {
//! let layout = Layout { version: 1, names: vec!["loads".to_string()] };
//! let mut data = Dataset::new(layout.clone());
//! for loads in 1..=20 {
//!     data.push(Sample {
//!         program: "sum".to_string(),
//!         sizes: "N=1024".to_string(),
//!         device: "opencl a device".to_string(),
//!         features: vec![f64::from(loads)],
//!         ms: Some(f64::from(loads) * 0.1),
//!     })?;
//! }
//! let trained = Trained::fit(Kind::Knn, &data, 1)?;
//! assert!(trained.predict(&[2.0]) > trained.predict(&[18.0]));
//!
//! let text = trained.to_json();
//! assert!(Trained::read(&text, &layout).is_ok());
//! # Ok(())
//! # }
//! ```

mod components;
mod correlation;
mod dataset;
mod error;
mod evaluate;
mod knn;
mod noise;
mod normalise;
mod order;
mod redundancy;
mod table;
mod trained;
mod tree;
mod trees;

pub use components::Components;
pub use correlation::{pearson, spearman};
pub use dataset::{Dataset, Layout, Sample, device_label};
pub use error::LearnError;
pub use evaluate::{
    Evaluation, GroupResult, ProgramResult, Reached, Summary, leave_one_out, predictions,
};
pub use knn::Knn;
pub use noise::{Noise, spread};
pub use normalise::{Normalisation, Standard};
pub use order::{
    Cost, GOOD, Tried, in_order, in_random_order, reached_in_order, reached_in_random_order,
};
pub use redundancy::redundancies;
pub use table::{Row, TableError, read, write};
pub use trained::{Kind, Model, Trained};
pub use trees::Trees;
