//! Which declarations use which: there is no recursion, and no name means nothing.

use std::collections::{BTreeMap, BTreeSet};

use lift_ir::Span;

use super::iterations::takes_domain;
use super::scope::{Declaration, Declarations};
use crate::ast::{Expr, ExprKind, Pattern, PatternKind, Type, TypeKind};
use crate::diagnostic::Diagnostic;

/// One error a cycle of declarations that use each other.
pub(super) fn check(declarations: &Declarations) -> Vec<Diagnostic> {
    let uses: BTreeMap<&str, Vec<(&str, Span)>> = declarations
        .by_name
        .iter()
        .map(|(name, declaration)| {
            let mut used = Vec::new();
            free_names(*declaration, &mut |free, span| {
                if let Some((known, _)) = declarations.by_name.get_key_value(free) {
                    used.push((*known, span));
                }
            });
            (*name, used)
        })
        .collect();
    let mut done = BTreeSet::new();
    let mut errors = Vec::new();
    for name in uses.keys() {
        let mut path: Vec<(&str, Span)> = Vec::new();
        visit(name, &uses, &mut path, &mut done, &mut errors);
    }
    errors
}

/// Depth first; `path` holds the uses that lead here. Declarations are few, so this may recurse.
fn visit<'a>(
    name: &'a str,
    uses: &BTreeMap<&'a str, Vec<(&'a str, Span)>>,
    path: &mut Vec<(&'a str, Span)>,
    done: &mut BTreeSet<&'a str>,
    errors: &mut Vec<Diagnostic>,
) {
    if done.contains(name) {
        return;
    }
    for (used, span) in uses.get(name).into_iter().flatten() {
        path.push((name, *span));
        if let Some(start) = path.iter().position(|(on_path, _)| on_path == used) {
            errors.push(cycle(&path[start..]));
        } else {
            stacker::maybe_grow(super::exprs::RED_ZONE, super::exprs::STACK, || {
                visit(used, uses, path, done, errors);
            });
        }
        path.pop();
        if !errors.is_empty() {
            break;
        }
    }
    done.insert(name);
}

fn cycle(path: &[(&str, Span)]) -> Diagnostic {
    let names: Vec<&str> = path.iter().map(|(name, _)| *name).collect();
    let first = names.first().copied().unwrap_or_default();
    let message = match names.as_slice() {
        [own] => format!("`{own}` uses itself: there is no recursion"),
        _ => format!("`{}` → `{first}` is a circle: there is no recursion", names.join("` → `")),
    };
    let mut diagnostic = Diagnostic::error(message);
    for (i, (name, span)) in path.iter().enumerate() {
        let text = format!("used by `{name}` here");
        diagnostic = if i == 0 { diagnostic.at(*span, text) } else { diagnostic.also(*span, text) };
    }
    diagnostic.help("`iterate` and `reduceSeq` repeat a computation")
}

/// Calls `found` on every name in a declaration that it does not bind itself.
pub(super) fn free_names<'a>(declaration: Declaration<'a>, found: &mut dyn FnMut(&'a str, Span)) {
    let mut walk = Walk { bound: Vec::new(), found };
    match declaration {
        Declaration::Fn(f) => {
            for param in &f.params {
                walk.ty(&param.ty);
            }
            walk.bound.extend(f.params.iter().map(|p| p.name.text.as_str()));
            walk.expr(&f.body);
        }
        Declaration::Def(def) => {
            walk.bound.extend(def.generics.iter().map(|g| g.name.text.as_str()));
            walk.bound.extend(def.parameters.iter().map(|p| p.name.text.as_str()));
            for parameter in &def.parameters {
                parameter.default.iter().for_each(|d| walk.expr(d));
            }
            for param in &def.params {
                walk.ty(&param.ty);
            }
            walk.bound.extend(def.params.iter().map(|p| p.name.text.as_str()));
            def.ret.iter().for_each(|ty| walk.ty(ty));
            def.wheres.iter().for_each(|e| walk.expr(e));
            for launch in &def.launches {
                launch.sizes().for_each(|e| walk.expr(e));
            }
            walk.expr(&def.body);
        }
        Declaration::Const(constant) => walk.expr(&constant.value),
        Declaration::Extern(_) => {}
    }
}

/// Whether an expression uses one of some names, bound outside of it.
pub(super) fn mentions(ast: &Expr, names: &[&str]) -> bool {
    let mut found = false;
    let mut walk = Walk { bound: Vec::new(), found: &mut |name, _| found |= names.contains(&name) };
    walk.expr(ast);
    found
}

struct Walk<'a, 'f> {
    bound: Vec<&'a str>,
    found: &'f mut dyn FnMut(&'a str, Span),
}

