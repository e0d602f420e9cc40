//! `reduce_by_index` in parallel: copies of the results, one for each share of the elements.
//!
//! `reduce_by_index(k, z, f, is, xs) =
//!    zip(split(m, is), split(m, xs)) |> map(\(is, xs) -> reduceByIndexSeq(k, z, f, is, xs))
//!    |> transpose |> map(reduceSeq(z, f))`
//!
//! A thread of a processor has a chunk; other work-items have columns, so that neighbours read side by side. Where results are
//! few, the work-items of a group have their copies in local memory, place by place, so that no two of them meet in a bank, and fold
//! them there. Where there are more than local memory has room for, and f is an operation that the device does as one step, there are
//! no copies: all work-items change the results, `reduceByIndexGlb(k, z, f, is, xs)`. Elements added behind the last have the index −1, which counts nowhere. The number of copies is bounded by the
//! memory that they take; with one share there is no copy.

use lift_ir::{
    AtomicFold, Build, Built, Call, Expr, FoldKind, Literal, MapKind, Nat, Pred, Prim, Scalar,
    Space, Type,
};

use super::{Decider, Level};
use crate::Target;
use crate::passes::translate::constant_bytes;

/// Scalars in all copies together, at most.
const COPIES: i128 = 1 << 24;

/// Bytes of the copies in local memory, at most: all devices have so much.
pub(super) const LOCAL: i128 = 1 << 15;

/// Work-items of a group that has copies in local memory, at least and at most; and such groups, at most.
pub(super) const LANES: (i128, i128) = (1 << 5, 1 << 8);
pub(super) const GROUPS: i128 = 1 << 9;

/// Copies, at most, where the number of places is not known.
const OPEN: i128 = 1 << 12;

/// Scalars of a state that a work-item keeps in registers, at most.
const KEPT: i128 = 1 << 6;

/// Elements that are worth a copy.
pub(super) const CHUNK: i128 = 16;

/// Copies that one work-item folds, at most, where there is a choice.
const FOLDED: i128 = 1 << 7;

/// The parts of `reduce_by_index(k, z, f, is, xs)`.
pub(super) struct Parts<'a> {
    pub(super) call: &'a Call,
    pub(super) k: &'a Nat,
    pub(super) z: &'a Expr,
    pub(super) indices: &'a Expr,
    pub(super) xs: &'a Expr,
}

impl<'a> Parts<'a> {
    pub(super) fn of(call: &'a Call) -> Option<Parts<'a>> {
        match (&call.prim, call.sizes.as_slice(), call.args.as_slice()) {
            (Prim::ReduceByIndex(FoldKind::Any), [k], [z, indices, xs]) => {
                Some(Parts { call, k, z, indices, xs })
            }
            _ => None,
        }
    }

    /// How many elements are folded, where that is known.
    pub(super) fn elements(&self) -> Option<i128> {
        self.xs.ty().as_array()?.1.as_int()
    }
}

impl Decider<'_> {
    /// Outside all parallel maps in chunks, elsewhere in order.
    pub(super) fn by_index(&self, call: &Call, level: Level) -> Built {
        let b = Build::new(self.cx);
        let in_order = || {
            let prim = Prim::ReduceByIndex(FoldKind::Seq);
            self.rebuild(call, prim, Level::Inside, super::read(level))
        };
        let Some(parts) = Parts::of(call) else { return in_order() };
        match level {
            Level::Inside | Level::Kept | Level::Group => in_order(),
            Level::Host | Level::Fused => {
                if lanes_near(&parts).is_none() && self.is_changed_together(&parts) {
                    return self.rebuild(
                        call,
                        Prim::ReduceByIndex(FoldKind::Glb),
                        Level::Inside,
                        super::read(level),
                    );
                }
                let in_groups = self.room_in_groups(&parts, 1).filter(|(groups, _)| *groups > 1);
                let copies = match in_groups {
                    Some((groups, lanes)) => {
                        let by_group = |group| self.copy_of_group(&parts, lanes, group);
                        b.map_as(
                            MapKind::Wrg(0),
                            by_group,
                            self.pairs_of_groups(&parts, groups, lanes),
                        )?
                    }
                    None => match self.shares(&parts, 1) {
                        Nat::ONE => return in_order(),
                        shares => {
                            let chunk = |pair| self.chunk_in_order(&parts, pair);
                            b.map_as(MapKind::Glb(0), chunk, self.pairs_of_items(&parts, &shares))?
                        }
                    },
                };
                self.expr(&self.folded(&parts, copies)?, level)
            }
        }
    }

