//! The surface syntax tree: what the user wrote, before names and types mean anything.
//!
//! Sizes, values and functions share one expression grammar; which of them an expression is
//! follows from where it stands, and is decided when the tree is elaborated.

use std::collections::BTreeMap;

use lift_ir::{BinaryOp, LaunchClause, Scalar, Span, UnaryOp};

/// A name with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// One source file.
#[derive(Clone, Debug, Default)]
pub struct File {
    pub items: Vec<Item>,
}

#[derive(Clone, Debug)]
pub enum Item {
    Fn(Fn),
    Extern(Extern),
    Def(Def),
    Const(Const),
    Domain(Domain),
    Import(Import),
    Test(Test),
}

/// `fn mult_add(acc: f32, p: (f32, f32)) -> f32 = acc + p.0 * p.1;`
#[derive(Clone, Debug)]
pub struct Fn {
    pub name: Name,
    pub params: Vec<Param>,
    pub ret: Option<Type>,
    pub body: Expr,
    pub span: Span,
}

/// `extern "opencl,cuda,c" fn name(x: f32) -> f32 = "return …;";`
#[derive(Clone, Debug)]
pub struct Extern {
    pub name: Name,
    /// The comma-separated targets as written.
    pub targets: String,
    pub params: Vec<Param>,
    pub ret: Type,
    /// The target code, unescaped.
    pub code: String,
    pub span: Span,
}

