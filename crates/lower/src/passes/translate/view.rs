//! Views: how a value is read and where it is written.
//!
//! A layout pattern is a function from indices to indices, applied when an element is read or
//! written; nothing is moved. Reading goes through [`View`], writing through [`Writer`].

use std::rc::Rc;

use lift_ir::{Nat, Pred, Scalar, Var};
use lift_kernel::{Access, BufferId, Expr, ValueType, Variable};

use super::Translator;
use super::emitter::Emitter;
use crate::LowerError;

/// A value that can be read.
#[derive(Clone)]
pub(crate) enum View {
    Value(Expr),
    Tuple(Vec<View>),
    Array(ArrayView),
}

/// The element at an index; reading may take statements.
pub(crate) type Read = dyn Fn(&mut Translator, &Nat) -> Result<View, LowerError>;

/// A value that is read later, or not at all.
pub(crate) type Later = Rc<dyn Fn(&mut Translator) -> Result<View, LowerError>>;

#[derive(Clone)]
pub(crate) struct ArrayView {
    pub length: Nat,
    pub at: Rc<Read>,
}

impl View {
    pub(crate) fn array(
        length: &Nat,
        at: impl Fn(&mut Translator, &Nat) -> Result<View, LowerError> + 'static,
    ) -> View {
        View::Array(ArrayView { length: length.clone(), at: Rc::new(at) })
    }

    pub(crate) fn into_array(self) -> Result<ArrayView, LowerError> {
        match self {
            View::Array(array) => Ok(array),
            View::Value(_) | View::Tuple(_) => Err(broken("an array")),
        }
    }

    pub(crate) fn into_value(self) -> Result<Expr, LowerError> {
        match self {
            View::Value(value) => Ok(value),
            View::Tuple(_) | View::Array(_) => Err(broken("a scalar")),
        }
    }

    pub(crate) fn component(&self, index: usize) -> Result<View, LowerError> {
        match self {
            View::Tuple(items) => items.get(index).cloned().ok_or_else(|| broken("a component")),
            View::Value(_) | View::Array(_) => Err(broken("a tuple")),
        }
    }
}

impl ArrayView {
    pub(crate) fn read(&self, t: &mut Translator, index: &Nat) -> Result<View, LowerError> {
        (self.at)(t, index)
    }
}

/// Types are checked when programs are made, so this is never met.
pub(crate) fn broken(wanted: &str) -> LowerError {
    LowerError::broken(format!("the compiler expected {wanted} here and found something else"))
}

/// The place of the element at an index.
pub(crate) type Write = dyn Fn(&Nat) -> Result<Writer, LowerError>;

/// A place that can be written.
#[derive(Clone)]
pub(crate) enum Writer {
    Leaf(Leaf),
    Tuple(Vec<Writer>),
    Array(Nat, Rc<Write>),
}

/// Where a scalar or vector goes.
#[derive(Clone)]
pub(crate) enum Leaf {
    Place(Place),
    Variable(Variable),
    /// A vector whose lanes go to places of their own.
    Lanes(Vec<Leaf>),
    /// Written only where the condition holds.
    Guarded(Pred, Box<Leaf>),
}

/// An element of a buffer.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Place {
    pub buffer: BufferId,
    pub index: Nat,
    pub stage: Nat,
    pub items: Vec<Nat>,
    pub scalar: Scalar,
    pub width: u32,
}

impl Writer {
    pub(crate) fn array(
        length: &Nat,
        at: impl Fn(&Nat) -> Result<Writer, LowerError> + 'static,
    ) -> Writer {
        Writer::Array(length.clone(), Rc::new(at))
    }

    pub(crate) fn at(&self, index: &Nat) -> Result<Writer, LowerError> {
        match self {
            Writer::Array(_, at) => at(index),
            Writer::Leaf(_) | Writer::Tuple(_) => Err(broken("an array to write")),
        }
    }

    pub(crate) fn component(&self, index: usize) -> Result<Writer, LowerError> {
        match self {
            Writer::Tuple(items) => items.get(index).cloned().ok_or_else(|| broken("a component")),
            Writer::Leaf(_) | Writer::Array(..) => Err(broken("a tuple to write")),
        }
    }

    /// Adds the variables that are written.
    pub(crate) fn variables(&self, found: &mut Vec<Var>) {
        match self {
            Writer::Leaf(leaf) => leaf.variables(found),
            Writer::Tuple(items) => items.iter().for_each(|w| w.variables(found)),
            Writer::Array(..) => {}
        }
    }

    /// The same place, written only where the condition holds.
    pub(crate) fn guarded(self, condition: &Pred) -> Writer {
        match self {
            Writer::Leaf(leaf) => Writer::Leaf(Leaf::Guarded(condition.clone(), Box::new(leaf))),
            Writer::Tuple(items) => {
                Writer::Tuple(items.into_iter().map(|w| w.guarded(condition)).collect())
            }
            Writer::Array(length, at) => {
                let condition = condition.clone();
                Writer::array(&length, move |i| Ok(at(i)?.guarded(&condition)))
            }
        }
    }
}

impl Leaf {
    fn variables(&self, found: &mut Vec<Var>) {
        match self {
            Leaf::Variable(var) => found.push(var.id.clone()),
            Leaf::Guarded(_, inner) => inner.variables(found),
            Leaf::Lanes(lanes) => lanes.iter().for_each(|lane| lane.variables(found)),
            Leaf::Place(_) => {}
        }
    }

    /// Whether all lanes lie in one buffer, side by side.
    pub(crate) fn is_in_memory(&self) -> bool {
        match self {
            Leaf::Place(_) => true,
            Leaf::Guarded(_, inner) => inner.is_in_memory(),
            Leaf::Variable(_) | Leaf::Lanes(_) => false,
        }
    }

    /// One lane of a vector's place.
    pub(crate) fn lane(&self, lane: u32) -> Result<Leaf, LowerError> {
        match self {
            Leaf::Place(place) => Ok(Leaf::Place(Place {
                index: &place.index + Nat::int(i128::from(lane)),
                width: 1,
                ..place.clone()
            })),
            Leaf::Lanes(lanes) => lanes.get(lane as usize).cloned().ok_or_else(|| broken("a lane")),
            Leaf::Guarded(condition, inner) => {
                Ok(Leaf::Guarded(condition.clone(), Box::new(inner.lane(lane)?)))
            }
            Leaf::Variable(_) => Err(broken("a lane in memory")),
        }
    }
}

impl Place {
    pub(crate) fn load(&self, out: &Emitter) -> Expr {
        Expr::Load(self.access(out), ValueType { scalar: self.scalar, width: self.width })
    }

    pub(crate) fn access(&self, out: &Emitter) -> Access {
        let index = out.index(&self.index);
        let aligned = self.width > 1 && out.divides(&Nat::int(i128::from(self.width)), &index);
        Access {
            buffer: self.buffer,
            index,
            stage: out.simplify(&self.stage),
            items: self.items.iter().map(|n| out.simplify(n)).collect(),
            width: self.width,
            aligned,
        }
    }
}