impl<'a> Walk<'a, '_> {
    fn ty(&mut self, ty: &'a Type) {
        match &ty.kind {
            TypeKind::Vector(_, size) => self.expr(size),
            TypeKind::Array(element, size) => {
                self.ty(element);
                self.expr(size);
            }
            TypeKind::Over(element, domain) => {
                self.ty(element);
                self.domain(domain);
            }
            TypeKind::Tuple(items) => items.iter().for_each(|t| self.ty(t)),
            TypeKind::Function(params, ret) => {
                params.iter().for_each(|t| self.ty(t));
                self.ty(ret);
            }
            TypeKind::Scalar(_)
            | TypeKind::Name(_)
            | TypeKind::Nat
            | TypeKind::Boundary
            | TypeKind::Permutation
            | TypeKind::Error => {}
        }
    }

    fn expr(&mut self, ast: &'a Expr) {
        stacker::maybe_grow(super::exprs::RED_ZONE, super::exprs::STACK, || self.walk(ast));
    }

    fn walk(&mut self, ast: &'a Expr) {
        match &ast.kind {
            ExprKind::Int(..)
            | ExprKind::Float(..)
            | ExprKind::Bool(_)
            | ExprKind::Limit(..)
            | ExprKind::Section(_)
            | ExprKind::Error => {}
            ExprKind::Name(name) => {
                if !self.bound.contains(&name.as_str()) {
                    (self.found)(name, ast.span);
                }
            }
            ExprKind::Vector(_, width, items) => {
                self.expr(width);
                items.iter().for_each(|e| self.expr(e));
            }
            ExprKind::Tuple(items) | ExprKind::Array(items) => {
                items.iter().for_each(|e| self.expr(e));
            }
            ExprKind::Paren(e) | ExprKind::Unary(_, e) | ExprKind::Field(e, _) => self.expr(e),
            ExprKind::Cast(e, ty) => {
                self.expr(e);
                self.ty(ty);
            }
            ExprKind::Binary(_, a, b) | ExprKind::Pipe(a, b) | ExprKind::Range(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Index(array, indices) => {
                self.expr(array);
                indices.iter().for_each(|e| self.expr(e));
            }
            ExprKind::Call(head, args) => {
                let of_domain = matches!(&head.kind, ExprKind::Name(name)
                    if takes_domain(name) && !self.bound.contains(&name.as_str()));
                match args.as_slice() {
                    [first, rest @ ..] if of_domain => {
                        self.domain(first);
                        rest.iter().for_each(|e| self.expr(e));
                    }
                    _ => {
                        self.expr(head);
                        args.iter().for_each(|e| self.expr(e));
                    }
                }
            }
            ExprKind::In(point, domain) => {
                self.expr(point);
                self.domain(domain);
            }
            ExprKind::Each(value, pattern, domain) => {
                self.domain(domain);
                self.under(std::slice::from_ref(pattern), value);
            }
            ExprKind::Set(_) => self.domain(ast),
            ExprKind::Rec(rec) => {
                rec.element.iter().for_each(|ty| self.ty(ty));
                let before = self.bound.len();
                self.bound.push(&rec.name.text);
                self.expr(&rec.value);
                self.expr(&rec.body);
                self.bound.truncate(before);
            }
            ExprKind::If(c, a, b) => [c, a, b].into_iter().for_each(|e| self.expr(e)),
            ExprKind::Let(pattern, value, body) => {
                self.expr(value);
                self.under(std::slice::from_ref(pattern), body);
            }
            ExprKind::Lambda(params, body) => self.under(params, body),
        }
    }

    /// The names of domains are of a kind of their own; their sizes are not.
    fn domain(&mut self, ast: &'a Expr) {
        match &ast.kind {
            ExprKind::Name(_) => {}
            ExprKind::Index(_, sizes) => sizes.iter().for_each(|e| self.expr(e)),
            ExprKind::Set(set) => {
                set.points.domain.iter().for_each(|d| self.domain(d));
                let before = self.bound.len();
                self.bound.extend(set.points.indices.iter().map(|n| n.text.as_str()));
                set.constraints.iter().for_each(|e| self.expr(e));
                self.bound.truncate(before);
            }
            _ => self.expr(ast),
        }
    }

    fn under(&mut self, patterns: &'a [Pattern], body: &'a Expr) {
        let before = self.bound.len();
        patterns.iter().for_each(|p| self.bind(p));
        self.expr(body);
        self.bound.truncate(before);
    }

    fn bind(&mut self, pattern: &'a Pattern) {
        match &pattern.kind {
            PatternKind::Name(name) => self.bound.push(name),
            PatternKind::Wildcard => {}
            PatternKind::Tuple(items) => items.iter().for_each(|p| self.bind(p)),
        }
    }
}
