//! A page about a tuning database, for people: what was tried, how it went, and what won.
//!
//! The page is one HTML file that needs nothing else, and no script. The same database gives the same bytes.

mod axes;
mod charts;
mod collected;
mod derivation;
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

pub use error::ReportError;

/// The page about all problems of a database. What cannot be shown, for want of features say, is said in its place.
pub fn page(store: &Store) -> Result<String, ReportError> {
    let problems = collected::problems(store)?;
    if problems.iter().all(|problem| problem.tried.is_empty()) {
        let path = store.path().to_path_buf();
        return Err(ReportError::NothingTried { path });
    }
    page::render(store.path(), &problems)
}
