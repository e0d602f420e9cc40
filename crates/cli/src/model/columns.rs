//! Tables for people to read.

/// Rows as columns of equal width: texts to the left, numbers to the right. The first row is the headings.
pub fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cells = |k: usize| rows.iter().filter_map(move |row| row.get(k));
    let width = |k: usize| cells(k).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let is_number = |cell: &String| cell.parse::<f64>().is_ok() || cell == NOTHING;
    let shapes: Vec<(usize, bool)> =
        (0..count).map(|k| (width(k), cells(k).skip(1).all(is_number))).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&shapes).map(|(cell, (width, numbers))| match numbers {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        });
        cells.collect::<Vec<String>>().join("  ").trim_end().to_string() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Stands for a number that there is none of.
pub const NOTHING: &str = "-";

/// A number with so many decimals.
pub fn decimals(value: impl Into<Option<f64>>, decimals: usize) -> String {
    value.into().map_or(NOTHING.to_string(), |value| format!("{value:.decimals$}"))
}
