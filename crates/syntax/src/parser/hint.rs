//! Remedies for likely mistakes: what other languages write where this one writes something else.

use super::{Parser, primary, types};
use crate::lexer::TokenKind;

/// The token stands where an operator, or the end of an expression, was expected.
pub(super) fn in_place_of_operator(p: &Parser) -> Option<String> {
    let text = match p.kind() {
        TokenKind::Equal => "equality is written `==`",
        TokenKind::FatArrow => "the arrow of a lambda is written `->`",
        TokenKind::Arrow => "a lambda is written `\\x -> body`",
        TokenKind::ColonEqual => "a value is named by `let x = value; body`",
        TokenKind::Colon => "the types of expressions are not written",
        TokenKind::LeftBrace => "there are no blocks: parentheses group expressions",
        TokenKind::TildeEqual => "`~=` stands in tests only, outside all brackets",
        TokenKind::Name => match p.token_text(p.token()) {
            "and" => "write `&&`",
            "or" => "write `||`",
            "mod" => "write `%`",
            "for" | "while" | "return" => "there are no statements: a program is an expression",
            "in" => "a `let` is written `let x = value; body`",
            _ => return None,
        },
        TokenKind::Int | TokenKind::Float => "arguments stand in parentheses: `f(x)`",
        _ => return None,
    };
    Some(text.to_string())
}

/// The token stands where an expression was expected.
pub(super) fn in_place_of_expr(p: &Parser) -> Option<String> {
    let text = match p.kind() {
        TokenKind::Plus if primary::starts_expr_kind(p.ahead(1)) => {
            "there is no sign `+`; as a function, addition is `(+)`"
        }
        TokenKind::LeftBrace => "there are no blocks: parentheses group expressions",
        TokenKind::Dot => "a number has a digit in front of its point: `0.5`",
        TokenKind::PipeRight => "something must stand on the left of it",
        TokenKind::Or => "a lambda is written `\\x -> body`",
        TokenKind::And => "there are no references: leave out the `&`",
        TokenKind::Arrow | TokenKind::FatArrow => "a lambda is written `\\x -> body`",
        kind if super::expr::binary_op(kind).is_some() => {
            "as a function, an operator stands alone in parentheses, such as `(*)`"
        }
        _ => return None,
    };
    Some(text.to_string())
}

/// The token stands where a type was expected.
pub(super) fn in_place_of_type(p: &Parser) -> Option<String> {
    let text = match p.kind() {
        TokenKind::And => "there are no references: leave out the `&`",
        TokenKind::Int => "an array type is written `[element; size]`",
        _ => return None,
    };
    Some(text.to_string())
}

/// A type, `text`, stands where a value was expected.
pub(super) fn type_as_value(p: &Parser, text: &str) -> Option<String> {
    match p.ahead(1) {
        TokenKind::LeftParen if text != "_" => Some(format!("a cast is written `x as {text}`")),
        _ if text == "_" => Some("`_` stands for a parameter that is not used".to_string()),
        _ => None,
    }
}

/// A type stands where a name was to be declared, perhaps in front of it.
pub(super) fn type_before_name(p: &Parser) -> Option<String> {
    let text = p.token_text(p.token());
    let known = p.ahead(1) == TokenKind::Name || types::vector(text).is_some();
    known.then(|| format!("the type follows the name: `name: {text}`"))
}

/// What to say about the unknown suffix of a number.
pub(super) fn suffix(text: &str) -> &'static str {
    if text.starts_with('_') {
        "digits are not separated"
    } else if text.starts_with(['x', 'X', 'b', 'o']) {
        "numbers are written in decimal"
    } else {
        "the suffixes are the scalar types, as in `1u8` or `1.0f64`"
    }
}

/// The keyword that may have been meant by a name in front of an item.
pub(super) fn item_keyword(word: &str) -> Option<TokenKind> {
    match word {
        "fun" | "func" | "function" | "Fn" | "lambda" => Some(TokenKind::Fn),
        "define" | "Def" | "kernel" | "program" | "proc" => Some(TokenKind::Def),
        "val" | "var" | "constant" | "static" => Some(TokenKind::Const),
        "use" | "include" | "require" => Some(TokenKind::Import),
        "assert" => Some(TokenKind::Test),
        _ => None,
    }
}
