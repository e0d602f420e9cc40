//! Stores, and what was stored read back.

use lift_ir::{Nat, Range, Var};
use lift_kernel::{Access, Expr, LoopKind, Stmt};

use super::Translator;
use super::control::is_simple;
use super::emitter::Emitter;
use super::view::{Leaf, Place, View, Writer, broken};
use crate::LowerError;

impl Translator {
    /// Writes a value.
    pub(super) fn store(&mut self, view: View, writer: &Writer) -> Result<(), LowerError> {
        match (view, writer) {
            (View::Value(value), Writer::Leaf(leaf)) => self.out.store_leaf(value, leaf),
            (View::Tuple(values), Writer::Tuple(writers)) if values.len() == writers.len() => {
                // All components are read before any is written.
                let mut written = Vec::new();
                writers.iter().for_each(|w| w.variables(&mut written));
                let values: Vec<View> =
                    values.into_iter().map(|v| self.out.settled(v, &written)).collect();
                values.into_iter().zip(writers).try_for_each(|(v, w)| self.store(v, w))
            }
            (View::Array(array), Writer::Array(length, at)) => {
                let at = at.clone();
                self.repeat(LoopKind::Seq, length, |t, i| {
                    let value = array.read(t, i)?;
                    t.store(value, &at(i)?)
                })
            }
            _ => Err(broken("a value and a place of one shape")),
        }
    }

    /// Writes an array, its outer dimensions by the work-items of a group that hold it.
    pub(super) fn store_shares(
        &mut self,
        view: View,
        writer: &Writer,
        dimensions: &[u8],
    ) -> Result<(), LowerError> {
        match (view, writer, dimensions) {
            (View::Array(array), Writer::Array(length, at), [outer, inner @ ..]) => {
                let at = at.clone();
                self.repeat(LoopKind::Local(*outer), length, |t, i| {
                    let value = array.read(t, i)?;
                    t.store_shares(value, &at(i)?, inner)
                })
            }
            (view, writer, _) => self.store(view, writer),
        }
    }

