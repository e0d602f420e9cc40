//! Laws: two expressions with metavariables, and what must hold for them to be equal.

use std::collections::BTreeSet;

use lift_ir::{Boundary, Literal, Nat, Pred, Prim, Var};
use lift_syntax::ast;

/// A law as the engine reads it; made from text by [`Law::read`].
#[derive(Clone, Debug)]
pub struct Law {
    pub metavariables: Vec<Metavariable>,
    pub left: Term,
    pub right: Term,
    /// All of them hold wherever the law does.
    pub conditions: Vec<Pred>,
    /// Sizes that the left side does not bind: whoever applies the rule chooses them.
    pub parameters: Vec<String>,
    /// Permutations that the left side does not bind.
    pub reorderings: Vec<String>,
}

/// `f: (a, b) -> c` or `xs: [a; n]`.
#[derive(Clone, Debug)]
pub struct Metavariable {
    pub name: String,
    pub sort: Sort,
}

/// What a metavariable stands for.
#[derive(Clone, Debug)]
pub enum Sort {
    Value(ast::Type),
    /// Parameter types and result type.
    Function(Vec<ast::Type>, ast::Type),
    Permutation,
    Boundary,
}

/// One side of a law. Sizes are over the law's own size variables.
#[derive(Clone, Debug)]
pub enum Term {
    /// A value metavariable.
    Meta(String),
    /// A variable bound by a [`Function`] around.
    Bound(String),
    Literal(Literal),
    /// A size as an integer.
    Size(Nat),
    /// A function metavariable applied to all of its arguments.
    Apply(String, Vec<Term>),
    Let {
        name: String,
        value: Box<Term>,
        body: Box<Term>,
    },
    Call {
        op: Op,
        sizes: Vec<Nat>,
        functions: Vec<Function>,
        args: Vec<Term>,
    },
}

/// A function in a pattern's position; a bare metavariable `f` is read as `\x -> f(x)`.
#[derive(Clone, Debug)]
pub struct Function {
    pub params: Vec<String>,
    pub body: Term,
}

/// A pattern whose own settings may be metavariables.
#[derive(Clone, Debug)]
pub enum Op {
    Exact(Prim),
    Gather(Reordering),
    Scatter(Reordering),
    /// A parallel map of the dimension that a size says.
    Parallel(fn(u8) -> Prim, Nat),
    Pad(Edge),
}

/// A boundary, which may be a metavariable.
#[derive(Clone, Debug)]
pub enum Edge {
    Meta(String),
    Exact(Boundary),
}

#[derive(Clone, Debug)]
pub enum Reordering {
    Meta(String),
    Reverse,
    Stride(Nat),
    Shift(Nat),
}

impl Law {
    pub fn metavariable(&self, name: &str) -> Option<&Metavariable> {
        self.metavariables.iter().find(|m| m.name == name)
    }

    /// True where the size is the dimension of a parallel map: always a number.
    pub fn is_dimension(&self, name: &str) -> bool {
        self.has_term(&|term| match term {
            Term::Call { op: Op::Parallel(_, dimension), .. } => mentions(dimension, name),
            _ => false,
        })
    }

    /// True where the size is how often a function that the law writes out is applied: a number
    /// too, since such a function changes the length.
    pub fn is_count(&self, name: &str) -> bool {
        self.has_term(&|term| match term {
            Term::Call { op: Op::Exact(Prim::Iterate), sizes, functions, .. } => {
                functions.iter().all(|f| !matches!(f.body, Term::Apply(..)))
                    && sizes.iter().any(|size| mentions(size, name))
            }
            _ => false,
        })
    }

    fn has_term(&self, is: &dyn Fn(&Term) -> bool) -> bool {
        let mut found = false;
        for side in [&self.left, &self.right] {
            side.each(&mut |term| found = found || is(term));
        }
        found
    }

    /// Every size variable that occurs anywhere in the law.
    pub fn size_names(&self) -> BTreeSet<String> {
        let mut sizes: BTreeSet<Var> = self.conditions.iter().flat_map(Pred::vars).collect();
        self.left.sizes(&mut |n| sizes.extend(n.vars()));
        self.right.sizes(&mut |n| sizes.extend(n.vars()));
        let names = sizes.iter().filter(|v| !is_length(v)).map(|v| v.name().to_string());
        names.chain(self.sizes_of_types()).collect()
    }

