//! Tokens to the surface tree, by recursive descent.
//!
//! The parser always returns a tree. What could not be parsed is an `Error` node, and there is a
//! diagnostic for each. After an error the parser carries on at the next comma, semicolon, closing
//! bracket or item, and says nothing about a token it has complained about already, so that
//! independent mistakes are all reported and one mistake is reported once.
//!
//! Ensures: no branch of the tree is longer than [`MAX_HEIGHT`] nodes and a few; brackets, lambdas
//! and the like nest at most [`MAX_NESTING`] deep. Whatever walks the tree may recurse.

use lift_ir::Span;

use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::lexer::{self, Token, TokenKind};

pub use crate::lexer::Comment;
pub use strategy::{parse_strategies, parse_strategy_expr};

mod binding;
mod cursor;
mod domain;
mod expr;
mod header;
mod hint;
mod item;
mod list;
mod primary;
mod strategy;
#[cfg(test)]
mod tests;
mod types;

/// How deep brackets, lambdas, types and signs may nest.
pub const MAX_NESTING: u32 = 256;

/// How many links a chain such as `a + b + …` or `x |> f |> …` may have.
pub const MAX_HEIGHT: u32 = 2000;

/// A file as far as it could be understood.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub file: ast::File,
    /// In the order in which they stand.
    pub comments: Vec<Comment>,
    /// In order of position; empty if the file is well formed.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a whole file; `file` is its number in spans.
pub fn parse(file: u32, text: &str) -> Parsed {
    let mut parser = Parser::new(file, text);
    let items = parser.items();
    let (comments, diagnostics) = parser.finish();
    Parsed { file: ast::File { items }, comments, diagnostics }
}

/// Parses a text that is one expression.
pub fn parse_expr(file: u32, text: &str) -> (ast::Expr, Vec<Diagnostic>) {
    Parser::new(file, text).whole_expr()
}

struct Parser<'a> {
    file: u32,
    text: &'a str,
    tokens: Vec<Token>,
    comments: Vec<Comment>,
    diagnostics: Vec<Diagnostic>,
    /// The next token.
    position: usize,
    /// Where the token before that ends.
    previous_end: u32,
    /// The token at which the last error was reported.
    last_error: Option<usize>,
    /// How many diagnostics there were before the current item.
    errors_before: usize,
    /// The token in front of which a forgotten comma was last assumed.
    last_guess: Option<usize>,
    /// The brackets that are open, outermost first.
    open: Vec<TokenKind>,
    /// How many nested constructs are being parsed.
    nesting: u32,
    /// The height of the tallest tree built so far within the innermost construct.
    height: u32,
    /// Gives up on the current item: every token reads as the end of the file.
    abandoned: bool,
    /// In a test, outside all brackets, `==` stands between the two sides.
    stop_at_equal: bool,
    /// Directly inside the brackets of an array or a set, where `|` is the bar.
    bar: bool,
    /// In the value of a `let`, outside all brackets, where `in` may be another language's.
    let_value: bool,
}

impl<'a> Parser<'a> {
    /// One expression and nothing behind it.
    fn whole_expr(mut self) -> (ast::Expr, Vec<Diagnostic>) {
        let expr = self.expr();
        if !self.at(TokenKind::End) {
            let message = format!("expected the end of the expression, found {}", self.found());
            let help = hint::in_place_of_operator(&self);
            self.report(|p| Diagnostic::error(message).at(p.here(), "not expected").help_if(help));
        }
        (expr, self.finish().1)
    }

    fn new(file: u32, text: &'a str) -> Parser<'a> {
        let mut parser = Parser {
            file,
            text,
            tokens: Vec::new(),
            comments: Vec::new(),
            diagnostics: Vec::new(),
            position: 0,
            previous_end: 0,
            last_error: None,
            errors_before: 0,
            last_guess: None,
            open: Vec::new(),
            nesting: 0,
            height: 0,
            abandoned: false,
            stop_at_equal: false,
            bar: false,
            let_value: false,
        };
        if u32::try_from(text.len()).is_ok() {
            let lexed = lexer::lex(file, text);
            parser.tokens = lexed.tokens;
            parser.comments = lexed.comments;
            parser.diagnostics = lexed.diagnostics;
        } else {
            let start = Span::new(file, 0, 0);
            let error = Diagnostic::error("this file is larger than 4 GiB").at(start, "");
            parser.diagnostics.push(error);
        }
        parser
    }

    fn finish(mut self) -> (Vec<Comment>, Vec<Diagnostic>) {
        self.diagnostics.sort_by_key(|d| d.span().map(|s| (s.start, s.end)));
        (self.comments, self.diagnostics)
    }

    /// Runs `parse` one level deeper, or reports that there are too many levels.
    fn nested<T>(&mut self, too_deep: T, parse: impl FnOnce(&mut Self) -> T) -> T {
        if self.nesting > MAX_NESTING {
            self.too_deep(&MAX_NESTING.to_string());
            return too_deep;
        }
        self.nesting += 1;
        let outer = std::mem::take(&mut self.height);
        let result = parse(self);
        self.height = self.height.max(outer);
        self.nesting -= 1;
        result
    }

    /// Accounts for a node above everything built within the innermost construct.
    fn grow(&mut self) {
        self.height += 1;
        if self.height > MAX_HEIGHT {
            self.too_deep(&format!("{MAX_HEIGHT} links in a chain"));
        }
    }

    /// Whatever follows in the item would only repeat the complaint, so the item is given up.
    fn too_deep(&mut self, limit: &str) {
        self.last_error = None;
        self.report(|p| {
            Diagnostic::error(format!("this expression is nested too deeply (limit {limit})"))
                .at(p.here(), "too deep here")
                .help("name parts of it with `let`, or move them into a `def`")
        });
        self.abandoned = true;
    }
}
