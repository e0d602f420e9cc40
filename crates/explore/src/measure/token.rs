//! The secret that lets a worker in.

use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Shorter ones can be guessed.
const SHORTEST: usize = 16;

/// A line of text is enough; whoever has a longer file has named the wrong one.
const LONGEST: u64 = 1024;

/// Known to a search and its workers alone. It is never printed.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Reads a file that nobody else can read.
    pub fn read(path: &Path) -> Result<Token, String> {
        let shown = path.display();
        let failed = |error: std::io::Error| format!("cannot read the token in {shown}: {error}");
        let about = fs::metadata(path).map_err(failed)?;
        if about.permissions().mode() & 0o077 != 0 {
            return Err(format!("others can read the token in {shown}: `chmod 600 {shown}`"));
        }
        if about.len() > LONGEST {
            return Err(format!("{shown} is too long for a token: it has one line"));
        }
        Token::new(&fs::read_to_string(path).map_err(failed)?)
            .map_err(|why| format!("the token in {shown} {why}"))
    }

    /// A text, without the space around it.
    pub fn new(text: &str) -> Result<Token, String> {
        let text = text.trim();
        if text.len() < SHORTEST {
            return Err(format!("has fewer than {SHORTEST} characters: it can be guessed"));
        }
        Ok(Token(text.to_string()))
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    /// Takes as long for any other text of the same length, so that time does not tell how much of it is right.
    pub fn is(&self, other: &str) -> bool {
        let (own, other) = (self.0.as_bytes(), other.as_bytes());
        let differences = own.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b));
        std::hint::black_box(differences) == 0 && own.len() == other.len()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0123456789abcdef";

    #[test]
    fn a_token_is_itself_and_nothing_else() {
        let token = Token::new(&format!("  {SECRET}\n")).expect("it is long enough");
        assert!(token.is(SECRET));
        for other in ["", "0", "0123456789abcdeF", "0123456789abcdef0", "0123456789abcde"] {
            assert!(!token.is(other), "{other}");
        }
        assert_eq!(format!("{token:?}"), "Token");
    }

    #[test]
    fn a_token_is_long_and_nobody_else_can_read_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("token");
        let read = |text: &str, mode: u32| {
            fs::write(&path, text).expect("written");
            fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("ours");
            Token::read(&path).map(|token| token.text().to_string())
        };
        assert_eq!(read(SECRET, 0o600), Ok(SECRET.to_string()));
        assert!(read(SECRET, 0o640).is_err_and(|why| why.contains("chmod 600")));
        assert!(read("short", 0o600).is_err_and(|why| why.contains("can be guessed")));
        assert!(read(&SECRET.repeat(100), 0o600).is_err_and(|why| why.contains("too long")));
        assert!(Token::read(&folder.path().join("none")).is_err());
    }
}
