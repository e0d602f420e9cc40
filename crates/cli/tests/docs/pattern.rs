//! Output with gaps.

/// Whether `shown` is what was printed: every line of it, the parts between `…` in order, and nothing between
/// lines but where a line is `…` alone. Spaces at the ends of lines do not count.
pub fn matches(shown: &str, printed: &str) -> bool {
    let lines = |text: &str| -> Vec<String> {
        text.trim_end().lines().map(|line| line.trim_end().to_string()).collect()
    };
    let (shown, printed) = (lines(shown), lines(printed));
    rest(&shown, &printed)
}

fn rest(shown: &[String], printed: &[String]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, None) => true,
        (None, Some(_)) => false,
        (Some((gap, after)), _) if gap.trim() == "…" => {
            (0..=printed.len()).any(|skipped| rest(after, &printed[skipped..]))
        }
        (Some(_), None) => false,
        (Some((line, after)), Some((found, others))) => one(line, found) && rest(after, others),
    }
}

fn one(line: &str, found: &str) -> bool {
    let parts: Vec<&str> = line.split('…').collect();
    let [first, between @ .., last] = parts.as_slice() else { return line == found };
    let Some(mut left) = found.strip_prefix(first) else { return false };
    for part in between {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

#[test]
fn gaps_stand_for_anything() {
    assert!(matches("a\nb", "a  \nb\n"));
    assert!(!matches("a", "a\nb"));
    assert!(!matches("a\nb", "a"));
    assert!(matches("kernel time: … ms", "kernel time: 0.12 ms"));
    assert!(!matches("kernel time: … ms", "kernel time: 0.12 s"));
    assert!(matches("a … c … e", "a b c d e"));
    assert!(!matches("a … c", "a c"), "what stands around a gap is there");
    assert!(matches("first\n…\nlast", "first\n2\n3\nlast"));
    assert!(matches("first\n…", "first"));
    assert!(!matches("…\nlast", "first"));
}