/// `def f[M, N; T = 16](…) -> … where … launch … = …;`
#[derive(Clone, Debug)]
pub struct Def {
    pub name: Name,
    /// In front of the `;`: size and type variables.
    pub generics: Vec<Generic>,
    /// Behind the `;`: sizes found in no argument type.
    pub parameters: Vec<Parameter>,
    pub params: Vec<Param>,
    pub ret: Option<Type>,
    /// The clauses after `where`; `a && b` is one expression here.
    pub wheres: Vec<Expr>,
    /// One clause a kernel, in order.
    pub launches: Vec<Launch>,
    pub body: Expr,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Generic {
    pub name: Name,
    /// `T: type`; a size variable otherwise.
    pub is_type: bool,
}

/// `T = 16`
#[derive(Clone, Debug)]
pub struct Parameter {
    pub name: Name,
    pub default: Option<Expr>,
}

/// `x: [f32; N]`
#[derive(Clone, Debug)]
pub struct Param {
    pub name: Name,
    pub ty: Type,
}

/// `local(16, 16) global(M / 4, N / 4) padding(1)`: the keyword `launch` may be repeated, once a kernel.
#[derive(Clone, Debug)]
pub struct Launch {
    pub clauses: BTreeMap<LaunchClause, Vec<Expr>>,
    pub span: Span,
}

impl Launch {
    pub fn sizes(&self) -> impl Iterator<Item = &Expr> {
        self.clauses.values().flatten()
    }
}

/// `strategy tile[; T = 16](m, k) where … launch … = …;`: an item of a strategy file.
#[derive(Clone, Debug)]
pub struct Strategy {
    pub name: Name,
    /// What the program gets besides its own.
    pub parameters: Vec<Parameter>,
    /// What the body is written in terms of: sizes or strategies.
    pub names: Vec<Name>,
    pub wheres: Vec<Expr>,
    pub launches: Vec<Launch>,
    pub body: Expr,
    pub span: Span,
}

/// `const T = 16;`
#[derive(Clone, Debug)]
pub struct Const {
    pub name: Name,
    pub value: Expr,
    pub span: Span,
}

/// `domain upper[n] = { (a, b) | a < b, b < n };`
#[derive(Clone, Debug)]
pub struct Domain {
    pub name: Name,
    pub sizes: Vec<Name>,
    /// `: line[n](j)`: a projection, with names for the indices of the domain that addresses it.
    pub address: Option<Points>,
    pub set: Set,
    pub span: Span,
}

/// `grid[n, n](a, b)`, or `(a, b)` alone: names for the indices of a domain's points.
#[derive(Clone, Debug)]
pub struct Points {
    pub domain: Option<Box<Expr>>,
    pub indices: Vec<Name>,
    pub span: Span,
}

/// `{ grid[n, n](a, b) | a < b }`: the points that meet the constraints.
#[derive(Clone, Debug)]
pub struct Set {
    pub points: Points,
    pub constraints: Vec<Expr>,
    pub span: Span,
}

/// `rec t: i64 = [ … ]; body`
#[derive(Clone, Debug)]
pub struct Rec {
    pub name: Name,
    /// The type of the elements, where they do not say it themselves.
    pub element: Option<Type>,
    pub value: Expr,
    pub body: Expr,
}

/// `import "file.lift";`
#[derive(Clone, Debug)]
pub struct Import {
    pub path: String,
    pub span: Span,
}

/// `test dot_small: dot(…) == 32.0;`
#[derive(Clone, Debug)]
pub struct Test {
    pub name: Name,
    pub left: Expr,
    pub approximate: bool,
    pub right: Expr,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Type {
    pub kind: TypeKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum TypeKind {
    Scalar(Scalar),
    /// `f32x4`, `f32x{m}`: the width is a size expression.
    Vector(Scalar, Box<Expr>),
    /// A type variable.
    Name(String),
    Tuple(Vec<Type>),
    Array(Box<Type>, Box<Expr>),
    /// `[T in D]`
    Over(Box<Type>, Box<Expr>),
    /// `T -> U`, `(T, U) -> V`: only the type of a def's parameter. Each parameter of the function
    /// is one entry; `(T, U) -> V` has two.
    Function(Vec<Type>, Box<Type>),
    /// `nat`: a size passed as an argument, only in a def's parameter (also inside a tuple).
    Nat,
    /// `boundary`: what `pad` takes, only in a def's parameter.
    Boundary,
    /// `permutation`: what `gather` takes, only in a def's parameter.
    Permutation,
    /// Stands where a type could not be parsed; reported already.
    Error,
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

/// The suffix of a number, as in `1u8` or `1.0f64`.
pub type Suffix = Option<Scalar>;

#[derive(Clone, Debug)]
pub enum ExprKind {
    Int(u64, Suffix),
    /// The value as written, so that it can be rounded once to its type.
    Float(String, Suffix),
    Bool(bool),
    /// A variable, function, pattern, size or constant. `inf` and `nan` are names too.
    Name(String),
    /// `f32::min`, `i8::max`
    Limit(Scalar, Limit),
    /// `f32x4(a, b, c, d)` or `f32x4(a)`; the width is a size expression.
    Vector(Scalar, Box<Expr>, Vec<Expr>),
    Tuple(Vec<Expr>),
    Array(Vec<Expr>),
    /// A parenthesised expression; kept for the formatter.
    Paren(Box<Expr>),
    /// `(+)`
    Section(BinaryOp),
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`; `f >> g` too, which composes where a function is expected.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `e as T`
    Cast(Box<Expr>, Type),
    /// `x |> f`
    Pipe(Box<Expr>, Box<Expr>),
    Call(Box<Expr>, Vec<Expr>),
    /// `e.0`
    Field(Box<Expr>, u32),
    /// `e[i]`, `e[x, y]`; a domain with its sizes, `grid[h, w]`, where a domain is expected.
    Index(Box<Expr>, Vec<Expr>),
    /// `[ e | p in D ]`
    Each(Box<Expr>, Pattern, Box<Expr>),
    /// `p in D`
    In(Box<Expr>, Box<Expr>),
    /// `a .. b`, behind `in` only.
    Range(Box<Expr>, Box<Expr>),
    /// `{ (i, j) | i < j, j < n }`: a domain written in place.
    Set(Box<Set>),
    Rec(Box<Rec>),
    Lambda(Vec<Pattern>, Box<Expr>),
    Let(Pattern, Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Stands where an expression could not be parsed; reported already.
    Error,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    Min,
    Max,
}

/// What binds names: `x`, `_`, `(a, (b, _))`.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub kind: PatternKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum PatternKind {
    Name(String),
    Wildcard,
    Tuple(Vec<Pattern>),
}