    /// Whether work-items of a group have room for a copy of the results each.
    pub(super) fn has_room_near(&self, parts: &Parts) -> bool {
        lanes_near(parts).is_some()
    }

    /// Whether all work-items change the same results, each number in one step, where copies have no room near them.
    pub(super) fn is_changed_together(&self, parts: &Parts) -> bool {
        let steps = parts.call.functions.first().and_then(AtomicFold::of);
        let is_known = |fold: &AtomicFold| {
            fold.steps.iter().all(|step| self.options.changes_at_once(step.scalar))
        };
        if self.target != Target::Threads || !steps.is_some_and(|fold| is_known(&fold)) {
            return false;
        }
        let ways = ["results changed in place by all", "copies of results"];
        self.options.choices.take("default_lowering", ways.map(String::from).to_vec()) == 0
    }

    /// How many groups of each of some folds, and work-items of each, have copies in local memory, where they pay: powers
    /// of two.
    pub(super) fn room_in_groups(&self, parts: &Parts, folds: i128) -> Option<(i128, i128)> {
        let lanes = lanes_near(parts)?;
        let most = (GROUPS / folds.max(1)).max(1);
        let any = self.options.groups_for_any();
        let worth = parts.elements().map_or(any, |n| n / (lanes * CHUNK));
        let groups = power(worth.min(most))?;
        (self.target == Target::Threads).then_some((groups, lanes))
    }

    /// How many shares the elements of each of some folds have: a power of two where the sizes are numbers.
    pub(super) fn shares(&self, parts: &Parts, folds: i128) -> Nat {
        let most = match (self.target, parts.elements()) {
            (Target::Threads, Some(_)) => 1 << 14,
            (Target::Threads, None) => self.options.groups_for_any() * LANES.0,
            (Target::Loops, _) => 1 << 6,
        } / folds.max(1);
        let copy = self.cx.simplify(&(parts.k * scalars(parts.z.ty())));
        let Some(copy) = copy.as_int() else {
            // There may be no place at all, and there is always a share. Copies of any number are folded in one step.
            let room = Nat::int(COPIES).div(&(copy + Nat::ONE));
            let most = Nat::int(most.min(OPEN) - 1);
            return self.cx.simplify(&(Nat::min(&room, &most) + Nat::ONE));
        };
        let room = COPIES / copy.saturating_mul(folds).max(1);
        let worth = parts.elements().map_or(most, |n| match self.target {
            Target::Threads => n / CHUNK,
            // A processor has as much to do with a copy as with so many elements.
            Target::Loops => n / CHUNK.max(copy),
        });
        power(most.min(room).min(worth)).map_or(Nat::ONE, Nat::int)
    }

    /// Pairs of indices and elements, one for each work-item.
    pub(super) fn pairs_of_items(&self, parts: &Parts, shares: &Nat) -> Built {
        let b = Build::new(self.cx);
        self.copies_of_shares(parts, shares, |length, array| match self.target {
            Target::Loops => b.split(length, array),
            Target::Threads => b.transpose(b.split(shares.clone(), array)),
        })
    }

    /// Pairs of indices and elements, one for each group.
    pub(super) fn pairs_of_groups(&self, parts: &Parts, groups: i128, lanes: i128) -> Built {
        let b = Build::new(self.cx);
        let items = Nat::int(groups * lanes);
        self.copies_of_shares(parts, &items, |length, array| {
            b.split(length * Nat::int(lanes), array)
        })
    }

    /// What the copies of a group's work-items are folded to by the group.
    pub(super) fn copy_of_group(&self, parts: &Parts, lanes: i128, pair: Expr) -> Built {
        let b = Build::new(self.cx);
        let columns = |part| b.transpose(b.split(Nat::int(lanes), b.field(&pair, part)));
        let columns = b.zip([columns(0)?, columns(1)?]);
        let copies = b.map_as(MapKind::Lcl(0), |pair| self.chunk_in_order(parts, pair), columns);
        let places = b.to(Space::Local, Ok, b.transpose(copies))?;
        let fold = |place| b.to(Space::Global, |place| self.fold(parts, place), place);
        b.map_as(MapKind::Lcl(0), fold, places)
    }

