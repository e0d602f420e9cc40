//! The kinds of token and how each is spelled.

/// A token with its place in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub start: u32,
    pub end: u32,
}

/// Declares the kinds with one spelling, and the tables that map between the two.
macro_rules! tokens {
    (keywords { $($keyword:ident $word:literal)* } symbols { $($symbol:ident $sign:literal)* }) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum TokenKind {
            Name,
            Int,
            Float,
            /// A string.
            Text,
            /// Characters that make no token; reported already.
            Unknown,
            /// The end of the text.
            End,
            $($keyword,)*
            $($symbol,)*
        }

        const KEYWORDS: &[(TokenKind, &str)] = &[$((TokenKind::$keyword, $word),)*];
        const SYMBOLS: &[(TokenKind, &str)] = &[$((TokenKind::$symbol, $sign),)*];
    };
}

tokens! {
    keywords {
        True "true"
        False "false"
        Let "let"
        If "if"
        Then "then"
        Else "else"
        Fn "fn"
        Def "def"
        Const "const"
        Import "import"
        Test "test"
        Extern "extern"
        Where "where"
        Launch "launch"
        As "as"
    }
    // Longer ones first: the first that fits is taken.
    symbols {
        PipeRight "|>"
        Shl "<<"
        Shr ">>"
        OrOr "||"
        AndAnd "&&"
        EqualEqual "=="
        NotEqual "!="
        LessEqual "<="
        GreaterEqual ">="
        TildeEqual "~="
        Arrow "->"
        ColonColon "::"
        DotDot ".."
        // The next three mean nothing in the language; they are tokens so that the parser can say what
        // to write instead.
        FatArrow "=>"
        ColonEqual ":="
        StarStar "**"
        And "&"
        Or "|"
        Caret "^"
        Tilde "~"
        Less "<"
        Greater ">"
        Plus "+"
        Minus "-"
        Star "*"
        Slash "/"
        Percent "%"
        Bang "!"
        Equal "="
        Backslash "\\"
        LeftParen "("
        RightParen ")"
        LeftBracket "["
        RightBracket "]"
        LeftBrace "{"
        RightBrace "}"
        Comma ","
        Semicolon ";"
        Colon ":"
        Dot "."
    }
}

impl TokenKind {
    /// How a keyword or a symbol is written; none for the other kinds.
    pub(crate) fn spelling(self) -> Option<&'static str> {
        KEYWORDS.iter().chain(SYMBOLS).find(|(kind, _)| *kind == self).map(|(_, text)| *text)
    }

    /// Whether an item of a file starts here. No expression holds such a token.
    pub(crate) fn starts_item(self) -> bool {
        use TokenKind::*;
        matches!(self, Fn | Def | Const | Import | Test | Extern)
    }

    /// The bracket that closes this one.
    pub(crate) fn closer(self) -> Option<TokenKind> {
        match self {
            TokenKind::LeftParen => Some(TokenKind::RightParen),
            TokenKind::LeftBracket => Some(TokenKind::RightBracket),
            TokenKind::LeftBrace => Some(TokenKind::RightBrace),
            _ => None,
        }
    }

    pub(crate) fn is_closer(self) -> bool {
        use TokenKind::*;
        matches!(self, RightParen | RightBracket | RightBrace)
    }
}

pub(super) fn keyword(word: &str) -> Option<TokenKind> {
    KEYWORDS.iter().find(|(_, text)| *text == word).map(|(kind, _)| *kind)
}

/// The symbol that `rest` starts with.
pub(super) fn symbol(rest: &str) -> Option<(TokenKind, &'static str)> {
    SYMBOLS.iter().find(|(_, text)| rest.starts_with(text)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_symbol_is_hidden_behind_a_shorter_one() {
        for (kind, text) in SYMBOLS {
            assert_eq!(symbol(text), Some((*kind, *text)));
        }
    }
}
