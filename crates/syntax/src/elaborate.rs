//! From the surface tree to typed programs.
//!
//! Names get their meaning, literals their type, sizes their values; functions, constants and
//! definitions with type or function parameters are expanded where they are used. What comes out
//! is made by the checked constructors of `lift_ir`, so it is well typed.
//!
//! Types flow from arguments to functions: the arrays of a pattern are elaborated first, then the
//! functions applied to their elements. An expected type flows the other way, for literals only.

mod apply;
mod calls;
mod defs;
mod domains;
mod errors;
mod exprs;
mod functions;
mod indices;
mod iterate;
mod iterations;
mod literals;
mod packed;
mod patterns;
mod projections;
mod ragged;
mod recurrence_elements;
mod recurrence_types;
mod recurrences;
mod recursion;
mod scope;
mod sizes;
mod tests;
mod types;
mod unknown;
mod wide;
mod zips;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use lift_ir::{Context, Expr, Extern, Order, Scalar, Span, Type, Var};

use crate::ast;
use crate::diagnostic::Diagnostic;
use errors::{Errors, Result};
use scope::{Env, Module};

pub use defs::check;
pub use scope::Stage;

/// How often definitions and functions may be expanded in one definition, and how large the result
/// may be: beyond either, nobody could read or compile the program.
const MAX_EXPANSIONS: u32 = 50_000;
const MAX_STEPS: u32 = 2_000_000;
const MAX_WEIGHT: u32 = 1 << 22;

/// What an unsuffixed literal may take its type from.
#[derive(Clone, Copy)]
enum Hint<'h> {
    None,
    /// The type wanted of the whole expression.
    Type(&'h Type),
    /// The type of every literal inside that it fits.
    Literals(Scalar),
}

impl<'h> Hint<'h> {
    fn of(ty: Option<&'h Type>) -> Hint<'h> {
        ty.map_or(Hint::None, Hint::Type)
    }

    /// The hint for the elements of an array.
    fn element(self) -> Hint<'h> {
        match self {
            Hint::Type(ty) => Hint::of(ty.as_array().map(|(element, _)| element)),
            other => other,
        }
    }

    fn component(self, index: usize) -> Hint<'h> {
        match self {
            Hint::Type(Type::Tuple(components)) => Hint::of(components.get(index)),
            Hint::Type(_) => Hint::None,
            other => other,
        }
    }
}

/// Elaborates one definition or test: one context, one set of facts.
struct Elaborator<'a> {
    cx: Context,
    module: &'a Module<'a>,
    expansions: Cell<u32>,
    steps: Cell<u32>,
    externs: RefCell<Vec<Rc<Extern>>>,
    /// Within the sizes and constraints of a domain, where indices are sizes.
    in_domain: Cell<bool>,
    /// How many recurrences are being described, whose reads are ordered with what branches say.
    in_recurrence: Cell<u32>,
    /// How many conditions there are around that may not hold: what stands behind them need not be computed.
    conditions: Cell<u32>,
    /// The orders that were found.
    orders: RefCell<Vec<Order>>,
    /// Sizes are stand-ins: nothing is required of them.
    supposed: Cell<bool>,
    /// The indices of the iterations around, outermost first: the variable that stands for each in sizes, and its value.
    indices: RefCell<Vec<(Var, Expr)>>,
    packed: RefCell<Vec<packed::Packed>>,
    /// Those of the indices around that may have no room in 32 bits, in 64.
    wide: RefCell<Vec<(Var, Expr)>>,
    /// Within an index of an array, where these are computed with in 64 bits.
    is_exact: Cell<bool>,
}

/// An argument as it was given: not looked at until its position says what it is.
#[derive(Clone)]
enum Given<'a> {
    Ast(&'a ast::Expr, Env<'a>),
    /// A value at hand already, with the place to blame.
    Value(Expr, Span),
}

impl<'a> Given<'a> {
    fn span(&self) -> Span {
        match self {
            Given::Ast(ast, _) => ast.span,
            Given::Value(_, span) => *span,
        }
    }
}

impl<'a> Elaborator<'a> {
    fn new(module: &'a Module<'a>, cx: Context) -> Elaborator<'a> {
        Elaborator {
            cx,
            module,
            expansions: Cell::new(0),
            steps: Cell::new(0),
            externs: RefCell::default(),
            in_domain: Cell::new(false),
            in_recurrence: Cell::new(0),
            conditions: Cell::new(0),
            orders: RefCell::default(),
            supposed: Cell::new(false),
            indices: RefCell::default(),
            packed: RefCell::default(),
            wide: RefCell::default(),
            is_exact: Cell::new(false),
        }
    }

    /// Runs what is computed only where a condition holds.
    fn conditionally<T>(&self, run: impl FnOnce() -> T) -> T {
        let around = self.conditions.get();
        self.conditions.set(around + 1);
        let result = run();
        self.conditions.set(around);
        result
    }

    /// Whether nothing keeps what stands here from being computed: neither a condition nor an iteration over no points.
    fn is_reached(&self) -> bool {
        let indices = self.indices.borrow().iter().map(|(var, _)| var.clone()).collect();
        self.conditions.get() == 0 && !self.cx.are_nowhere(&indices)
    }

    /// Counts work, so that no input can make elaboration endless.
    fn step(&self, span: Span) -> Result<()> {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > MAX_STEPS {
            return Err(too_large(span));
        }
        Ok(())
    }

    fn expand(&self, span: Span) -> Result<()> {
        self.expansions.set(self.expansions.get() + 1);
        if self.expansions.get() > MAX_EXPANSIONS {
            return Err(too_large(span));
        }
        Ok(())
    }
}

fn too_large(span: Span) -> Errors {
    Errors::one(
        Diagnostic::error("the program is too large once its definitions are expanded")
            .at(span, "while expanding this"),
    )
}
