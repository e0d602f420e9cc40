//! The canonical layout of a file: two columns of indentation, lines of at most 100 characters.
//!
//! The tree is printed as it was parsed, parentheses included, so the meaning stays. Every comment
//! is kept. The text of a formatted file is its own canonical layout.

use lift_ir::Span;

use crate::ast::Item;
use crate::parser::{Comment, Parsed};
use comments::Comments;
use doc::{Doc, Docs};

mod comments;
mod doc;
mod domain;
mod expr;
mod item;
mod list;
mod types;

/// The canonical layout of a file.
///
/// Requires: `parsed` comes from `text` and has no errors.
pub fn format(parsed: &Parsed, text: &str) -> String {
    let comments = Comments::new(&parsed.comments, text);
    let docs = Docs::default();
    let mut formatter = Formatter { text, comments, docs, quiet: false };
    let mut page = Page::default();
    for item in &parsed.file.items {
        formatter.own_comments(item::span(item).start, &mut page);
        let blank = formatter.comments.blank_before(item::span(item).start);
        let printed = formatter.item_text(item);
        page.item(item, &printed, blank);
    }
    formatter.own_comments(u32::MAX, &mut page);
    page.finish()
}

/// The file as printed so far.
#[derive(Default)]
struct Page<'a> {
    text: String,
    /// The last item, and whether it took one line.
    last: Option<(&'a Item, bool)>,
    /// Comments that stand in front of the next item, with the blank lines in between.
    comments: String,
    /// Whether the user left a blank line in front of those comments.
    blank: bool,
}

impl<'a> Page<'a> {
    fn comment(&mut self, comment: &Comment, blank: bool) {
        if self.comments.is_empty() {
            self.blank = blank;
        } else if blank {
            self.comments.push('\n');
        }
        self.comments.push_str(&comment.text);
        self.comments.push('\n');
    }

    /// Items have one blank line between them; only items of one kind that take a line each may
    /// stand without, if the user has them so.
    fn item(&mut self, item: &'a Item, printed: &str, blank: bool) {
        let short = !printed.contains('\n');
        let wanted = if self.comments.is_empty() { blank } else { self.blank };
        let apart = match self.last {
            None => false,
            Some((last, last_short)) => {
                let alike = std::mem::discriminant(last) == std::mem::discriminant(item);
                wanted || !(alike && short && last_short)
            }
        };
        if apart {
            self.text.push('\n');
        }
        if !self.comments.is_empty() {
            self.text.push_str(&std::mem::take(&mut self.comments));
            if blank {
                self.text.push('\n');
            }
        }
        self.text.push_str(printed);
        self.text.push('\n');
        self.last = Some((item, short));
    }

    fn finish(mut self) -> String {
        if self.blank && !self.comments.is_empty() && self.last.is_some() {
            self.text.push('\n');
        }
        self.text.push_str(&self.comments);
        self.text
    }
}

/// Turns the tree into documents, weaving the comments in.
struct Formatter<'a> {
    text: &'a str,
    comments: Comments<'a>,
    docs: Docs,
    /// Within a type no comment can be printed: they all wait.
    quiet: bool,
}

impl<'a> Formatter<'a> {
    /// Hands the comments in front of byte `start` to the page.
    fn own_comments(&mut self, start: u32, page: &mut Page<'a>) {
        for comment in self.comments.before(start) {
            page.comment(comment, self.comments.blank_before(comment.span.start));
            self.comments.reached(comment.span.end);
        }
    }

    fn item_text(&mut self, item: &Item) -> String {
        let span = item::span(item);
        let doc = self.item(item);
        self.comments.reached(span.end);
        let trail = self.trailing(span.end, "");
        let all = self.docs.concat([doc].into_iter().chain(trail).collect());
        let text = self.docs.print(all);
        self.docs = Docs::default();
        text
    }

    /// The comments in front of byte `start`, each with a line of its own and a line break behind.
    fn leading(&mut self, start: u32) -> Option<Doc> {
        let lines = self.own_lines(start)?;
        let line = self.docs.hard_line();
        Some(self.docs.concat(vec![lines, line]))
    }

    /// The comments in front of byte `start`, one a line.
    fn own_lines(&mut self, start: u32) -> Option<Doc> {
        if self.quiet {
            return None;
        }
        let comments = self.comments.before(start);
        let mut parts = Vec::new();
        for comment in comments {
            if !parts.is_empty() {
                parts.push(self.docs.hard_line());
            }
            parts.push(self.docs.text(comment.text.clone()));
            self.comments.reached(comment.span.end);
        }
        (!parts.is_empty()).then(|| self.docs.concat(parts))
    }

    /// The comment at the end of the line behind byte `end`.
    fn trailing(&mut self, end: u32, signs: &str) -> Option<Doc> {
        if self.quiet {
            return None;
        }
        let comment = self.comments.behind(end, signs)?;
        self.comments.reached(comment.span.end);
        Some(self.docs.suffix(comment.text.clone()))
    }

    /// The text of a place as it is.
    fn source(&mut self, span: Span) -> Doc {
        let text = self.text.get(span.start as usize..span.end as usize).unwrap_or("");
        self.docs.text(text.to_string())
    }
}
