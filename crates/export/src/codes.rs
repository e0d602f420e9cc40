//! What can go wrong, by number. The first are the same for all libraries of a target; those that a program adds
//! come behind.

/// What every library may say: name, number, text.
pub const COMMON: [(&str, u32, &str); 6] = [
    ("OK", 0, "no error"),
    ("ERROR_NULL", 1, "a pointer is null"),
    ("ERROR_SIZE", 2, "a size is zero or too large"),
    ("ERROR_MEMORY", 3, "there is not enough memory"),
    ("ERROR_NOT_LISTED", 4, "there is no kernel for these sizes"),
    ("ERROR_DEVICE", 5, "the device or its driver refused"),
];

/// What libraries with a compiler inside may say besides.
pub const BUILD: (&str, u32, &str) = ("ERROR_BUILD", 6, "the kernels could not be compiled");

const FIRST: u32 = 16;

/// Sentences of the program's own, each with a number.
#[derive(Default)]
pub struct Codes {
    texts: Vec<String>,
}

impl Codes {
    /// The number of a sentence, the same for the same sentence.
    pub fn number(&mut self, text: &str) -> u32 {
        let found = self.texts.iter().position(|known| known == text);
        let index = found.unwrap_or_else(|| {
            self.texts.push(text.to_string());
            self.texts.len() - 1
        });
        FIRST + index as u32
    }

    pub fn own(&self) -> impl Iterator<Item = (u32, &str)> {
        self.texts.iter().enumerate().map(|(i, text)| (FIRST + i as u32, text.as_str()))
    }
}

/// A string in C.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            // Three of them mean something else in old C.
            '?' => out.push_str("\\?"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_has_one_number() {
        let mut codes = Codes::default();
        assert_eq!(codes.number("a"), 16);
        assert_eq!(codes.number("b"), 17);
        assert_eq!(codes.number("a"), 16);
        assert_eq!(codes.own().collect::<Vec<_>>(), [(16, "a"), (17, "b")]);
    }

    #[test]
    fn strings_survive_quoting() {
        assert_eq!(quoted("a \"b\\\n"), "\"a \\\"b\\\\\\n\"");
    }
}
