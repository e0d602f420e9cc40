//! Expressions: immutable, shared, typed.
//!
//! Nodes are made only by the constructors of [`crate::Context`], which check types, so every
//! expression that exists is well typed. Two expressions that differ only in the names of bound
//! variables are equal by [`Expr::alpha_eq`]; places in source text never take part in equality.

use std::sync::Arc;

use lift_nat::{Nat, Var};

use crate::{Literal, Prim, Scalar, Span, Type};

/// A variable bound by a lambda, a `let` or a definition. Its identity is its number; the name is
/// only for people.
#[derive(Clone, Debug)]
pub struct Param {
    id: u32,
    name: Arc<str>,
    ty: Type,
}

impl Param {
    pub(crate) fn new(id: u32, name: &str, ty: Type) -> Param {
        Param { id, name: name.into(), ty }
    }

    pub fn id(&self) -> u32 {
        self.id
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn ty(&self) -> &Type {
        &self.ty
    }
}

impl PartialEq for Param {
    fn eq(&self, other: &Param) -> bool {
        self.id == other.id
    }
}

impl Eq for Param {}

/// A function in a pattern's position.
#[derive(Clone, Debug)]
pub struct Lambda {
    /// Only in an `iterate` whose function changes the length: the variable that stands for the
    /// length at the current application. Parameter and body types mention it.
    pub size: Option<Var>,
    pub params: Vec<Param>,
    pub body: Expr,
}

/// A pattern or operation with all of its sizes, functions and arguments.
#[derive(Clone, Debug)]
pub struct Call {
    pub prim: Prim,
    pub sizes: Vec<Nat>,
    pub functions: Vec<Lambda>,
    pub args: Vec<Expr>,
}

#[derive(Clone, Debug)]
pub enum Kind {
    Var(Param),
    Literal(Literal),
    /// A size used as a value of an integer type. Never a constant: that is a literal.
    Size(Nat, Scalar),
    /// `value` is evaluated once and shared by all uses of the variable.
    Let {
        param: Param,
        value: Expr,
        body: Expr,
    },
    Call(Call),
}

#[derive(Clone, Debug)]
pub struct Expr(Arc<Node>);

#[derive(Debug)]
struct Node {
    kind: Kind,
    ty: Type,
    span: Option<Span>,
    /// The numbers of the free variables, in order.
    free: Box<[u32]>,
    /// The number of nodes of the expression written out as a tree.
    weight: u32,
}

impl Expr {
    /// Trusts that `ty` is the type of `kind`: only the checked constructors and rebuilding under a
    /// substitution call this.
    pub(crate) fn from_parts(kind: Kind, ty: Type, span: Option<Span>) -> Expr {
        let free = free_of(&kind);
        let weight = match &kind {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => 1,
            Kind::Let { value, body, .. } => value.weight().saturating_add(body.weight()),
            Kind::Call(call) => {
                call.children().fold(1u32, |weight, child| weight.saturating_add(child.weight()))
            }
        };
        Expr(Arc::new(Node { kind, ty, span, free, weight }))
    }

    pub fn kind(&self) -> &Kind {
        &self.0.kind
    }

    pub fn ty(&self) -> &Type {
        &self.0.ty
    }

    /// Where the expression was written, if it was.
    pub fn span(&self) -> Option<Span> {
        self.0.span
    }

    /// At the place of another, if that has one.
    pub fn placed_as(self, other: &Expr) -> Expr {
        match other.span() {
            Some(span) => self.with_span(span),
            None => self,
        }
    }

    pub fn with_span(mut self, span: Span) -> Expr {
        if self.0.span == Some(span) {
            return self;
        }
        if let Some(node) = Arc::get_mut(&mut self.0) {
            node.span = Some(span);
            return self;
        }
        Expr(Arc::new(Node {
            kind: self.0.kind.clone(),
            ty: self.0.ty.clone(),
            span: Some(span),
            free: self.0.free.clone(),
            weight: self.0.weight,
        }))
    }

    /// The number of nodes of the expression written out as a tree, saturating.
    pub fn weight(&self) -> u32 {
        self.0.weight
    }

    /// The numbers of the free variables, in order, each once.
    pub fn free_variables(&self) -> &[u32] {
        &self.0.free
    }

    pub fn mentions(&self, param: &Param) -> bool {
        self.0.free.binary_search(&param.id).is_ok()
    }

    /// The same node in memory: equal for certain, and cheap to ask.
    pub fn same_node(&self, other: &Expr) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Tells nodes in memory apart, as [`Expr::same_node`] does; for walks that look at each once.
    pub fn node(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    pub fn as_var(&self) -> Option<&Param> {
        match self.kind() {
            Kind::Var(param) => Some(param),
            _ => None,
        }
    }

    pub fn as_call(&self) -> Option<&Call> {
        match self.kind() {
            Kind::Call(call) => Some(call),
            _ => None,
        }
    }

    /// Direct sub-expressions: of a call the bodies of its functions, then its arguments; of a
    /// `let` the value, then the body. Places number them in this order.
    pub fn children(&self) -> Vec<&Expr> {
        match self.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => Vec::new(),
            Kind::Let { value, body, .. } => vec![value, body],
            Kind::Call(call) => call.children().collect(),
        }
    }

    /// Cheap enough to compute again wherever it is used: variables, constants, projections, and
    /// tuples of them.
    pub fn is_atom(&self) -> bool {
        match self.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => true,
            Kind::Let { .. } => false,
            Kind::Call(call) => {
                matches!(call.prim, Prim::Field(_) | Prim::Tuple)
                    && call.args.iter().all(Expr::is_atom)
            }
        }
    }
}

impl Call {
    pub fn children(&self) -> impl Iterator<Item = &Expr> {
        self.functions.iter().map(|f| &f.body).chain(&self.args)
    }
}

fn free_of(kind: &Kind) -> Box<[u32]> {
    let mut free: Vec<u32> = Vec::new();
    let mut add = |expr: &Expr, bound: &[Param]| {
        let new = expr.free_variables().iter();
        free.extend(new.filter(|id| bound.iter().all(|p| p.id != **id)));
    };
    match kind {
        Kind::Var(param) => return Box::new([param.id]),
        Kind::Literal(_) | Kind::Size(..) => return Box::new([]),
        Kind::Let { param, value, body } => {
            add(value, &[]);
            add(body, std::slice::from_ref(param));
        }
        Kind::Call(call) => {
            call.functions.iter().for_each(|f| add(&f.body, &f.params));
            call.args.iter().for_each(|a| add(a, &[]));
        }
    }
    free.sort_unstable();
    free.dedup();
    free.into()
}
