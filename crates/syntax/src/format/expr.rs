//! Expressions as documents.

use lift_ir::BinaryOp;

use super::Formatter;
use super::doc::Doc;
use super::list::ends_in_lambda;
use crate::ast::{Expr, ExprKind, Limit, Pattern};

/// The signs that may stand between an operand and the comment behind it.
const OPERATORS: &str = "|>&=<!+-*/%^";

/// When this little of the stack is left, the next expression gets a new piece of it.
const RED_ZONE: usize = 128 * 1024;
const STACK: usize = 2 * 1024 * 1024;

impl Formatter<'_> {
    /// Between two brackets there are up to ten strengths of operators, each a level of the
    /// recursion here: more than a thread's stack holds in a build without optimisation.
    pub(super) fn expr(&mut self, expr: &Expr) -> Doc {
        stacker::maybe_grow(RED_ZONE, STACK, || self.expr_kind(expr))
    }

    fn expr_kind(&mut self, expr: &Expr) -> Doc {
        match &expr.kind {
            ExprKind::Int(value, suffix) => {
                let suffix = suffix.map_or("", |s| s.name());
                self.docs.text(format!("{value}{suffix}"))
            }
            ExprKind::Float(digits, suffix) => {
                let suffix = suffix.map_or("", |s| s.name());
                self.docs.text(format!("{digits}{suffix}"))
            }
            ExprKind::Bool(value) => self.docs.text(if *value { "true" } else { "false" }),
            ExprKind::Name(name) => self.docs.text(name.clone()),
            ExprKind::Limit(scalar, limit) => {
                let limit = match limit {
                    Limit::Min => "min",
                    Limit::Max => "max",
                };
                self.docs.text(format!("{scalar}::{limit}"))
            }
            ExprKind::Vector(scalar, width, lanes) => {
                let name = self.docs.text(scalar.name());
                let width = self.vector_width(width);
                let name = self.docs.concat(vec![name, width]);
                self.call(name, lanes, expr.span.end)
            }
            ExprKind::Tuple(parts) => self.aligned("(", parts, expr.span.end, ")"),
            ExprKind::Array(parts) => self.aligned("[", parts, expr.span.end, "]"),
            ExprKind::Paren(inner) => {
                self.aligned("(", std::slice::from_ref(inner), expr.span.end, ")")
            }
            ExprKind::Section(op) => self.docs.text(format!("({})", op.symbol())),
            ExprKind::Unary(op, operand) => {
                let sign = self.docs.text(op.symbol());
                let operand = self.expr(operand);
                self.docs.concat(vec![sign, operand])
            }
            ExprKind::Binary(..) | ExprKind::Pipe(..) => self.chain(expr),
            ExprKind::Cast(..) | ExprKind::Call(..) | ExprKind::Field(..) | ExprKind::Index(..) => {
                self.postfix(expr)
            }
            ExprKind::Lambda(params, body) => self.lambda(params, body),
            ExprKind::Let(..) => self.lets(expr, false),
            ExprKind::If(..) => self.conditional(expr),
            ExprKind::Each(value, pattern, domain) => {
                self.iteration(value, pattern, domain, expr.span.end)
            }
            ExprKind::In(point, domain) => self.joined(point, " in ", domain),
            ExprKind::Range(from, to) => self.joined(from, " .. ", to),
            ExprKind::Set(set) => self.set(set),
            ExprKind::Rec(rec) => self.rec(rec),
            ExprKind::Error => self.source(expr.span),
        }
    }

    /// An expression on one line, in a place where no comment can be printed.
    pub(super) fn quiet_expr(&mut self, expr: &Expr) -> Doc {
        let outer = std::mem::replace(&mut self.quiet, true);
        let doc = self.expr(expr);
        self.quiet = outer;
        if self.docs.breaks(doc) { doc } else { self.docs.flat(doc) }
    }

    /// Operators of one strength, which stand in front of their lines if the chain is broken.
    fn chain(&mut self, expr: &Expr) -> Doc {
        let (first, links) = links(expr);
        let first_doc = self.expr(first);
        let mut parts = vec![first_doc];
        parts.extend(self.trailing(first.span.end, OPERATORS));
        let mut last_doc = first_doc;
        for (at, (symbol, operand)) in links.iter().enumerate() {
            parts.push(self.docs.line());
            parts.extend(self.leading(operand.span.start));
            parts.push(self.docs.text(format!("{symbol} ")));
            last_doc = self.expr(operand);
            parts.push(last_doc);
            if at + 1 < links.len() {
                parts.extend(self.trailing(operand.span.end, OPERATORS));
            }
        }
        let commented = parts.iter().any(|doc| self.docs.breaks(*doc) && *doc != last_doc);
        let broken = self.docs.concat(parts);
        let broken = self.docs.group(broken);
        // One stage that ends in a lambda: `xs |> map(\x ->`, with the body below.
        match links.as_slice() {
            [("|>", stage)] if ends_in_lambda(stage) && !commented => {
                let flat = self.docs.flat(first_doc);
                let pipe = self.docs.text(" |> ");
                let hugged = self.docs.concat(vec![flat, pipe, last_doc]);
                self.docs.choice(hugged, broken)
            }
            _ => broken,
        }
    }

    /// Calls, projections, indices and casts, from the inside out.
    fn postfix(&mut self, expr: &Expr) -> Doc {
        let mut layers = Vec::new();
        let mut base = expr;
        while let ExprKind::Cast(inner, _)
        | ExprKind::Call(inner, _)
        | ExprKind::Field(inner, _)
        | ExprKind::Index(inner, _) = &base.kind
        {
            layers.push(base);
            base = inner;
        }
        let mut doc = self.expr(base);
        let mut integer = matches!(base.kind, ExprKind::Int(_, None));
        for layer in layers.into_iter().rev() {
            doc = match &layer.kind {
                ExprKind::Call(_, arguments) => self.call(doc, arguments, layer.span.end),
                ExprKind::Field(_, place) => {
                    // `1.0` would be one number.
                    let space = if integer { " " } else { "" };
                    let field = self.docs.text(format!("{space}.{place}"));
                    self.docs.concat(vec![doc, field])
                }
                ExprKind::Index(_, indices) => {
                    let index = self.aligned("[", indices, layer.span.end, "]");
                    self.docs.concat(vec![doc, index])
                }
                ExprKind::Cast(_, ty) => {
                    let word = self.docs.text(" as ");
                    let ty = self.cast_type(ty);
                    self.docs.concat(vec![doc, word, ty])
                }
                _ => doc,
            };
            integer = false;
        }
        doc
    }

    fn lambda(&mut self, params: &[Pattern], body: &Expr) -> Doc {
        let mut parts = vec![self.docs.text("\\")];
        for (at, param) in params.iter().enumerate() {
            if at > 0 {
                parts.push(self.docs.text(" "));
            }
            parts.push(self.pattern(param));
        }
        parts.push(self.docs.text(" ->"));
        parts.push(self.below(body, matches!(body.kind, ExprKind::Lambda(..))));
        self.docs.concat(parts)
    }

    /// An expression behind `=`, `->` and the like: on the same line if it fits there, else on
    /// the lines below. What `stays` begins on the same line in any case, unless comments stand
    /// in front.
    pub(super) fn below(&mut self, expr: &Expr, stays: bool) -> Doc {
        let lead = self.leading(expr.span.start);
        let doc = self.expr(expr);
        self.below_doc(lead, doc, stays)
    }

    pub(super) fn below_doc(&mut self, lead: Option<Doc>, doc: Doc, stays: bool) -> Doc {
        if stays && lead.is_none() {
            let space = self.docs.text(" ");
            return self.docs.concat(vec![space, doc]);
        }
        let line = self.docs.line();
        let all = self.docs.concat([line].into_iter().chain(lead).chain([doc]).collect());
        let all = self.docs.indent(all);
        self.docs.group(all)
    }

    /// `let x = e; body`, a line each; a single one may share the line of its body, unless it is
    /// the body of an item.
    pub(super) fn lets(&mut self, expr: &Expr, apart: bool) -> Doc {
        let mut bindings = Vec::new();
        let mut body = expr;
        while let ExprKind::Let(pattern, value, rest) = &body.kind {
            bindings.push((pattern, value));
            body = rest;
        }
        let single = bindings.len() == 1 && !apart;
        let mut parts = Vec::new();
        let mut next_starts = bindings.iter().skip(1).map(|(p, _)| p.span.start);
        for (pattern, value) in &bindings {
            parts.push(self.docs.text("let "));
            parts.push(self.pattern(pattern));
            parts.push(self.docs.text(" ="));
            parts.push(self.below(value, matches!(value.kind, ExprKind::Array(_))));
            self.comments.reached(value.span.end);
            parts.extend(self.trailing(value.span.end, ";"));
            parts.push(self.docs.text(";"));
            let next = next_starts.next().unwrap_or(body.span.start);
            let blank = self.comments.blank_before(self.comments.next_start(next));
            if blank && !self.quiet {
                parts.push(self.docs.hard_line());
            }
            parts.push(if single { self.docs.line() } else { self.docs.hard_line() });
            parts.extend(self.leading(next));
        }
        parts.push(self.expr(body));
        let all = self.docs.concat(parts);
        self.docs.group(all)
    }

    /// `if c then a else b`; a broken one has its branches indented on lines of their own, and
    /// `else if` on one line.
    fn conditional(&mut self, expr: &Expr) -> Doc {
        let mut parts = Vec::new();
        let mut rest = expr;
        while let ExprKind::If(condition, yes, no) = &rest.kind {
            parts.push(self.docs.text("if"));
            let lead = self.leading(condition.span.start);
            let stays = lead.is_none();
            let doc = self.expr(condition);
            parts.push(self.below_doc(lead, doc, stays));
            let trail = self.trailing(condition.span.end, "");
            let stays = stays && trail.is_none();
            parts.extend(trail);
            parts.push(if stays { self.docs.text(" ") } else { self.docs.line() });
            parts.push(self.docs.text("then"));
            parts.push(self.branch(yes));
            parts.extend(self.trailing(yes.span.end, ""));
            parts.push(self.docs.line());
            // The next thing is the word `else`, whose place is not in the tree.
            let word = self.comments.next_sign(yes.span.end, "");
            parts.extend(self.leading(word));
            parts.push(self.docs.text("else"));
            rest = no;
            let commented = self.comments.next_start(no.span.start) < no.span.start;
            if !matches!(no.kind, ExprKind::If(..)) || commented {
                parts.push(self.branch(no));
                break;
            }
            parts.push(self.docs.text(" "));
        }
        let all = self.docs.concat(parts);
        self.docs.group(all)
    }

    fn branch(&mut self, expr: &Expr) -> Doc {
        let line = self.docs.line();
        let lead = self.leading(expr.span.start);
        let doc = self.expr(expr);
        let all = self.docs.concat([line].into_iter().chain(lead).chain([doc]).collect());
        self.docs.indent(all)
    }
}

/// The first operand of a chain, and each further one with the operator in front of it.
fn links(expr: &Expr) -> (&Expr, Vec<(&'static str, &Expr)>) {
    let strength = chain_strength(expr);
    let mut links = Vec::new();
    let mut first = expr;
    while chain_strength(first) == strength {
        let (symbol, left, right) = match &first.kind {
            ExprKind::Pipe(left, right) => ("|>", left, right),
            ExprKind::Binary(op, left, right) => (op.symbol(), left, right),
            _ => break,
        };
        links.push((symbol, &**right));
        first = left;
    }
    links.reverse();
    (first, links)
}

/// Which chain an expression is a link of; none if it is no link.
fn chain_strength(expr: &Expr) -> Option<u8> {
    match &expr.kind {
        ExprKind::Pipe(..) => Some(u8::MAX),
        ExprKind::Binary(op, ..) => Some(BinaryOp::strength(*op)),
        _ => None,
    }
}
