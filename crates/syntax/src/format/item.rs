//! Items as documents.

use lift_ir::Span;

use super::Formatter;
use super::doc::Doc;
use crate::ast::{Def, Expr, ExprKind, Extern, Item, Launch, Param, Test, Type};
use crate::lexer::quote;

pub(super) fn span(item: &Item) -> Span {
    match item {
        Item::Fn(item) => item.span,
        Item::Extern(item) => item.span,
        Item::Def(item) => item.span,
        Item::Const(item) => item.span,
        Item::Domain(item) => item.span,
        Item::Import(item) => item.span,
        Item::Test(item) => item.span,
    }
}

/// The part of an item in front of `=`.
pub(super) struct Header {
    /// The keyword, the name, and what follows it up to the parameters.
    pub(super) name: Doc,
    pub(super) params: Option<Doc>,
    pub(super) result: Vec<Doc>,
    /// `where` and `launch`.
    pub(super) clauses: Vec<Doc>,
}

impl Formatter<'_> {
    pub(super) fn item(&mut self, item: &Item) -> Doc {
        let doc = match item {
            Item::Fn(item) => {
                let name = self.docs.text(format!("fn {}", item.name.text));
                let params = self.params(&item.params);
                let result = self.result(item.ret.as_ref());
                let header = Header { name, params: Some(params), result, clauses: Vec::new() };
                self.defined(header, &item.body)
            }
            Item::Def(item) => self.def(item),
            Item::Const(item) => {
                let name = self.docs.text(format!("const {}", item.name.text));
                let header = Header { name, params: None, result: Vec::new(), clauses: Vec::new() };
                self.defined(header, &item.value)
            }
            Item::Domain(item) => self.domain_item(item),
            Item::Import(item) => self.docs.text(format!("import {}", quote(&item.path))),
            Item::Test(item) => self.test(item),
            Item::Extern(item) => self.external(item),
        };
        let end = self.docs.text(";");
        self.docs.concat(vec![doc, end])
    }

    /// The header and the body: on one line, or the body below the header. A header that does not
    /// fit on a line breaks before each clause.
    fn defined(&mut self, header: Header, body: &Expr) -> Doc {
        let lead = self.leading(body.span.start);
        let body_doc = match body.kind {
            ExprKind::Let(..) => self.lets(body, true),
            _ => self.expr(body),
        };
        self.laid_out(header, lead, body_doc)
    }

    pub(super) fn laid_out(&mut self, header: Header, lead: Option<Doc>, body: Doc) -> Doc {
        let Header { name, params, result, clauses } = header;
        let equal = self.docs.text(" =");
        let start: Vec<Doc> = [name].into_iter().chain(params).chain(result).collect();

        let mut broken = start.clone();
        for clause in &clauses {
            let line = self.docs.hard_line();
            let clause = self.docs.concat(vec![line, *clause]);
            broken.push(self.docs.indent(clause));
        }
        broken.push(equal);
        let line = self.docs.hard_line();
        let below = self.docs.concat([line].into_iter().chain(lead).chain([body]).collect());
        broken.push(self.docs.indent(below));
        let broken = self.docs.concat(broken);
        if start.iter().chain(&clauses).any(|doc| self.docs.breaks(*doc)) {
            return broken;
        }

        let mut line = start;
        for clause in clauses {
            line.push(self.docs.text(" "));
            line.push(clause);
        }
        let line = self.docs.concat(line);
        let line = self.docs.flat(line);
        let body = self.below_doc(lead, body, false);
        let line = self.docs.concat(vec![line, equal, body]);
        self.docs.choice(line, broken)
    }

    fn def(&mut self, def: &Def) -> Doc {
        let mut name = vec![self.docs.text(format!("def {}", def.name.text))];
        name.extend(self.generics(def));
        let name = self.docs.concat(name);
        let params = self.params(&def.params);
        let result = self.result(def.ret.as_ref());
        let mut clauses = Vec::new();
        clauses.extend(self.wheres(&def.wheres));
        for launch in &def.launches {
            clauses.push(self.launch(launch));
        }
        self.defined(Header { name, params: Some(params), result, clauses }, &def.body)
    }

    /// `[M, N; T = 16]`
    fn generics(&mut self, def: &Def) -> Vec<Doc> {
        if def.generics.is_empty() && def.parameters.is_empty() {
            return Vec::new();
        }
        let mut parts = vec![self.docs.text("[")];
        for (at, generic) in def.generics.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            let kind = if generic.is_type { ": type" } else { "" };
            parts.push(self.docs.text(format!("{comma}{}{kind}", generic.name.text)));
        }
        for (at, parameter) in def.parameters.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "; " };
            parts.push(self.docs.text(format!("{comma}{}", parameter.name.text)));
            if let Some(default) = &parameter.default {
                parts.push(self.docs.text(" = "));
                parts.push(self.quiet_expr(default));
            }
        }
        parts.push(self.docs.text("]"));
        parts
    }

    fn params(&mut self, params: &[Param]) -> Doc {
        // The place of the closing bracket is not in the tree.
        let end = params.last().map_or(0, |p| self.comments.next_sign(p.ty.span.end, ","));
        let span = |p: &Param| (p.name.span.start, p.ty.span.end);
        let elements = self.elements(params, end, span, |f, p| f.param(p));
        self.bracketed("(", elements, ")")
    }

    fn param(&mut self, param: &Param) -> Doc {
        let name = self.docs.text(format!("{}: ", param.name.text));
        let ty = self.ty(&param.ty);
        self.docs.concat(vec![name, ty])
    }

    fn result(&mut self, ret: Option<&Type>) -> Vec<Doc> {
        let Some(ret) = ret else { return Vec::new() };
        let arrow = self.docs.text(" -> ");
        let ty = self.ty(ret);
        let trail = self.trailing(ret.span.end, "=");
        [arrow, ty].into_iter().chain(trail).collect()
    }

    fn wheres(&mut self, wheres: &[Expr]) -> Option<Doc> {
        let first = wheres.first()?;
        let mut parts: Vec<Doc> = self.leading(first.span.start).into_iter().collect();
        parts.push(self.docs.text("where "));
        let mut clauses = Vec::new();
        for (at, clause) in wheres.iter().enumerate() {
            if at > 0 {
                clauses.push(self.docs.text(","));
                clauses.push(self.docs.line());
                clauses.extend(self.leading(clause.span.start));
            }
            clauses.push(self.expr(clause));
            let signs = if at + 1 < wheres.len() { "," } else { "=" };
            clauses.extend(self.trailing(clause.span.end, signs));
        }
        let clauses = self.docs.concat(clauses);
        let clauses = self.docs.align(clauses);
        parts.push(self.docs.group(clauses));
        Some(self.docs.concat(parts))
    }

    fn launch(&mut self, launch: &Launch) -> Doc {
        let mut parts: Vec<Doc> = self.leading(launch.span.start).into_iter().collect();
        parts.push(self.docs.text("launch"));
        for (clause, counts) in &launch.clauses {
            parts.push(self.docs.text(format!(" {}", clause.name())));
            for (at, count) in counts.iter().enumerate() {
                parts.push(self.docs.text(if at > 0 { ", " } else { "(" }));
                parts.push(self.quiet_expr(count));
            }
            parts.push(self.docs.text(")"));
        }
        parts.extend(self.trailing(launch.span.end, "="));
        self.docs.concat(parts)
    }

    fn test(&mut self, test: &Test) -> Doc {
        let head = self.docs.text(format!("test {}:", test.name.text));
        let mut parts = vec![self.docs.line()];
        parts.extend(self.leading(test.left.span.start));
        parts.push(self.expr(&test.left));
        parts.extend(self.trailing(test.left.span.end, "=~"));
        parts.push(self.docs.line());
        parts.extend(self.leading(test.right.span.start));
        parts.push(self.docs.text(if test.approximate { "~= " } else { "== " }));
        parts.push(self.expr(&test.right));
        let sides = self.docs.concat(parts);
        let sides = self.docs.indent(sides);
        let sides = self.docs.group(sides);
        self.docs.concat(vec![head, sides])
    }

    fn external(&mut self, item: &Extern) -> Doc {
        let targets = quote(&item.targets);
        let name = self.docs.text(format!("extern {targets} fn {}", item.name.text));
        let params = self.params(&item.params);
        let result = self.result(Some(&item.ret));
        let code = self.docs.text(quote(&item.code));
        let header = Header { name, params: Some(params), result, clauses: Vec::new() };
        self.laid_out(header, None, code)
    }
}
