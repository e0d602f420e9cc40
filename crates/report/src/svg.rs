//! Drawings as SVG, put into the page as they are: every text goes through [`escaped`].

use std::fmt::Write;

/// A drawing. Its colours are the classes of the page's style.
pub struct Svg {
    class: &'static str,
    /// What it shows, for those who do not see it.
    label: String,
    width: f64,
    height: f64,
    body: String,
}

/// Which end of a text is at its place.
#[derive(Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

impl Svg {
    pub fn new(class: &'static str, label: impl Into<String>, width: f64, height: f64) -> Svg {
        Svg { class, label: label.into(), width, height, body: String::new() }
    }

    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.add(format_args!(
            r#"<line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#
        ));
    }

    pub fn rect(&mut self, class: &str, at: (f64, f64), size: (f64, f64), title: &str) {
        let ((x, y), (w, h)) = (at, size);
        let title = titled(title);
        self.add(format_args!(
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}">{title}</rect>"#
        ));
    }

    pub fn circle(&mut self, class: &str, (x, y): (f64, f64), radius: f64, title: &str) {
        let title = titled(title);
        self.add(format_args!(
            r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{radius:.1}">{title}</circle>"#
        ));
    }

    pub fn polyline(&mut self, class: &str, points: &[(f64, f64)], title: &str) {
        let (points, title) = (listed(points), titled(title));
        self.add(format_args!(r#"<polyline class="{class}" points="{points}">{title}</polyline>"#));
    }

    pub fn polygon(&mut self, class: &str, points: &[(f64, f64)], title: &str) {
        let (points, title) = (listed(points), titled(title));
        self.add(format_args!(r#"<polygon class="{class}" points="{points}">{title}</polygon>"#));
    }

    pub fn text(&mut self, class: &str, anchor: Anchor, (x, y): (f64, f64), text: &str) {
        let (anchor, text) = (anchor.name(), escaped(text));
        self.add(format_args!(
            r#"<text class="{class}" text-anchor="{anchor}" x="{x:.1}" y="{y:.1}">{text}</text>"#
        ));
    }

    /// Read from below to above.
    pub fn upright_text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        let text = escaped(text);
        self.add(format_args!(
            r#"<text class="{class}" text-anchor="middle" transform="translate({x:.1} {y:.1}) rotate(-90)">{text}</text>"#
        ));
    }

    pub fn finish(self) -> String {
        let Svg { class, label, width, height, body } = self;
        let label = escaped(&label);
        format!(
            "<svg class=\"chart {class}\" role=\"img\" aria-label=\"{label}\" viewBox=\"0 0 {width:.0} {height:.0}\">\
             \n{body}</svg>\n"
        )
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        // A string takes whatever is written.
        writeln!(self.body, "{element}").ok();
    }
}

fn listed(points: &[(f64, f64)]) -> String {
    points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<String>>().join(" ")
}

/// What is shown when one points at it.
fn titled(title: &str) -> String {
    if title.is_empty() { String::new() } else { format!("<title>{}</title>", escaped(title)) }
}

pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        let mut svg = Svg::new("histogram", "a \"label\" <b>", 10.0, 10.0);
        svg.text("tick", Anchor::End, (0.0, 0.0), "<script>");
        svg.rect("bar", (0.0, 0.0), (1.0, 1.0), "</title>&'");
        let text = svg.finish();
        assert!(text.contains("aria-label=\"a &quot;label&quot; &lt;b&gt;\""), "{text}");
        assert!(text.contains(">&lt;script&gt;</text>"), "{text}");
        assert!(text.contains("<title>&lt;/title&gt;&amp;&#39;</title>"), "{text}");
    }
}
