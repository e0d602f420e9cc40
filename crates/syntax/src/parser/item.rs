//! The items of a file: `fn`, `def`, `const`, `domain`, `import`, `test` and `extern`.

use super::{Parser, hint, primary};
use crate::ast::{Const, Def, Expr, Extern, Fn, Import, Item, Test, Type, TypeKind};
use crate::diagnostic::Diagnostic;
use crate::lexer::{TokenKind, unescape};

impl Parser<'_> {
    pub(super) fn items(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        while !self.at(TokenKind::End) {
            self.errors_before = self.diagnostics.len();
            if let Some(item) = self.item() {
                items.push(item);
            } else {
                self.abandoned = true;
            }
            // What follows a faulty item on its line, or indented below it, belongs to it.
            let rest = self.faulty() && !self.kind().starts_item() && !self.at_start_of_line();
            if self.abandoned || rest {
                self.next_item();
            }
        }
        items
    }

    /// Whether an error was found in the current item.
    pub(super) fn faulty(&self) -> bool {
        self.diagnostics.len() > self.errors_before
    }

    /// One item; none if not even its name is known, or if no item starts here. Both are reported.
    fn item(&mut self) -> Option<Item> {
        let start = self.token().start;
        let kind = match self.kind() {
            TokenKind::Name if self.at_domain_item() => {
                return self.domain_item(start).map(Item::Domain);
            }
            TokenKind::Name => self.misspelled_keyword()?,
            kind => kind,
        };
        match kind {
            TokenKind::Fn => self.function(start).map(Item::Fn),
            TokenKind::Def => self.def(start).map(Item::Def),
            TokenKind::Const => self.constant(start).map(Item::Const),
            TokenKind::Import => self.import(start).map(Item::Import),
            TokenKind::Test => self.test(start).map(Item::Test),
            TokenKind::Extern => self.external(start).map(Item::Extern),
            _ => {
                let help = match kind {
                    TokenKind::Semicolon => Some("one `;` ends an item".to_string()),
                    TokenKind::Let => Some("in a file, values are named by `const`".to_string()),
                    _ => None,
                };
                self.expected(ITEM, help);
                None
            }
        }
    }

    /// Complains about a name where an item should start; gives the keyword it stands for.
    fn misspelled_keyword(&mut self) -> Option<TokenKind> {
        let keyword = hint::item_keyword(self.token_text(self.token()));
        let help = match keyword {
            Some(TokenKind::Fn) => Some("a scalar function starts with `fn`".to_string()),
            Some(kind) => kind.spelling().map(|word| format!("did you mean `{word}`?")),
            None => None,
        };
        self.expected(ITEM, help);
        keyword
    }

    /// Skips what is left of an item that was given up. The next one starts with its keyword,
    /// which stands nowhere else except for the `fn` of an `extern`, or, where that is misspelled,
    /// at the start of a line behind a `;`.
    pub(super) fn next_item(&mut self) {
        self.abandoned = false;
        (self.stop_at_equal, self.bar, self.let_value) = (false, false, false);
        self.open.clear();
        self.nesting = 0;
        self.height = 0;
        let mut behind_semicolon = false;
        while !self.at(TokenKind::End) {
            let keyword = self.kind().starts_item();
            let inside = self.at(TokenKind::Fn) && self.behind_extern();
            if (keyword && !inside) || (behind_semicolon && self.at_start_of_line()) {
                break;
            }
            behind_semicolon = self.bump().kind == TokenKind::Semicolon;
        }
    }

    fn at_start_of_line(&self) -> bool {
        let before = self.text.get(..self.token().start as usize).unwrap_or("");
        before.is_empty() || before.ends_with('\n')
    }

    /// Whether the last tokens are `extern` and perhaps its string.
    fn behind_extern(&self) -> bool {
        let before = |n: usize| {
            self.position.checked_sub(n).and_then(|at| self.tokens.get(at)).map(|t| t.kind)
        };
        before(1) == Some(TokenKind::Extern)
            || (before(1) == Some(TokenKind::Text) && before(2) == Some(TokenKind::Extern))
    }

    /// Takes the `;` of an item. Without one, what is left of the item is given up.
    pub(super) fn end_of_item(&mut self) {
        if self.eat(TokenKind::Semicolon) {
            return;
        }
        let kind = self.kind();
        if kind == TokenKind::End || kind.starts_item() {
            self.report(|p| {
                Diagnostic::error(format!("expected `;`, found {}", p.found()))
                    .at(p.behind(), "expected `;`")
            });
            return;
        }
        use TokenKind::{Colon, Comma, Else, Equal, Then};
        if self.faulty()
            && (kind.is_closer() || matches!(kind, Colon | Comma | Else | Equal | Then))
        {
            // Most likely left over from what was reported before.
        } else if kind.is_closer() {
            self.report(|p| {
                Diagnostic::error(format!("{} closes nothing", p.found()))
                    .at(p.here(), "no bracket is open here")
            });
        } else {
            self.expected("an operator or `;`", hint::in_place_of_operator(self));
        }
        self.abandoned = true;
    }

    fn function(&mut self, start: u32) -> Option<Fn> {
        self.bump();
        let name = self.name("the name of a function")?;
        let params = self.params();
        let ret = self.result_type();
        let body = self.body();
        self.end_of_item();
        Some(Fn { name, params, ret, body, span: self.since(start) })
    }

    fn def(&mut self, start: u32) -> Option<Def> {
        self.bump();
        let name = self.name("the name of a program")?;
        let (generics, parameters) = self.generics();
        let params = self.params();
        let ret = self.result_type();
        let mut wheres = self.wheres();
        let launches = self.launches();
        if self.at(TokenKind::Where) {
            self.report(|p| {
                Diagnostic::error("`where` stands before `launch`, and once")
                    .at(p.here(), "too late")
                    .help("several clauses are separated by commas")
            });
            wheres.extend(self.wheres());
        }
        let body = self.body();
        self.end_of_item();
        let span = self.since(start);
        Some(Def { name, generics, parameters, params, ret, wheres, launches, body, span })
    }

    fn constant(&mut self, start: u32) -> Option<Const> {
        self.bump();
        let name = self.name("the name of a constant")?;
        self.unwanted_type();
        let value = self.body();
        self.end_of_item();
        Some(Const { name, value, span: self.since(start) })
    }

    fn import(&mut self, start: u32) -> Option<Import> {
        self.bump();
        let path = self.string("the name of a file between quotes")?;
        self.end_of_item();
        Some(Import { path, span: self.since(start) })
    }

    /// The `==` or `~=` between the sides is the first one outside all brackets.
    fn test(&mut self, start: u32) -> Option<Test> {
        self.bump();
        let name = self.name("the name of a test")?;
        if !self.expect(TokenKind::Colon, "behind the name of the test") {
            self.eat(TokenKind::Equal);
            self.skip_one_before(TokenKind::Colon);
        }
        self.stop_at_equal = true;
        let left = self.expr();
        self.stop_at_equal = false;
        let approximate = self.at(TokenKind::TildeEqual);
        let separated = self.eat(TokenKind::TildeEqual) || self.eat(TokenKind::EqualEqual);
        if !separated {
            let help = match self.kind() {
                TokenKind::Equal => "equality is written `==`",
                _ => "a test is written `test name: expression == expected;`",
            };
            self.expected("`==` or `~=`", Some(help.to_string()));
        }
        let right = if separated || self.eat(TokenKind::Equal) {
            self.expr()
        } else {
            self.abandoned = true;
            self.error_expr()
        };
        self.end_of_item();
        Some(Test { name, left, approximate, right, span: self.since(start) })
    }

    fn external(&mut self, start: u32) -> Option<Extern> {
        self.bump();
        let targets = self.string("the targets between quotes, such as `\"opencl,cuda\"`");
        if !self.expect(TokenKind::Fn, "and the function's name") {
            return None;
        }
        let name = self.name("the name of a function")?;
        let params = self.params();
        let ret = self.result_type().unwrap_or_else(|| {
            self.expected("`->` and a result type, which an `extern` needs", None);
            Type { kind: TypeKind::Error, span: self.here() }
        });
        self.equal_sign("and the code between quotes");
        let code = self.string("the code between quotes");
        if code.is_none() {
            self.abandoned = true;
        }
        self.end_of_item();
        let (targets, code) = (targets.unwrap_or_default(), code.unwrap_or_default());
        Some(Extern { name, targets, params, ret, code, span: self.since(start) })
    }

    fn string(&mut self, what: &str) -> Option<String> {
        if !self.at(TokenKind::Text) {
            self.expected(what, None);
            return None;
        }
        let token = self.bump();
        Some(unescape(self.token_text(token)))
    }

    /// `= e`. Without the `=`, what follows is given up unless it reads as an expression.
    pub(super) fn body(&mut self) -> Expr {
        if self.at(TokenKind::LeftBrace) {
            let help = "a body is written `= expression;`".to_string();
            self.expected("`=` and the body", Some(help));
        } else if self.equal_sign("and the body") || primary::starts_expr(self) {
            return self.expr();
        }
        self.abandoned = true;
        self.error_expr()
    }
}

const ITEM: &str = "`fn`, `def`, `const`, `domain`, `import`, `test` or `extern`";
