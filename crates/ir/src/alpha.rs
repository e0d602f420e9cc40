//! Equality and hashing up to the names of bound variables.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use lift_nat::{Nat, Var};

use crate::{Boundary, Call, Def, Expr, Kind, Lambda, Param, Permutation, Prim, Type};

impl Expr {
    /// Equal up to the names and numbers of bound variables. Free variables are equal by number.
    pub fn alpha_eq(&self, other: &Expr) -> bool {
        canonically_equal(self, other)
    }

    /// Equal for expressions that are equal by [`Expr::alpha_eq`].
    pub fn alpha_hash(&self) -> u64 {
        let mut canonical = Canonical::default();
        canonical.expr(self);
        hash_of(&canonical.tokens)
    }
}

impl Def {
    /// Equal up to every name in them: the definition's, its parameters' and its sizes'.
    pub fn alpha_eq(&self, other: &Def) -> bool {
        Canonical::def(self) == Canonical::def(other)
    }

    /// Equal for definitions that are equal by [`Def::alpha_eq`].
    pub fn alpha_hash(&self) -> u64 {
        hash_of(&Canonical::def(self))
    }
}

fn canonically_equal(a: &Expr, b: &Expr) -> bool {
    if a.same_node(b) {
        return true;
    }
    if a.weight() != b.weight() {
        return false;
    }
    let (mut left, mut right) = (Canonical::default(), Canonical::default());
    left.expr(a);
    right.expr(b);
    left.tokens == right.tokens
}

fn hash_of(tokens: &[Token]) -> u64 {
    let mut hasher = DefaultHasher::new();
    tokens.hash(&mut hasher);
    hasher.finish()
}

/// The expression written as a flat sequence in which bound variables are numbered by the order of
/// their binders. Equal sequences, equal programs.
#[derive(Default)]
struct Canonical {
    tokens: Vec<Token>,
    bound: HashMap<u32, u32>,
    sizes: HashMap<Var, u32>,
    binders: u32,
}

#[derive(PartialEq, Eq, Hash, Debug)]
enum Token {
    Bound(u32),
    Free(u32),
    Literal(crate::Literal),
    Size(Nat),
    Scalar(crate::Scalar),
    Type(Type),
    Let,
    Call(Prim, usize, usize, usize),
    Lambda(usize, bool),
    Clause(lift_nat::Pred),
    Launch(crate::LaunchClause, usize),
}

impl Canonical {
    fn def(def: &Def) -> Vec<Token> {
        let mut canonical = Canonical::default();
        for var in def.sizes.iter().chain(def.parameters.iter().map(|p| &p.var)) {
            canonical.bind_size(var);
        }
        for parameter in &def.parameters {
            if let Some(default) = &parameter.default {
                canonical.size(default);
            }
        }
        for param in &def.params {
            canonical.bind(param);
        }
        for clause in &def.wheres {
            let pred = clause.pred.substitute(&|v| canonical.renamed(v));
            canonical.tokens.push(Token::Clause(pred));
        }
        for launch in &def.launches {
            for (clause, sizes) in launch.clauses() {
                canonical.tokens.push(Token::Launch(clause, sizes.len()));
                sizes.iter().for_each(|n| canonical.size(n));
            }
        }
        canonical.ty(&def.ret);
        canonical.expr(&def.body);
        canonical.tokens
    }

    fn bind(&mut self, param: &Param) {
        self.bound.insert(param.id(), self.binders);
        self.binders += 1;
        self.ty(param.ty());
    }

    fn bind_size(&mut self, var: &Var) {
        self.sizes.insert(var.clone(), self.binders);
        self.binders += 1;
    }

    /// Bound size variables carry the empty name, which no user can write.
    fn renamed(&self, var: &Var) -> Option<Nat> {
        self.sizes.get(var).map(|binder| Nat::var(&Var::with_id("", *binder)))
    }

    fn size(&mut self, size: &Nat) {
        let size = size.substitute(&|v| self.renamed(v));
        self.tokens.push(Token::Size(size));
    }

    fn ty(&mut self, ty: &Type) {
        let ty = ty.map_sizes(&|n| n.substitute(&|v| self.renamed(v)));
        self.tokens.push(Token::Type(ty));
    }

    fn lambda(&mut self, lambda: &Lambda) {
        self.tokens.push(Token::Lambda(lambda.params.len(), lambda.size.is_some()));
        if let Some(size) = &lambda.size {
            self.bind_size(size);
        }
        lambda.params.iter().for_each(|p| self.bind(p));
        self.expr(&lambda.body);
    }

    fn expr(&mut self, expr: &Expr) {
        match expr.kind() {
            Kind::Var(param) => {
                let token = self.bound.get(&param.id());
                self.tokens.push(token.map_or(Token::Free(param.id()), |b| Token::Bound(*b)));
            }
            Kind::Literal(literal) => self.tokens.push(Token::Literal(*literal)),
            Kind::Size(size, scalar) => {
                self.tokens.push(Token::Scalar(*scalar));
                self.size(size);
            }
            Kind::Let { param, value, body } => {
                self.tokens.push(Token::Let);
                self.expr(value);
                self.bind(param);
                self.expr(body);
            }
            Kind::Call(Call { prim, sizes, functions, args }) => {
                let prim = self.prim(prim);
                let shape = Token::Call(prim, sizes.len(), functions.len(), args.len());
                self.tokens.push(shape);
                sizes.iter().for_each(|n| self.size(n));
                functions.iter().for_each(|f| self.lambda(f));
                args.iter().for_each(|a| self.expr(a));
            }
        }
    }

    fn prim(&self, prim: &Prim) -> Prim {
        let index = Var::with_id("", u32::MAX);
        let body = |var: &Var, body: &Nat| {
            body.substitute(&|v| {
                if v == var { Some(Nat::var(&index)) } else { self.renamed(v) }
            })
        };
        let permutation = |p: &Permutation| match p {
            Permutation::Reverse => Permutation::Reverse,
            Permutation::Stride(s) => Permutation::Stride(s.substitute(&|v| self.renamed(v))),
            Permutation::Shift(k) => Permutation::Shift(k.substitute(&|v| self.renamed(v))),
            Permutation::Index(var, nat) => Permutation::Index(index.clone(), body(var, nat)),
        };
        match prim {
            Prim::Gather(p) => Prim::Gather(permutation(p)),
            Prim::Scatter(p) => Prim::Scatter(permutation(p)),
            Prim::Pad(Boundary::Index(var, nat)) => {
                Prim::Pad(Boundary::Index(index.clone(), body(var, nat)))
            }
            Prim::Rank(domain) => Prim::Rank(Arc::new(domain.substitute(&|v| self.renamed(v)))),
            Prim::Point(domain) => Prim::Point(Arc::new(domain.substitute(&|v| self.renamed(v)))),
            other => other.clone(),
        }
    }
}
