//! Documents: text with places where lines may break, and the printer that decides where they do.
//!
//! The algorithm is Wadler's ("A prettier printer") in the strict form of Lindig: a group is
//! printed on one line if it fits, and else every line break of its own is taken. Documents live
//! in an arena and the printer keeps its own stack, so that no depth of nesting troubles it.

use std::borrow::Cow;

const WIDTH: usize = 100;
const INDENT: usize = 2;

/// A document, within its [`Docs`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Doc(u32);

enum Node {
    Text(Cow<'static, str>, usize),
    /// A space, or a line break.
    Line,
    /// Nothing, or a line break.
    SoftLine,
    /// A line break always.
    HardLine,
    /// Text that waits for the end of the line: a comment.
    Suffix(String),
    Concat(Vec<Doc>),
    /// Lines within start two columns further right.
    Indent(Doc),
    /// Lines within start in the column where the document starts.
    Align(Doc),
    Group(Doc),
    /// On one line, whatever is around it.
    Flat(Doc),
    /// The first, if it fits up to the first line break that it may take; else the second.
    Choice(Doc, Doc),
}

/// The arena of documents.
#[derive(Default)]
pub(super) struct Docs {
    nodes: Vec<Node>,
    /// For each document whether it breaks the line in any case.
    breaks: Vec<bool>,
}

impl Docs {
    fn add(&mut self, node: Node, breaks: bool) -> Doc {
        self.nodes.push(node);
        self.breaks.push(breaks);
        Doc((self.nodes.len() - 1) as u32)
    }

    pub(super) fn text(&mut self, text: impl Into<Cow<'static, str>>) -> Doc {
        let text = text.into();
        let width = text.chars().count();
        self.add(Node::Text(text, width), false)
    }

    pub(super) fn line(&mut self) -> Doc {
        self.add(Node::Line, false)
    }

    pub(super) fn soft_line(&mut self) -> Doc {
        self.add(Node::SoftLine, false)
    }

    pub(super) fn hard_line(&mut self) -> Doc {
        self.add(Node::HardLine, true)
    }

    /// A comment at the end of the line. It breaks the groups around it, since a line must end
    /// for it to be printed.
    pub(super) fn suffix(&mut self, text: String) -> Doc {
        self.add(Node::Suffix(text), true)
    }

    pub(super) fn concat(&mut self, parts: Vec<Doc>) -> Doc {
        let breaks = parts.iter().any(|doc| self.breaks(*doc));
        self.add(Node::Concat(parts), breaks)
    }

    pub(super) fn indent(&mut self, doc: Doc) -> Doc {
        let breaks = self.breaks(doc);
        self.add(Node::Indent(doc), breaks)
    }

    pub(super) fn align(&mut self, doc: Doc) -> Doc {
        let breaks = self.breaks(doc);
        self.add(Node::Align(doc), breaks)
    }

    pub(super) fn group(&mut self, doc: Doc) -> Doc {
        let breaks = self.breaks(doc);
        self.add(Node::Group(doc), breaks)
    }

    /// Requires: `doc` breaks no line in any case.
    pub(super) fn flat(&mut self, doc: Doc) -> Doc {
        self.add(Node::Flat(doc), false)
    }

    /// Requires: printed on one line, both are the same.
    pub(super) fn choice(&mut self, first: Doc, second: Doc) -> Doc {
        let breaks = self.breaks(first);
        self.add(Node::Choice(first, second), breaks)
    }

    pub(super) fn breaks(&self, doc: Doc) -> bool {
        self.breaks.get(doc.0 as usize).copied().unwrap_or(false)
    }

    fn node(&self, doc: Doc) -> Option<&Node> {
        self.nodes.get(doc.0 as usize)
    }

    /// The text of a document, without a line feed at the end.
    pub(super) fn print(&self, doc: Doc) -> String {
        let mut printer = Printer { docs: self, out: Output::default(), stack: Vec::new() };
        printer.run(doc);
        printer.out.finish()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Flat,
    Break,
}

#[derive(Clone, Copy)]
struct Task {
    doc: Doc,
    mode: Mode,
    indent: usize,
}

struct Printer<'a> {
    docs: &'a Docs,
    out: Output,
    /// What is left to print, the next one last.
    stack: Vec<Task>,
}

impl Printer<'_> {
    fn run(&mut self, doc: Doc) {
        self.stack.push(Task { doc, mode: Mode::Break, indent: 0 });
        while let Some(task) = self.stack.pop() {
            let Task { mode, indent, .. } = task;
            let Some(node) = self.docs.node(task.doc) else { continue };
            match node {
                Node::Text(text, width) => self.out.text(text, *width),
                Node::Line if mode == Mode::Flat => self.out.text(" ", 1),
                Node::SoftLine if mode == Mode::Flat => {}
                Node::Line | Node::SoftLine | Node::HardLine => self.out.break_line(indent),
                Node::Suffix(text) => self.out.suffixes.push((text.clone(), indent)),
                Node::Concat(parts) => {
                    self.stack.extend(parts.iter().rev().map(|doc| Task { doc: *doc, ..task }));
                }
                Node::Indent(doc) => {
                    self.stack.push(Task { doc: *doc, indent: indent + INDENT, ..task });
                }
                Node::Align(doc) => {
                    self.stack.push(Task { doc: *doc, indent: self.out.column, ..task });
                }
                Node::Group(doc) => {
                    let flat = Task { doc: *doc, mode: Mode::Flat, indent };
                    let fits = mode == Mode::Flat || (!self.docs.breaks(*doc) && self.fits(flat));
                    self.stack.push(if fits { flat } else { Task { doc: *doc, ..task } });
                }
                Node::Flat(doc) => self.stack.push(Task { doc: *doc, mode: Mode::Flat, indent }),
                Node::Choice(first, second) => {
                    let first = Task { doc: *first, ..task };
                    let fits = mode == Mode::Flat || self.fits(first);
                    self.stack.push(if fits { first } else { Task { doc: *second, ..task } });
                }
            }
        }
    }