    /// Indices and elements, in pairs of what `cut` makes of them, given the length of a share and an array of as many as there
    /// are shares.
    fn copies_of_shares(
        &self,
        parts: &Parts,
        shares: &Nat,
        cut: impl Fn(Nat, Expr) -> Built,
    ) -> Built {
        let b = Build::new(self.cx);
        let Parts { z, indices, xs, .. } = parts;
        let Some((_, n)) = xs.ty().as_array() else { return Ok((*xs).clone()) };
        let index = match indices.ty().as_array() {
            Some((Type::Scalar(Scalar::I64), _)) => Scalar::I64,
            _ => Scalar::I32,
        };
        let even = shares.as_int().is_some()
            && self.cx.proves(&Pred::divides(shares.clone(), n.clone()))
            && self.cx.proves(&Pred::Le(Nat::ONE, n.clone()));
        // One more element than the quotient holds what remains, and is something where there is nothing.
        let length = if even { n.exact_div(shares) } else { n.div(shares) + Nat::ONE };
        let length = self.cx.simplify(&length);
        let rest = self.cx.simplify(&(shares * &length - n));
        let cut = |value: &Expr, array: &Expr| match even {
            true => cut(length.clone(), array.clone()),
            false => cut(length.clone(), b.pad_value(Nat::ZERO, rest.clone(), value, array)?),
        };
        let nowhere = self.cx.literal(Literal::Int(index, -1));
        b.zip([cut(&nowhere, indices)?, cut(z, xs)?])
    }

    /// `reduceByIndexSeq` of a pair of indices and elements.
    pub(super) fn chunk_in_order(&self, parts: &Parts, pair: Expr) -> Built {
        let b = Build::new(self.cx);
        let args = vec![parts.z.clone(), b.field(&pair, 0)?, b.field(&pair, 1)?];
        let prim = Prim::ReduceByIndex(FoldKind::Seq);
        self.cx.call(prim, vec![parts.k.clone()], parts.call.functions.clone(), args)
    }

    /// `copies |> transpose |> map(reduceSeq(z, f))`, in two steps where there are many.
    pub(super) fn folded(&self, parts: &Parts, copies: Expr) -> Built {
        let b = Build::new(self.cx);
        let by_place = |kind, copies: Expr| {
            b.map_as(kind, |place| self.fold(parts, place), b.transpose(copies))
        };
        let many = copies.ty().as_array().and_then(|(_, n)| n.as_int());
        let part = many.filter(|many| *many > 2 * FOLDED);
        let copies = match part.and_then(|many| divisor(many, FOLDED)) {
            Some(part) => {
                let some = b.split(Nat::int(part), copies);
                b.map_as(MapKind::Glb(1), |some| by_place(MapKind::Glb(0), some), some)?
            }
            None => copies,
        };
        by_place(MapKind::Map, copies)
    }

    /// `reduceSeq(z, f, column)`
    pub(super) fn fold(&self, parts: &Parts, column: Expr) -> Built {
        // A long state has no room in registers: it is built up where it is wanted.
        let z = match scalars(parts.z.ty()).as_int() {
            Some(count) if count <= KEPT => parts.z.clone(),
            _ => Build::new(self.cx).to(Space::Global, Ok, parts.z)?,
        };
        let functions = parts.call.functions.clone();
        self.cx.call(Prim::Reduce(FoldKind::Seq), vec![], functions, vec![z, column])
    }
}

/// How many work-items of a group have a copy in local memory each, where that has room for enough.
fn lanes_near(parts: &Parts) -> Option<i128> {
    let copy = constant_bytes(parts.z.ty())?.checked_mul(parts.k.as_int()?)?;
    let lanes = LOCAL.checked_div(copy)?.min(LANES.1);
    power(lanes).filter(|lanes| *lanes >= LANES.0)
}

/// The greatest power of two that is at most a number.
pub(super) fn power(number: i128) -> Option<i128> {
    number.checked_ilog2().map(|log| 1 << log)
}

/// The greatest divisor of a number that is at most another, and no less than half of that.
pub(super) fn divisor(number: i128, most: i128) -> Option<i128> {
    (most / 2 + 1..=most).rev().find(|part| number % part == 0)
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