    /// Whether a view reads exactly what a writer writes, so that the value is in place already.
    pub(super) fn same_place(&mut self, view: &View, writer: &Writer) -> Result<bool, LowerError> {
        match (view, writer) {
            (View::Value(Expr::Load(access, _)), Writer::Leaf(Leaf::Place(place))) => {
                Ok(*access == place.access(&self.out))
            }
            (View::Value(Expr::Var(read)), Writer::Leaf(Leaf::Variable(written))) => {
                Ok(read == written)
            }
            (View::Tuple(values), Writer::Tuple(writers)) if values.len() == writers.len() => {
                for (value, writer) in values.iter().zip(writers) {
                    if !self.same_place(value, writer)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (View::Array(array), Writer::Array(length, at)) => {
                // Reading may take statements; those of a trial are thrown away.
                let probe = self.out.fresh_index("probe", Range::below(length.clone()));
                let (array, at) = (array.clone(), at.clone());
                let mut same = false;
                self.collect(|t| {
                    let index = Nat::var(&probe);
                    let element = array.read(t, &index)?;
                    same = t.same_place(&element, &at(&index)?)?;
                    Ok(())
                })?;
                Ok(same)
            }
            _ => Ok(false),
        }
    }
}

impl Emitter {
    /// What was written, to be read again.
    pub(super) fn read_back(&self, writer: &Writer) -> Result<View, LowerError> {
        match writer {
            Writer::Leaf(Leaf::Place(place)) => Ok(View::Value(place.load(self))),
            Writer::Leaf(Leaf::Variable(var)) => Ok(View::Value(Expr::Var(var.clone()))),
            Writer::Leaf(Leaf::Guarded(..) | Leaf::Lanes(_)) => Err(broken("a plain place")),
            Writer::Tuple(items) => {
                let items: Result<Vec<View>, LowerError> =
                    items.iter().map(|w| self.read_back(w)).collect();
                Ok(View::Tuple(items?))
            }
            Writer::Array(length, at) => {
                let at = at.clone();
                Ok(View::array(length, move |t, i| {
                    let place = at(i)?;
                    t.out.read_back(&place)
                }))
            }
        }
    }

    /// A value in a variable that is none of those to be written.
    fn settled(&mut self, view: View, written: &[Var]) -> View {
        match view {
            View::Value(value) if !is_simple(&value) || mentions_one(&value, written) => {
                let var = self.fresh_variable("part", value.ty());
                self.emit(Stmt::Declare { var: var.clone(), value: Some(value) });
                View::Value(Expr::Var(var))
            }
            View::Tuple(parts) => {
                View::Tuple(parts.into_iter().map(|part| self.settled(part, written)).collect())
            }
            View::Value(_) | View::Array(_) => view,
        }
    }

    fn store_leaf(&mut self, value: Expr, leaf: &Leaf) -> Result<(), LowerError> {
        match leaf {
            Leaf::Place(place) => {
                let access = place.access(self);
                self.emit(Stmt::Store { access, value });
                Ok(())
            }
            Leaf::Variable(var) => {
                self.emit(Stmt::Assign { var: var.clone(), value });
                Ok(())
            }
            Leaf::Guarded(condition, inner) => {
                if self.proves(condition) {
                    return self.store_leaf(value, inner);
                }
                let outside = self.open_block();
                let stored = self.store_leaf(value, inner);
                let then = self.close_block(outside);
                stored?;
                let condition = Expr::Test(condition.clone());
                self.emit(Stmt::If { condition, then, otherwise: Vec::new() });
                Ok(())
            }
            Leaf::Lanes(lanes) => match self.adjacent(lanes) {
                Some(place) => self.store_leaf(value, &Leaf::Place(place)),
                None => {
                    let View::Value(vector) = self.settled(View::Value(value), &[]) else {
                        return Err(broken("a vector"));
                    };
                    for (i, lane) in lanes.iter().enumerate() {
                        let part = Expr::Lane(Box::new(vector.clone()), i as u32);
                        self.store_leaf(part, lane)?;
                    }
                    Ok(())
                }
            },
        }
    }

    /// The one place of a vector whose lanes lie next to each other in a buffer.
    fn adjacent(&self, lanes: &[Leaf]) -> Option<Place> {
        let Some(Leaf::Place(first)) = lanes.first() else { return None };
        for (i, lane) in lanes.iter().enumerate() {
            let Leaf::Place(place) = lane else { return None };
            let expected = &first.index + Nat::int(i as i128);
            let same = place.buffer == first.buffer && place.items == first.items;
            if !same || !self.facts.equal(&place.index, &expected) {
                return None;
            }
        }
        Some(Place { width: lanes.len() as u32, ..first.clone() })
    }

    /// As [`Emitter::adjacent`], for values that are read.
    pub(super) fn adjacent_loads(&self, lanes: &[Expr]) -> Option<Expr> {
        let Some(Expr::Load(first, ty)) = lanes.first() else { return None };
        for (i, lane) in lanes.iter().enumerate() {
            let Expr::Load(access, _) = lane else { return None };
            let distance = access.distance_from(first)?;
            if access.width != 1 || !self.facts.equal(&distance, &Nat::int(i as i128)) {
                return None;
            }
        }
        let width = lanes.len() as u32;
        let aligned = self.divides(&Nat::int(i128::from(width)), &first.index);
        let access = Access { width, aligned, ..first.clone() };
        Some(Expr::Load(access, lift_kernel::ValueType::vector(ty.scalar, width)))
    }
}

/// Whether a value mentions one of some variables.
fn mentions_one(value: &Expr, variables: &[Var]) -> bool {
    let mut found = false;
    value.each(&mut |e| found |= matches!(e, Expr::Var(v) if variables.contains(&v.id)));
    found
}
