//! Tables for people: columns as wide as they have to be.

/// The headings and the rows, a line each.
pub fn of<const N: usize>(
    headings: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let rows: Vec<[String; N]> = std::iter::once(headings.map(String::from)).chain(rows).collect();
    let widths: [usize; N] = std::array::from_fn(|column| {
        let widths = rows.iter().filter_map(|row| row.get(column));
        widths.map(|cell| cell.chars().count()).max().unwrap_or(0)
    });
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["1", "mm"], ["23", "a long name"]].map(|row| row.map(String::from));
        assert_eq!(super::of(["id", "name"], rows), "id  name\n1   mm\n23  a long name\n");
    }
}
