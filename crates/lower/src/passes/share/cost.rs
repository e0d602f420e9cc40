//! What it costs to read an element of an array that is computed on reading.

use std::cell::RefCell;
use std::collections::BTreeMap;

use lift_ir::{BinaryOp, Call, Expr, Kind, Lambda, Math, Param, Prim};

use crate::Target;

/// A load, or an addition.
const STEP: u32 = 1;
/// On a processor, a choice or an element that data choose: where a fold has one in its steps, lanes share it less well, or not at
/// all.
const APART: u32 = 3;
/// A division, a remainder or a root.
const SLOW_STEP: u32 = 4;
/// A function such as `exp`.
const FUNCTION: u32 = 16;
/// A loop.
const LOOP: u32 = 256;

/// Reading an element again costs no more than memory: a load and two operations on it.
const CHEAP: u32 = 3;

/// The cost of reading an element of each variable that stands for something computed on reading. Any other
/// variable is in memory.
#[derive(Default)]
pub(super) struct Costs {
    known: RefCell<BTreeMap<u32, u32>>,
    target: Target,
}

impl Costs {
    pub(super) fn on(target: Target) -> Costs {
        Costs { target, ..Costs::default() }
    }

    pub(super) fn bind(&self, param: &Param, cost: u32) {
        self.known.borrow_mut().insert(param.id(), cost);
    }

    /// Whether computing an element is cheaper than memory.
    pub(super) fn is_cheap(&self, expr: &Expr) -> bool {
        self.of(expr) <= CHEAP
    }

    /// Whether computing a scalar takes a loop or a function.
    pub(super) fn is_dear(&self, expr: &Expr) -> bool {
        self.of(expr) >= FUNCTION
    }

    /// Whether computing an element, or a scalar, takes a loop, or as long as one.
    pub(super) fn takes_a_loop(&self, expr: &Expr) -> bool {
        self.of(expr) >= LOOP
    }

    /// The cost of one element, or of a scalar.
    pub(super) fn of(&self, expr: &Expr) -> u32 {
        match expr.kind() {
            Kind::Literal(_) | Kind::Size(..) => 0,
            Kind::Var(param) => self.known.borrow().get(&param.id()).copied().unwrap_or(STEP),
            Kind::Let { param, value, body } => {
                let value = self.of(value);
                if param.ty().is_register() {
                    self.bind(param, 0);
                    return value.saturating_add(self.of(body));
                }
                self.bind(param, value);
                self.of(body)
            }
            Kind::Call(call) => self.call(call),
        }
    }

    fn call(&self, call: &Call) -> u32 {
        let args = || call.args.iter().fold(0u32, |sum, a| sum.saturating_add(self.of(a)));
        match &call.prim {
            Prim::Map(_) => self.applied(call),
            Prim::Generate => call.functions.first().map_or(0, |f| self.entered(f, 0).max(STEP)),
            Prim::Reduce(_)
            | Prim::Scan(_)
            | Prim::PartialReduce
            | Prim::ReduceByIndex(_)
            | Prim::MapSeqSlide
            | Prim::Iterate
            | Prim::IterateIndex
            | Prim::IterateUntil
            | Prim::ReduceRange(_)
            | Prim::Update => LOOP,
            Prim::Zip
            | Prim::Unzip
            | Prim::Split
            | Prim::Join
            | Prim::Transpose
            | Prim::Gather(_)
            | Prim::Scatter(_)
            | Prim::Slide
            | Prim::Pad(_)
            | Prim::PadValue
            | Prim::Take
            | Prim::Drop
            | Prim::Concat
            | Prim::Head
            | Prim::Repeat
            | Prim::AsVector
            | Prim::AsScalar
            | Prim::Tuple
            | Prim::Field(_)
            | Prim::Array
            | Prim::Vector
            | Prim::Splat
            | Prim::Lane => args(),
            Prim::At => {
                let is_data =
                    |index: &Expr| !matches!(index.kind(), Kind::Literal(_) | Kind::Size(..));
                let by_data = call.args.get(1).is_some_and(is_data);
                args().saturating_add(if by_data { self.apart() } else { STEP })
            }
            Prim::If => args().saturating_add(self.apart()),
            Prim::Id | Prim::Cast(_) | Prim::Unary(_) => args().saturating_add(STEP),
            Prim::Binary(op) => args().saturating_add(match op {
                BinaryOp::Div | BinaryOp::Rem => SLOW_STEP,
                _ => STEP,
            }),
            Prim::Math(Math::Min | Math::Max | Math::Clamp) => args().saturating_add(self.apart()),
            Prim::Math(math) => args().saturating_add(function_cost(*math)),
            Prim::Rank(_) => args().saturating_add(SLOW_STEP),
            Prim::Point(_) => args().saturating_add(FUNCTION),
            Prim::Extern(_) => args().saturating_add(FUNCTION),
            Prim::To(_) | Prim::Vectorize => self.applied(call),
        }
    }

    fn apart(&self) -> u32 {
        if self.target == Target::Loops { APART } else { STEP }
    }

    /// A function of elements: scalars are computed before it, rows where it reads them.
    fn applied(&self, call: &Call) -> u32 {
        let Some(f) = call.functions.first() else { return 0 };
        let mut before = 0u32;
        for (param, arg) in f.params.iter().zip(&call.args) {
            let cost = self.of(arg);
            let scalar = param.ty().is_register();
            self.bind(param, if scalar { 0 } else { cost });
            before = before.saturating_add(if scalar { cost } else { 0 });
        }
        before.saturating_add(self.of(&f.body))
    }

    fn entered(&self, f: &Lambda, cost: u32) -> u32 {
        f.params.iter().for_each(|param| self.bind(param, cost));
        self.of(&f.body)
    }
}

fn function_cost(math: Math) -> u32 {
    match math {
        Math::Sqrt | Math::Rsqrt => SLOW_STEP,
        _ if math.is_approximate() => FUNCTION,
        _ => STEP,
    }
}
