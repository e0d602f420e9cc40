//! "Did you mean …": the known name that was probably meant by an unknown one.

/// The name nearest to `name`, if it is near for its length: one slip in three letters. Letters left out, put in,
/// changed or swapped with their neighbour are a slip. In short names a changed letter is two, since short words that
/// differ by a letter are mostly other words: `sort` is not `sqrt`.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let limit = (name.chars().count() / 3).max(1);
    let others = known.into_iter().filter(|k| *k != name);
    let ranked = others.map(|k| (slips(name, k), k));
    // Ties go to the first in the alphabet, so that the answer does not depend on hashing.
    ranked.filter(|(d, k)| *d <= limit && *d < k.chars().count()).min().map(|(_, k)| k)
}

/// The same as a remedy: `did you mean …?`
pub fn did_you_mean<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
    nearest(name, known).map(|near| format!("did you mean `{near}`?"))
}

/// Shorter names are short.
const SHORT: usize = 5;

/// The cost of the cheapest way from one name to the other; small and capital letters are the same.
fn slips(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (
        a.chars().take(64).map(|c| c.to_ascii_lowercase()).collect(),
        b.chars().take(64).map(|c| c.to_ascii_lowercase()).collect(),
    );
    let changed = if a.len() < SHORT { 2 } else { 1 };
    let width = b.len() + 1;
    let mut table = vec![0usize; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let change = if a[i - 1] == b[j - 1] { 0 } else { changed };
                let mut best = (table[(i - 1) * width + j] + 1)
                    .min(table[i * width + j - 1] + 1)
                    .min(table[(i - 1) * width + j - 1] + change);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(table[(i - 2) * width + j - 2] + 1);
                }
                best
            };
        }
    }
    table[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_pen_are_understood() {
        let known =
            ["map", "zip", "transpose", "take", "mapSeq", "reduce", "xs", "reduceSeq", "total"];
        for (name, meant) in [
            ("mpa", "map"),
            ("mapp", "map"),
            ("tranpose", "transpose"),
            ("tarnspose", "transpose"),
            ("mapseq", "mapSeq"),
            ("reduse", "reduce"),
            ("totel", "total"),
            ("redcueSeq", "reduceSeq"),
            ("x", "xs"),
        ] {
            assert_eq!(nearest(name, known), Some(meant), "{name}");
        }
    }

    #[test]
    fn other_words_are_other_words() {
        let known = [
            "floor", "exp", "sqrt", "map", "zip", "sin", "min", "tan", "abs", "log", "head", "scan",
        ];
        for name in ["filter", "erf", "sort", "quux", "sum", "fold", "mean", "len", "any", "read"] {
            assert_eq!(nearest(name, known), None, "{name}");
        }
        assert_eq!(nearest("x", ["y"]), None);
        assert_eq!(nearest("badc", ["abcd"]), None, "two slips in four letters");
        assert_eq!(nearest("map", ["map"]), None, "what is known is not meant by itself");
    }

    #[test]
    fn ties_go_to_the_first_in_the_alphabet() {
        assert_eq!(nearest("abc", ["abcz", "abcd"]), Some("abcd"));
    }
}