    fn sizes_of_types(&self) -> Vec<String> {
        let mut names = Vec::new();
        for m in &self.metavariables {
            match &m.sort {
                Sort::Value(ty) => size_names_of(ty, &mut names),
                Sort::Function(params, result) => {
                    params.iter().for_each(|ty| size_names_of(ty, &mut names));
                    size_names_of(result, &mut names);
                }
                Sort::Permutation | Sort::Boundary => {}
            }
        }
        names
    }
}

impl Term {
    /// Calls `visit` on this term and everything in it, outside in.
    pub fn each(&self, visit: &mut dyn FnMut(&Term)) {
        visit(self);
        match self {
            Term::Meta(_) | Term::Bound(_) | Term::Literal(_) | Term::Size(_) => {}
            Term::Apply(_, args) => args.iter().for_each(|a| a.each(visit)),
            Term::Let { value, body, .. } => {
                value.each(visit);
                body.each(visit);
            }
            Term::Call { functions, args, .. } => {
                functions.iter().for_each(|f| f.body.each(visit));
                args.iter().for_each(|a| a.each(visit));
            }
        }
    }

    /// Calls `visit` on every size written in the term.
    pub fn sizes(&self, visit: &mut dyn FnMut(&Nat)) {
        self.each(&mut |term| {
            if let Term::Size(size) = term {
                visit(size);
            }
            let Term::Call { op, sizes, .. } = term else { return };
            sizes.iter().for_each(&mut *visit);
            match op {
                Op::Exact(_) | Op::Pad(_) => {}
                Op::Parallel(_, dimension) => visit(dimension),
                Op::Gather(p) | Op::Scatter(p) => match p {
                    Reordering::Meta(_) | Reordering::Reverse => {}
                    Reordering::Stride(n) | Reordering::Shift(n) => visit(n),
                },
            }
        });
    }

    /// The names of all metavariables in the term.
    pub fn metavariables(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        self.each(&mut |term| match term {
            Term::Meta(name) | Term::Apply(name, _) => {
                names.insert(name.clone());
            }
            Term::Call { op: Op::Gather(p) | Op::Scatter(p), .. } => {
                if let Reordering::Meta(name) = p {
                    names.insert(name.clone());
                }
            }
            Term::Call { op: Op::Pad(Edge::Meta(name)), .. } => {
                names.insert(name.clone());
            }
            Term::Bound(_)
            | Term::Literal(_)
            | Term::Size(_)
            | Term::Let { .. }
            | Term::Call { .. } => {}
        });
        names
    }
}

fn mentions(size: &Nat, name: &str) -> bool {
    size.vars().iter().any(|v| v.name() == name)
}

/// The variable that stands for `len(xs)`: no name that a law can write.
pub(crate) fn length_of(xs: &str) -> Var {
    Var::named(&format!("len({xs})"))
}

fn is_length(var: &Var) -> bool {
    var.name().starts_with("len(")
}

/// `s_m` is the type of vectors of m scalars s, since both are variables.
pub fn vector_variable(name: &str) -> Option<(&str, &str)> {
    name.split_once('_')
}

/// The size variables of a type that stand alone: `n` in `[a; n]`.
pub(crate) fn size_names_of(ty: &ast::Type, names: &mut Vec<String>) {
    match &ty.kind {
        ast::TypeKind::Over(element, _) => size_names_of(element, names),
        ast::TypeKind::Array(element, length) => {
            size_names_of(element, names);
            if let ast::ExprKind::Name(name) = &length.kind {
                names.push(name.clone());
            }
        }
        ast::TypeKind::Vector(_, width) => {
            if let ast::ExprKind::Name(name) = &width.kind {
                names.push(name.clone());
            }
        }
        ast::TypeKind::Tuple(parts) => parts.iter().for_each(|p| size_names_of(p, names)),
        ast::TypeKind::Function(params, result) => {
            params.iter().for_each(|p| size_names_of(p, names));
            size_names_of(result, names);
        }
        ast::TypeKind::Name(name) => {
            names.extend(vector_variable(name).map(|(_, width)| width.to_string()));
        }
        ast::TypeKind::Scalar(_)
        | ast::TypeKind::Nat
        | ast::TypeKind::Boundary
        | ast::TypeKind::Permutation
        | ast::TypeKind::Error => {}
    }
}
