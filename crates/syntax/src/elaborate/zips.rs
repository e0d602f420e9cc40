//! `zip2` and `zip3` of more than two arrays, which the prelude cannot say: as many as are given.

use lift_ir::{Build, Built, Expr, Span};

use super::errors::{Parts, all};
use super::{Elaborator, Given, Hint, Result};

/// How many dimensions a function of the prelude zips.
pub(super) fn zipped_dimensions(name: &str) -> Option<usize> {
    match name {
        "zip2" => Some(2),
        "zip3" => Some(3),
        _ => None,
    }
}

impl<'a> Elaborator<'a> {
    /// `zip2(a, b, c) = zip(a, b, c) |> map(\(x, y, z) -> zip(x, y, z))`
    pub(super) fn zip_deep(
        &self,
        dimensions: usize,
        given: &[Given<'a>],
        span: Span,
    ) -> Result<Expr> {
        let arrays = all(given.iter().map(|g| self.value(g, Hint::None)))?;
        let parts = Parts::with_args(span, given.iter().map(Given::span));
        let built = zipped(Build::new(&self.cx), dimensions, &arrays);
        built.map(|made| made.with_span(span)).map_err(|fault| parts.blame(fault))
    }
}

fn zipped(b: Build, dimensions: usize, arrays: &[Expr]) -> Built {
    let rows = b.zip(arrays);
    if dimensions == 1 {
        return rows;
    }
    let rows_of = |tuple: Expr| {
        let rows: std::result::Result<Vec<Expr>, _> =
            (0..arrays.len() as u32).map(|k| b.field(&tuple, k)).collect();
        zipped(b, dimensions - 1, &rows?)
    };
    b.map(rows_of, rows)
}
