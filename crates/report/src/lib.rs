//! Pages for people: about a tuning database, what was tried, how it went, and what won; and about the clock, what it
//! predicted and what was measured.
//!
//! The page is one HTML file that needs nothing else, and no script. The same database gives the same bytes.

mod across;
mod axes;
mod charts;
mod clock;
mod collected;
mod derivation;
mod devices;
mod error;
mod numbers;
mod page;
mod predicted;
mod replay;
mod svg;
mod view;
mod winner;
mod work;

use lift_store::Store;

pub use clock::{Pair, Roof, Validation, clock_page};
pub use error::ReportError;

/// The page about all problems of a database. What cannot be shown, for want of features say, is said in its place.
pub fn page(store: &Store) -> Result<String, ReportError> {
    let problems = devices::by_device(collected::problems(store)?);
    if problems.iter().all(|problem| problem.tried.is_empty()) {
        let path = store.path().to_path_buf();
        return Err(ReportError::NothingTried { path });
    }
    page::render(store.path(), &problems)
}
