//! Lists between brackets.

use super::Formatter;
use super::doc::Doc;
use crate::ast::{Expr, ExprKind};

/// The documents of a list's elements, with their comments.
pub(super) struct Elements {
    docs: Vec<Doc>,
    /// Whether comments stand in front of or behind each.
    commented: Vec<bool>,
    /// Whether comments stand in front of the first.
    led: bool,
    /// Whether a comment stands behind the last.
    trailed: bool,
    /// Comments in front of the closing bracket.
    dangling: Option<Doc>,
}

impl Formatter<'_> {
    /// The elements of a list that ends at byte `end`, each printed by `print` and taking up the
    /// places that `span` gives.
    pub(super) fn elements<T>(
        &mut self,
        items: &[T],
        end: u32,
        span: impl Fn(&T) -> (u32, u32),
        mut print: impl FnMut(&mut Self, &T) -> Doc,
    ) -> Elements {
        let mut elements = Elements {
            docs: Vec::new(),
            commented: Vec::new(),
            led: false,
            trailed: false,
            dangling: None,
        };
        for item in items {
            let (start, end) = span(item);
            let lead = self.leading(start);
            let doc = print(self, item);
            let trail = self.trailing(end, ",");
            elements.led |= elements.docs.is_empty() && lead.is_some();
            elements.trailed = trail.is_some();
            elements.commented.push(lead.is_some() || trail.is_some());
            let parts = lead.into_iter().chain([doc]).chain(trail).collect();
            elements.docs.push(self.docs.concat(parts));
        }
        elements.dangling = self.own_lines(end);
        elements
    }

    pub(super) fn expr_elements(&mut self, items: &[Expr], end: u32) -> Elements {
        self.elements(items, end, |e| (e.span.start, e.span.end), |f, e| f.expr(e))
    }

    /// `(a, b)`, or one element a line, indented.
    pub(super) fn bracketed(
        &mut self,
        open: &'static str,
        elements: Elements,
        close: &'static str,
    ) -> Doc {
        let open = self.docs.text(open);
        let close = self.docs.text(close);
        if elements.docs.is_empty() && elements.dangling.is_none() {
            return self.docs.concat(vec![open, close]);
        }
        let mut inside = vec![self.docs.soft_line()];
        let joined = self.comma_separated(&elements.docs);
        inside.push(joined);
        inside.extend(self.on_line_below(&elements));
        let inside = self.docs.concat(inside);
        let inside = self.docs.indent(inside);
        let end = self.docs.soft_line();
        let all = self.docs.concat(vec![open, inside, end, close]);
        self.docs.group(all)
    }

    /// The arguments of a call behind its function. A lambda in the last place may break alone,
    /// as in `map(xs, \x ->`, if what stands in front of it fits on the line.
    pub(super) fn call(&mut self, function: Doc, arguments: &[Expr], end: u32) -> Doc {
        let elements = self.expr_elements(arguments, end);
        let hugged = match self.docs.breaks(function) {
            true => None,
            false => self.hugged(arguments, &elements),
        };
        let broken = self.bracketed("(", elements, ")");
        let broken = self.docs.concat(vec![function, broken]);
        let Some(hugged) = hugged else { return broken };
        let flat = self.docs.flat(function);
        let hugged = self.docs.concat(vec![flat, hugged]);
        self.docs.choice(hugged, broken)
    }

    fn hugged(&mut self, arguments: &[Expr], elements: &Elements) -> Option<Doc> {
        let (last, first) = elements.docs.split_last()?;
        let loose = hugs(arguments)
            && elements.dangling.is_none()
            && !elements.commented.iter().any(|c| *c)
            && !first.iter().any(|doc| self.docs.breaks(*doc));
        if !loose {
            return None;
        }
        let mut parts = vec![self.docs.text("(")];
        for doc in first {
            parts.push(self.docs.flat(*doc));
            parts.push(self.docs.text(", "));
        }
        parts.push(*last);
        parts.push(self.docs.text(")"));
        Some(self.docs.concat(parts))
    }

    /// `[a, b]` or `(a, b)` as a value: elements below each other, or, where they are all short,
    /// as many a line as fit.
    pub(super) fn aligned(
        &mut self,
        open: &'static str,
        items: &[Expr],
        end: u32,
        close: &'static str,
    ) -> Doc {
        let elements = self.expr_elements(items, end);
        let open = self.docs.text(open);
        let close = self.docs.text(close);
        let fill = items.len() > 1 && items.iter().all(is_short);
        let inside =
            if fill { self.filled(&elements) } else { self.comma_separated(&elements.docs) };
        let mut parts = Vec::new();
        if elements.led {
            parts.push(self.docs.hard_line());
        }
        parts.push(inside);
        parts.extend(self.on_line_below(&elements));
        let inside = self.docs.concat(parts);
        let inside = self.docs.align(inside);
        let mut all = vec![open, inside];
        if elements.dangling.is_some() || elements.trailed {
            all.push(self.docs.hard_line());
        }
        all.push(close);
        let all = self.docs.concat(all);
        if fill { all } else { self.docs.group(all) }
    }

    fn comma_separated(&mut self, docs: &[Doc]) -> Doc {
        let mut parts = Vec::new();
        for (at, doc) in docs.iter().enumerate() {
            if at > 0 {
                parts.push(self.docs.text(","));
                parts.push(self.docs.line());
            }
            parts.push(*doc);
        }
        self.docs.concat(parts)
    }

    fn filled(&mut self, elements: &Elements) -> Doc {
        let mut parts = Vec::new();
        for (at, doc) in elements.docs.iter().enumerate() {
            if at == 0 {
                parts.push(*doc);
                continue;
            }
            parts.push(self.docs.text(","));
            // A comment needs its line: it must not end up behind the next element.
            let commented = elements.commented.iter().skip(at - 1).take(2).any(|c| *c);
            let line = if commented { self.docs.hard_line() } else { self.docs.line() };
            let part = self.docs.concat(vec![line, *doc]);
            parts.push(if commented { part } else { self.docs.group(part) });
        }
        self.docs.concat(parts)
    }

    fn on_line_below(&mut self, elements: &Elements) -> Option<Doc> {
        let dangling = elements.dangling?;
        if elements.docs.is_empty() {
            return Some(dangling);
        }
        let line = self.docs.hard_line();
        Some(self.docs.concat(vec![line, dangling]))
    }
}

/// Whether a call with these arguments may keep them on its line and break within the last one.
pub(super) fn hugs(arguments: &[Expr]) -> bool {
    match arguments {
        [only] if matches!(only.kind, ExprKind::Array(_) | ExprKind::Tuple(_)) => true,
        [.., last] => ends_in_lambda(last),
        [] => false,
    }
}

/// Whether the last thing in an expression is the body of a lambda, but for closing brackets.
pub(super) fn ends_in_lambda(mut expr: &Expr) -> bool {
    loop {
        match &expr.kind {
            ExprKind::Lambda(..) => return true,
            ExprKind::Call(_, arguments) => match arguments.last() {
                Some(last) => expr = last,
                None => return false,
            },
            _ => return false,
        }
    }
}

/// Literals and names: things of which several share a line.
fn is_short(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(..) | ExprKind::Float(..) | ExprKind::Bool(_) | ExprKind::Name(_) => true,
        ExprKind::Unary(_, inner) => {
            matches!(inner.kind, ExprKind::Int(..) | ExprKind::Float(..) | ExprKind::Name(_))
        }
        _ => false,
    }
}
