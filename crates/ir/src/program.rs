//! Checked programs: definitions and tests.

use lift_nat::{Facts, Nat, Pred, Var};

use crate::{Call, Context, Expr, Extern, Kind, Launch, Param, Prim, Span, Type};

/// The definitions that can run, in the order of the source, and the tests.
///
/// Scalar functions, constants and definitions with type or function parameters are expanded where
/// they are used and do not appear.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub defs: Vec<Def>,
    pub tests: Vec<Test>,
}

/// `def f[M, N; T = 16](x: …) -> … where … launch … = body`
#[derive(Clone, Debug)]
pub struct Def {
    pub name: String,
    pub span: Option<Span>,
    /// Found in the types of the parameters.
    pub sizes: Vec<Var>,
    /// Found in no type: chosen by the user or by tuning.
    pub parameters: Vec<Parameter>,
    pub params: Vec<Param>,
    pub ret: Type,
    pub wheres: Vec<Clause>,
    /// Lower bounds that the body needs and that do not follow from `wheres`.
    pub implied: Vec<Pred>,
    /// One a kernel, in order; empty where the compiler chooses.
    pub launches: Vec<Launch>,
    pub body: Expr,
    /// One more than every variable number used in the definition.
    pub next_number: u32,
    pub said: Said,
}

/// What the text says, or the check of it found, and the finished definition does not tell: for people.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// The types of the parameters and of the result, with the names of domains; empty where they are as they are.
    pub params: Vec<String>,
    pub ret: String,
    /// The orders of the arrays that read themselves.
    pub orders: Vec<Order>,
}

/// The order in which a `rec` is made: points of equal `by · p` at once, those of smaller values first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Order {
    /// What the array is called, and its indices.
    pub array: String,
    pub indices: Vec<String>,
    pub by: Vec<i128>,
}

#[derive(Clone, Debug)]
pub struct Parameter {
    pub var: Var,
    pub default: Option<Nat>,
}

/// A `where` clause and where it stands.
#[derive(Clone, Debug)]
pub struct Clause {
    pub pred: Pred,
    pub span: Option<Span>,
}

#[derive(Clone, Debug)]
pub struct Test {
    pub name: String,
    pub span: Span,
    pub subject: Subject,
    /// `~=` rather than `==`.
    pub approximate: bool,
    pub expected: Expr,
}

/// What a test computes.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A definition of the program (by index) with closed arguments: can run on any device.
    Call { def: usize, args: Vec<Expr> },
    /// A closed expression.
    Expr(Expr),
}

impl Program {
    /// `main` if there is one, else the last definition.
    pub fn entry(&self) -> Option<&Def> {
        self.def("main").or(self.defs.last())
    }

    pub fn def(&self, name: &str) -> Option<&Def> {
        self.defs.iter().find(|d| d.name == name)
    }
}

impl Def {
    /// What is known about sizes inside the definition.
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::new();
        for var in self.sizes.iter().chain(self.parameters.iter().map(|p| &p.var)) {
            facts.size(var);
        }
        for pred in self.wheres.iter().map(|c| &c.pred).chain(&self.implied) {
            facts.assume(pred);
        }
        facts
    }

    /// A context in which the body can be rebuilt or rewritten.
    pub fn context(&self) -> Context {
        let cx = Context::starting_at(self.facts(), self.next_number);
        cx.adopt(&self.body);
        cx
    }

    /// The extern functions that the definition uses, each once, in order of use.
    pub fn externs(&self) -> Vec<&Extern> {
        let mut found: Vec<&Extern> = Vec::new();
        for (_, expr) in self.body.places() {
            if let Kind::Call(Call { prim: Prim::Extern(function), .. }) = expr.kind()
                && found.iter().all(|known| known.name != function.name)
            {
                found.push(function);
            }
        }
        found
    }

    /// The name of an extern function that the definition uses, if it does.
    pub fn uses_extern(&self) -> Option<&str> {
        self.externs().first().map(|function| function.name.as_str())
    }
}
