//! What notebooks display.

/// Text as HTML shows it.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A table of names and values, and texts to unfold below it.
pub fn report(rows: &[(&str, String)], texts: &[(&str, &str)]) -> String {
    let rows = rows.iter().map(|(name, value)| {
        format!("<tr><th>{}</th><td>{}</td></tr>", escaped(name), escaped(value))
    });
    let texts = texts.iter().map(|(name, text)| {
        format!(
            "<details><summary>{}</summary><pre>{}</pre></details>",
            escaped(name),
            escaped(text)
        )
    });
    format!("<table>{}</table>{}", rows.collect::<String>(), texts.collect::<String>())
}
