//! Compilers' logs: where the first error is, and the source around it.

/// The line of the source that the log's first error names.
///
/// Compilers write `file:LINE:COLUMN: error` (GCC, Clang and most OpenCL drivers) or
/// `file(LINE): error` (NVRTC); some put the word `error` first.
pub fn first_error_line(log: &str) -> Option<usize> {
    log.lines().filter(|line| line.contains("error")).find_map(line_number)
}

fn line_number(message: &str) -> Option<usize> {
    message.char_indices().filter(|(_, c)| matches!(c, ':' | '(')).find_map(|(at, open)| {
        let rest = &message[at + 1..];
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let close = if open == '(' { ')' } else { ':' };
        rest[digits..].starts_with(close).then(|| rest[..digits].parse().ok())?
    })
}

/// A few numbered lines around `line`, which counts from 1 and is marked.
pub fn excerpt(source: &str, line: usize) -> Option<String> {
    const AROUND: usize = 3;
    let lines: Vec<&str> = source.lines().collect();
    if line == 0 || line > lines.len() {
        return None;
    }
    let first = line.saturating_sub(AROUND).max(1);
    let last = (line + AROUND).min(lines.len());
    let width = last.to_string().len();
    let numbered = (first..=last).map(|number| {
        let mark = if number == line { '>' } else { ' ' };
        format!("{mark} {number:width$} | {}", lines[number - 1])
    });
    Some(numbered.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_compilers_way_of_naming_a_line() {
        let line = |log| first_error_line(log);
        assert_eq!(line("k.c: In function 'k':\nk.c:12:5: error: 'x' undeclared"), Some(12));
        assert_eq!(line("<kernel>:3:9: error: use of undeclared identifier"), Some(3));
        assert_eq!(line("error: /tmp/a-1.cl:7:1: expected ';'"), Some(7));
        assert_eq!(line("saxpy.cu(41): error: identifier \"x\" is undefined"), Some(41));
    }

    #[test]
    fn warnings_and_plain_words_name_no_line() {
        assert_eq!(first_error_line("k.c:12:5: warning: unused"), None);
        assert_eq!(first_error_line("ptxas error : too much shared data (0xc008 bytes)"), None);
    }

    #[test]
    fn an_excerpt_is_numbered_and_marked() {
        let source = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj";
        let expected = "   6 | f\n   7 | g\n   8 | h\n>  9 | i\n  10 | j";
        assert_eq!(excerpt(source, 9).as_deref(), Some(expected));
        assert_eq!(excerpt("only", 1).as_deref(), Some("> 1 | only"));
    }

    #[test]
    fn a_line_outside_the_source_has_no_excerpt() {
        assert_eq!(excerpt("only", 0), None);
        assert_eq!(excerpt("only", 2), None);
    }
}