    /// Whether `task`, and what follows it, fits on the line up to the first line break. Behind
    /// the task, the first place where a line may break counts as one.
    fn fits(&self, task: Task) -> bool {
        let mut left = WIDTH.saturating_sub(self.out.column);
        let mut todo = vec![task];
        let mut rest = self.stack.iter().rev();
        loop {
            let Some(task) = todo.pop().or_else(|| rest.next().copied()) else { return true };
            let Some(node) = self.docs.node(task.doc) else { continue };
            let mut need = 0;
            match node {
                Node::Text(_, width) => need = *width,
                Node::HardLine => return true,
                Node::Line | Node::SoftLine if task.mode == Mode::Break => return true,
                Node::Line => need = 1,
                Node::SoftLine | Node::Suffix(_) => {}
                Node::Concat(parts) => {
                    todo.extend(parts.iter().rev().map(|doc| Task { doc: *doc, ..task }));
                }
                Node::Indent(doc) | Node::Align(doc) | Node::Group(doc) => {
                    todo.push(Task { doc: *doc, ..task });
                }
                Node::Flat(doc) => todo.push(Task { doc: *doc, mode: Mode::Flat, ..task }),
                Node::Choice(first, _) => todo.push(Task { doc: *first, ..task }),
            }
            match left.checked_sub(need) {
                Some(rest) => left = rest,
                None => return false,
            }
        }
    }
}

/// The text printed so far. Indentation is written with the first text of a line, so that empty
/// lines stay empty.
#[derive(Default)]
struct Output {
    text: String,
    column: usize,
    /// Indentation that is due.
    due: usize,
    /// Comments waiting for the end of the line, with the indentation of their surroundings.
    suffixes: Vec<(String, usize)>,
}

impl Output {
    fn text(&mut self, text: &str, width: usize) {
        self.text.extend(std::iter::repeat_n(' ', std::mem::take(&mut self.due)));
        self.text.push_str(text);
        self.column += width;
    }

    fn break_line(&mut self, indent: usize) {
        self.end_line();
        self.text.push('\n');
        self.due = indent;
        self.column = indent;
    }

    /// Prints the comments that wait: the first at the end of the line, others on lines below.
    fn end_line(&mut self) {
        for (at, (text, indent)) in std::mem::take(&mut self.suffixes).into_iter().enumerate() {
            let fresh = self.text.is_empty() || self.text.ends_with('\n');
            if at > 0 && !fresh {
                self.text.push('\n');
                self.due = indent;
            } else if !fresh {
                self.text.push(' ');
            }
            self.text(&text, 0);
        }
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.due = 0;
    }

    fn finish(mut self) -> String {
        self.end_line();
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `f(a, b)` with arguments of the given length.
    fn call(docs: &mut Docs, length: usize) -> Doc {
        let (open, close) = (docs.text("f("), docs.text(")"));
        let (first, line) = (docs.soft_line(), docs.line());
        let a = docs.text("a".repeat(length));
        let comma = docs.text(",");
        let b = docs.text("b".repeat(length));
        let inside = docs.concat(vec![first, a, comma, line, b]);
        let inside = docs.indent(inside);
        let last = docs.soft_line();
        let all = docs.concat(vec![open, inside, last, close]);
        docs.group(all)
    }

    #[test]
    fn a_group_breaks_when_it_does_not_fit() {
        let mut docs = Docs::default();
        let (short, long) = (call(&mut docs, 2), call(&mut docs, 60));
        assert_eq!(docs.print(short), "f(aa, bb)");
        let (a, b) = ("a".repeat(60), "b".repeat(60));
        assert_eq!(docs.print(long), format!("f(\n  {a},\n  {b}\n)"));
    }

    #[test]
    fn a_comment_waits_for_the_end_of_the_line() {
        let mut docs = Docs::default();
        let comment = docs.suffix("// c".to_string());
        let (x, comma, line, y) = (docs.text("x"), docs.text(","), docs.line(), docs.text("y"));
        let all = docs.concat(vec![x, comment, comma, line, y]);
        let all = docs.group(all);
        assert_eq!(docs.print(all), "x, // c\ny");
    }
}
