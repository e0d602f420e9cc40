//! Types, patterns and names as documents. None of them breaks a line.

use super::Formatter;
use super::doc::Doc;
use crate::ast::{Expr, ExprKind, Pattern, PatternKind, Type, TypeKind};

impl Formatter<'_> {
    pub(super) fn ty(&mut self, ty: &Type) -> Doc {
        match &ty.kind {
            TypeKind::Scalar(scalar) => self.docs.text(scalar.name()),
            TypeKind::Vector(scalar, width) => {
                let name = self.docs.text(scalar.name());
                let width = self.vector_width(width);
                self.docs.concat(vec![name, width])
            }
            TypeKind::Name(name) => self.docs.text(name.clone()),
            TypeKind::Tuple(parts) => self.type_tuple(parts),
            TypeKind::Array(element, size) => {
                let open = self.docs.text("[");
                let element = self.ty(element);
                let semicolon = self.docs.text("; ");
                let size = self.quiet_expr(size);
                let close = self.docs.text("]");
                self.docs.concat(vec![open, element, semicolon, size, close])
            }
            TypeKind::Over(element, domain) => {
                let open = self.docs.text("[");
                let element = self.ty(element);
                let word = self.docs.text(" in ");
                let domain = self.quiet_expr(domain);
                let close = self.docs.text("]");
                self.docs.concat(vec![open, element, word, domain, close])
            }
            TypeKind::Function(params, result) => {
                // `(T, U) -> V` takes two; one that takes a tuple is `((T, U)) -> V`.
                let bare =
                    |ty: &Type| !matches!(ty.kind, TypeKind::Tuple(_) | TypeKind::Function(..));
                let params = match params.as_slice() {
                    [only] if bare(only) => self.ty(only),
                    _ => self.type_tuple(params),
                };
                let arrow = self.docs.text(" -> ");
                let result = self.ty(result);
                self.docs.concat(vec![params, arrow, result])
            }
            TypeKind::Nat => self.docs.text("nat"),
            TypeKind::Boundary => self.docs.text("boundary"),
            TypeKind::Permutation => self.docs.text("permutation"),
            TypeKind::Error => self.source(ty.span),
        }
    }

    /// The type of a cast, where an arrow is no part of it.
    pub(super) fn cast_type(&mut self, ty: &Type) -> Doc {
        match ty.kind {
            TypeKind::Function(..) => self.type_tuple(std::slice::from_ref(ty)),
            _ => self.ty(ty),
        }
    }

    fn type_tuple(&mut self, parts: &[Type]) -> Doc {
        let mut docs = vec![self.docs.text("(")];
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                docs.push(self.docs.text(", "));
            }
            docs.push(self.ty(part));
        }
        docs.push(self.docs.text(")"));
        self.docs.concat(docs)
    }

    /// `x4` or `x{m}`
    pub(super) fn vector_width(&mut self, width: &Expr) -> Doc {
        if let ExprKind::Int(lanes, None) = width.kind {
            return self.docs.text(format!("x{lanes}"));
        }
        let open = self.docs.text("x{");
        let width = self.quiet_expr(width);
        let close = self.docs.text("}");
        self.docs.concat(vec![open, width, close])
    }

    pub(super) fn pattern(&mut self, pattern: &Pattern) -> Doc {
        let text = pattern_text(pattern);
        self.docs.text(text)
    }
}

fn pattern_text(pattern: &Pattern) -> String {
    match &pattern.kind {
        PatternKind::Name(name) => name.clone(),
        PatternKind::Wildcard => "_".to_string(),
        PatternKind::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(pattern_text).collect();
            format!("({})", parts.join(", "))
        }
    }
}
