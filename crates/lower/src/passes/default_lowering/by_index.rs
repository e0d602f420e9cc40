//! `reduce_by_index` in parallel: copies of the results, one for each chunk of the elements.
//!
//! `reduce_by_index(k, z, f, is, xs) =
//!    zip(split(m, is), split(m, xs)) |> map(\(is, xs) -> reduceByIndexSeq(k, z, f, is, xs))
//!    |> transpose |> map(reduceSeq(z, f))`
//!
//! Chunks are in order, and so are folds, so f need only be associative. Elements added behind the last have the index −1, which
//! counts nowhere. The number of chunks is bounded by the memory that copies take; with one chunk there is no copy.

use lift_ir::{
    Build, Built, Call, Expr, FoldKind, Literal, MapKind, Nat, Pred, Prim, Scalar, Space, Type,
};

use super::{Decider, Level};
use crate::Target;

/// Scalars in all copies together, at most.
const COPIES: i128 = 1 << 24;

/// Elements that are worth a work-item of their own.
const CHUNK: i128 = 16;

/// Copies that one work-item folds, at most, where there is a choice.
const FOLDED: i128 = 1 << 7;

/// The parts of `reduce_by_index(k, z, f, is, xs)`.
struct Parts<'a> {
    call: &'a Call,
    k: &'a Nat,
    z: &'a Expr,
    indices: &'a Expr,
    xs: &'a Expr,
}

impl Decider<'_> {
    /// Outside all parallel maps in chunks, elsewhere in order.
    pub(super) fn by_index(&self, call: &Call, level: Level) -> Built {
        let in_order = || {
            let prim = Prim::ReduceByIndex(FoldKind::Seq);
            self.rebuild(call, prim, Level::Inside, super::read(level))
        };
        let ([k], [z, indices, xs]) = (call.sizes.as_slice(), call.args.as_slice()) else {
            return in_order();
        };
        match level {
            Level::Inside | Level::Kept => in_order(),
            Level::Host | Level::Read => {
                let parts = Parts { call, k, z, indices, xs };
                let chunks = self.chunks(&parts);
                if chunks == Nat::ONE {
                    return in_order();
                }
                let spelled = self.in_chunks(&parts, &chunks)?;
                self.expr(&spelled, level)
            }
        }
    }

    /// How many chunks there are: a power of two where the sizes are numbers.
    fn chunks(&self, parts: &Parts) -> Nat {
        let most = match self.target {
            Target::Threads => 1 << 14,
            Target::Loops => 1 << 6,
        };
        let copy = Nat::max(&(parts.k * scalars(parts.z.ty())), &Nat::ONE);
        let copy = self.cx.simplify(&copy);
        let length = parts.xs.ty().as_array().and_then(|(_, n)| n.as_int());
        let Some(copy) = copy.as_int() else {
            let room = Nat::int(COPIES).div(&copy);
            return self.cx.simplify(&Nat::max(&Nat::min(&room, &Nat::int(most)), &Nat::ONE));
        };
        let room = COPIES / copy.max(1);
        let worth = length.map_or(most, |n| match self.target {
            Target::Threads => n / CHUNK,
            // A processor has as much to do with a copy as with so many elements.
            Target::Loops => n / CHUNK.max(copy),
        });
        let chunks = most.min(room).min(worth).max(1);
        Nat::int(1 << chunks.ilog2())
    }

    fn in_chunks(&self, parts: &Parts, chunks: &Nat) -> Built {
        let b = Build::new(self.cx);
        let Parts { call, k, z, indices, xs } = parts;
        let Some((_, n)) = xs.ty().as_array() else { return Ok((*xs).clone()) };
        let index = match indices.ty().as_array() {
            Some((Type::Scalar(Scalar::I64), _)) => Scalar::I64,
            _ => Scalar::I32,
        };
        let even = chunks.as_int().is_some_and(|_| {
            self.cx.proves(&Pred::divides(chunks.clone(), n.clone()))
                && self.cx.proves(&Pred::Le(Nat::ONE, n.clone()))
        });
        // One more element than the quotient holds what remains, and is something where there is nothing.
        let length = if even { n.exact_div(chunks) } else { n.div(chunks) + Nat::ONE };
        let length = self.cx.simplify(&length);
        let rest = self.cx.simplify(&(chunks * &length - n));
        let cut = |value: &Expr, array: &Expr| {
            let padded = match even {
                true => Ok(array.clone()),
                false => b.pad_value(Nat::ZERO, rest.clone(), value, array),
            };
            b.split(length.clone(), padded)
        };
        let nowhere = self.cx.literal(Literal::Int(index, -1));
        let pairs = b.zip([cut(&nowhere, indices)?, cut(z, xs)?]);
        let in_order = |pair: Expr| {
            let args = vec![(*z).clone(), b.field(&pair, 0)?, b.field(&pair, 1)?];
            let prim = Prim::ReduceByIndex(FoldKind::Seq);
            self.cx.call(prim, vec![(*k).clone()], call.functions.clone(), args)
        };
        let copies = b.map_as(MapKind::Glb(0), in_order, pairs)?;
        let few = Nat::int(FOLDED);
        let copies = match chunks.as_int() {
            Some(chunks) if chunks > 2 * FOLDED => {
                let folded = |some: Expr| self.places_folded(parts, MapKind::Glb(0), some);
                b.map_as(MapKind::Glb(1), folded, b.split(few, copies))?
            }
            _ => copies,
        };
        self.places_folded(parts, MapKind::Map, copies)
    }

    /// `copies |> transpose |> map(reduceSeq(z, f))`
    fn places_folded(&self, parts: &Parts, kind: MapKind, copies: Expr) -> Built {
        let b = Build::new(self.cx);
        // A state of unknown length has no room in registers: it is built up where it is wanted.
        let z = match scalars(parts.z.ty()).as_int() {
            Some(_) => parts.z.clone(),
            None => b.to(Space::Global, Ok, parts.z)?,
        };
        let fold = |column: Expr| {
            let args = vec![z.clone(), column];
            let functions = parts.call.functions.clone();
            self.cx.call(Prim::Reduce(FoldKind::Seq), vec![], functions, args)
        };
        b.map_as(kind, fold, b.transpose(copies))
    }
}

/// How many scalars a value consists of.
fn scalars(ty: &Type) -> Nat {
    match ty {
        Type::Scalar(_) => Nat::ONE,
        Type::Vector(_, n) => n.clone(),
        Type::Tuple(items) => items.iter().fold(Nat::ZERO, |sum, item| sum + scalars(item)),
        Type::Array(element, n) => scalars(element) * n,
    }
}
