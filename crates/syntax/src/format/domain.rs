//! Domains and iterations as documents.

use super::Formatter;
use super::doc::Doc;
use super::item::Header;
use crate::ast::{Domain, Expr, Name, Pattern, Points, Rec, Set};

impl Formatter<'_> {
    /// `domain upper[n] = { (a, b) | a < b, b < n }`
    pub(super) fn domain_item(&mut self, item: &Domain) -> Doc {
        let mut name = format!("domain {}", item.name.text);
        if !item.sizes.is_empty() {
            name.push_str(&format!("[{}]", names(&item.sizes)));
        }
        let name = self.docs.text(name);
        let mut result = Vec::new();
        if let Some(address) = &item.address {
            result.push(self.docs.text(": "));
            result.push(self.points(address));
        }
        let set = self.set(&item.set);
        self.laid_out(Header { name, params: None, result, clauses: Vec::new() }, None, set)
    }

    /// `grid[n, n](a, b)`
    fn points(&mut self, points: &Points) -> Doc {
        let mut parts = Vec::new();
        if let Some(domain) = &points.domain {
            parts.push(self.quiet_expr(domain));
        }
        parts.push(self.docs.text(format!("({})", names(&points.indices))));
        self.docs.concat(parts)
    }

    /// `{ (a, b) | a < b, b < n }`, on one line: where comments stand inside, they follow.
    pub(super) fn set(&mut self, set: &Set) -> Doc {
        let mut parts = vec![self.docs.text("{ "), self.points(&set.points)];
        for (at, constraint) in set.constraints.iter().enumerate() {
            parts.push(self.docs.text(if at == 0 { " | " } else { ", " }));
            parts.push(self.quiet_expr(constraint));
        }
        parts.push(self.docs.text(if set.constraints.is_empty() { " | }" } else { " }" }));
        self.docs.concat(parts)
    }

    /// `[ e | p in D ]`, the bar in front of its line if it is broken.
    pub(super) fn iteration(
        &mut self,
        value: &Expr,
        pattern: &Pattern,
        domain: &Expr,
        end: u32,
    ) -> Doc {
        let mut parts: Vec<Doc> = self.leading(value.span.start).into_iter().collect();
        parts.push(self.expr(value));
        parts.extend(self.trailing(value.span.end, "|"));
        parts.push(self.docs.line());
        parts.extend(self.leading(pattern.span.start));
        parts.push(self.docs.text("| "));
        parts.push(self.pattern(pattern));
        parts.push(self.docs.text(" in "));
        parts.push(self.expr(domain));
        let trail = self.trailing(domain.span.end, "");
        let dangling = self.own_lines(end);
        let commented = trail.is_some() || dangling.is_some();
        parts.extend(trail);
        if let Some(dangling) = dangling {
            parts.push(self.docs.hard_line());
            parts.push(dangling);
        }
        let inside = self.docs.concat(parts);
        let inside = self.docs.align(inside);
        let open = self.docs.text("[ ");
        let space = if commented { self.docs.hard_line() } else { self.docs.text(" ") };
        let close = self.docs.text("]");
        let all = self.docs.concat(vec![open, inside, space, close]);
        self.docs.group(all)
    }

    /// Two expressions with a word between them.
    pub(super) fn joined(&mut self, left: &Expr, word: &'static str, right: &Expr) -> Doc {
        let left_doc = self.expr(left);
        let word = self.docs.text(word);
        let right = self.expr(right);
        self.docs.concat(vec![left_doc, word, right])
    }

    /// `rec t = [ … ]; body`, the body on a line of its own.
    pub(super) fn rec(&mut self, rec: &Rec) -> Doc {
        let mut parts = vec![self.docs.text(format!("rec {}", rec.name.text))];
        if let Some(element) = &rec.element {
            parts.push(self.docs.text(": "));
            parts.push(self.ty(element));
        }
        parts.push(self.docs.text(" ="));
        parts.push(self.below(&rec.value, false));
        parts.push(self.docs.text(";"));
        parts.extend(self.trailing(rec.value.span.end, ";"));
        parts.push(self.docs.hard_line());
        parts.extend(self.leading(rec.body.span.start));
        parts.push(self.expr(&rec.body));
        self.docs.concat(parts)
    }
}

fn names(names: &[Name]) -> String {
    let texts: Vec<&str> = names.iter().map(|n| n.text.as_str()).collect();
    texts.join(", ")
}
