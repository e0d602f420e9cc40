//! Memory: one buffer for each scalar or vector in a type, arrays laid out row by row.

use lift_ir::{Nat, Scalar, Space, Type, Var};
use lift_kernel::{Buffer, BufferId, LoopKind};

use super::emitter::Emitter;
use super::lanes;
use super::view::{Leaf, Place, View, Writer};
use crate::LowerError;
use crate::passes::check_limits::open_size;
use crate::plan::{PlanBuffer, Role};

/// Every allocator aligns buffers to at least so many bytes, so vectors up to this size can be loaded
/// whole.
const GLOBAL_ALIGN: u32 = 16;

/// A value in memory.
#[derive(Clone)]
pub(super) struct Storage {
    ty: Type,
    /// The buffers of the leaves of the type, in order.
    leaves: Vec<Stored>,
    /// Where it starts, in elements of the innermost type.
    offset: Nat,
    /// Which of several copies, see [`Emitter::allocate_stages`].
    stage: Nat,
    /// Elements added to rows, and whether this is inside an array, where rows are padded.
    padding: u32,
    inside: bool,
    /// How many outer dimensions are spread over work-items, each keeping its share.
    spread: usize,
    /// The first work-item that keeps a share.
    first: Nat,
    items: Vec<Nat>,
}

#[derive(Clone)]
struct Stored {
    buffer: BufferId,
    scalar: Scalar,
    width: u32,
}

/// The bytes of a value, where the length of everything in its type is a number.
pub(crate) fn constant_bytes(ty: &Type) -> Option<i128> {
    match ty {
        Type::Scalar(scalar) => Some(scalar.bytes() as i128),
        Type::Vector(scalar, n) => n.as_int()?.checked_mul(scalar.bytes() as i128),
        Type::Tuple(items) => {
            items.iter().try_fold(0i128, |all, item| all.checked_add(constant_bytes(item)?))
        }
        Type::Array(element, n) => n.as_int()?.checked_mul(constant_bytes(element)?),
    }
}

/// The scalars and vectors in a type with how many there are of each, in order.
fn leaves(ty: &Type) -> Result<Vec<(Scalar, u32, Nat)>, LowerError> {
    padded_leaves(ty, 0, false)
}

/// The same where rows inside an array are longer by a padding.
fn padded_leaves(
    ty: &Type,
    padding: u32,
    inside: bool,
) -> Result<Vec<(Scalar, u32, Nat)>, LowerError> {
    match ty {
        Type::Scalar(s) => Ok(vec![(*s, 1, Nat::int(1))]),
        Type::Vector(s, width) => Ok(vec![(*s, lanes(width)?, Nat::int(1))]),
        Type::Tuple(items) => {
            let mut all = Vec::new();
            for item in items.iter() {
                all.extend(padded_leaves(item, padding, inside)?);
            }
            Ok(all)
        }
        Type::Array(element, n) => {
            let inner = padded_leaves(element, padding, true)?;
            let n = if inside { row_length(element, n, padding) } else { n.clone() };
            Ok(inner.into_iter().map(|(s, w, count)| (s, w, count * &n)).collect())
        }
    }
}

/// The length of a row in memory; only rows of scalars are padded.
fn row_length(element: &Type, n: &Nat, padding: u32) -> Nat {
    if element.as_array().is_some() { n.clone() } else { n + Nat::int(padding.into()) }
}

impl Emitter {
    /// A value in global memory, known to the host.
    pub(super) fn global(
        &mut self,
        name: &str,
        ty: &Type,
        role: impl Fn(usize) -> Role,
    ) -> Result<Storage, LowerError> {
        let mut stored = Vec::new();
        let all = leaves(ty)?;
        let several = all.len() > 1;
        for (leaf, (scalar, width, count)) in all.into_iter().enumerate() {
            let wanted = if several { format!("{name}_{leaf}") } else { name.to_string() };
            let buffer = Buffer {
                id: self.fresh_buffer(),
                name: self.buffer_name(&wanted),
                scalar,
                length: self.simplify(&(count * Nat::int(i128::from(width)))),
                stages: 1,
                space: Space::Global,
                items: Vec::new(),
                align: GLOBAL_ALIGN,
                heap: false,
            };
            stored.push(Stored { buffer: buffer.id, scalar, width });
            self.buffers.push(PlanBuffer { buffer, role: role(leaf) });
        }
        Ok(Storage {
            ty: ty.clone(),
            leaves: stored,
            offset: Nat::int(0),
            stage: Nat::ZERO,
            padding: 0,
            inside: false,
            spread: 0,
            first: Nat::ZERO,
            items: Vec::new(),
        })
    }

    /// Memory for a value computed here. It has room for every iteration of the parallel loops
    /// around that share it: of all of them in global memory, of those over the work-items of a
    /// group in local memory, of none in private memory. `spread` outer dimensions of a private
    /// array made by the work-items of a group are kept by one work-item each.
    pub(super) fn allocate(
        &mut self,
        name: &str,
        ty: &Type,
        space: Space,
        spread: usize,
    ) -> Result<Storage, LowerError> {
        self.allocate_stages(name, ty, space, spread, 1)
    }

    /// As [`Emitter::allocate`], so many times; [`Storage::at_stage`] chooses one.
    pub(super) fn allocate_stages(
        &mut self,
        name: &str,
        ty: &Type,
        space: Space,
        spread: usize,
        stages: u32,
    ) -> Result<Storage, LowerError> {
        let around = self.open.as_ref().map(|k| k.parallel.clone()).unwrap_or_default();
        let shared: Vec<_> = around
            .iter()
            .filter(|o| match space {
                Space::Global => true,
                Space::Local => matches!(o.kind, LoopKind::Local(_)),
                Space::Private => false,
            })
            .collect();
        let (mut room, mut offset) = (Nat::ONE, Nat::ZERO);
        for o in shared {
            let extent = self.longest(&o.extent);
            offset = offset * &extent + Nat::var(&o.var);
            room = room * extent;
        }
        if space == Space::Global {
            let whole = Type::array(ty.clone(), self.simplify(&room));
            let storage = self.global(name, &whole, |_| Role::Temporary)?;
            let own = storage.buffers();
            if let Some(warp) = self.warp_around().map(|warp| warp.var.clone()) {
                self.warps.buffers.extend(own.iter().map(|id| (*id, warp.clone())));
            }
            for known in self.buffers.iter_mut().filter(|b| own.contains(&b.buffer.id)) {
                known.buffer.stages = stages;
            }
            return Ok(Storage { ty: ty.clone(), offset, ..storage });
        }
        let (own, mut items) = split_spread(ty, spread);
        let mut first = Nat::ZERO;
        // Lanes of different warps are different work-items.
        if let (Some(lanes), Some(warp)) = (items.first_mut(), self.warp_around()) {
            let each = self.lanes(lanes, &warp.extent);
            first = Nat::var(&warp.var) * &each;
            *lanes = self.simplify(&(each * &warp.extent));
        }
        for length in &mut items {
            *length = self.longest(length);
        }
        let mut stored = Vec::new();
        let has_rows = padded_leaves(own, 1, false)? != padded_leaves(own, 0, false)?;
        let padding = match &mut self.open {
            Some(kernel) if space == Space::Local && has_rows => kernel.next_padding(),
            _ => 0,
        };
        for (scalar, width, count) in padded_leaves(own, padding, false)? {
            let length = self.simplify(&(count * &room * Nat::int(i128::from(width))));
            if length.as_int().is_none() {
                return Err(open_size(None, &length, space));
            }
            // Targets have no arrays of nothing.
            let length = if length == Nat::ZERO { Nat::ONE } else { length };
            let align = (scalar.bytes() as u32 * width.next_power_of_two()).max(16);
            let buffer = Buffer {
                id: self.fresh_buffer(),
                name: name.to_owned(),
                scalar,
                length,
                stages,
                space,
                items: items.clone(),
                align,
                heap: false,
            };
            stored.push(Stored { buffer: buffer.id, scalar, width });
            self.spans.extend(self.here.map(|span| (buffer.id, span)));
            let warp = self.warp_around().map(|warp| (buffer.id, warp.var.clone()));
            self.warps.buffers.extend(warp);
            if let Some(kernel) = &mut self.open {
                match space {
                    Space::Local => kernel.locals.push(buffer),
                    Space::Private | Space::Global => kernel.privates.push(buffer),
                }
            }
        }
        let (leaves, stage) = (stored, Nat::ZERO);
        let (ty, items) = (ty.clone(), Vec::new());
        Ok(Storage { ty, leaves, offset, stage, padding, inside: false, spread, first, items })
    }
}

impl Emitter {
    /// The longest that a repetition comes to, where a length is one of its own and that is a number.
    fn longest(&self, length: &Nat) -> Nat {
        let is_own = |v: &Var| !self.sizes.contains(v);
        match self.facts.upper(length).filter(|_| length.any_var(&mut |v| is_own(v))) {
            Some(longest) => Nat::int(longest),
            None => length.clone(),
        }
    }
}

/// The part of a type that one work-item keeps, and the lengths of the dimensions outside it.
fn split_spread(ty: &Type, spread: usize) -> (&Type, Vec<Nat>) {
    let (mut own, mut items) = (ty, Vec::new());
    for _ in 0..spread {
        if let Type::Array(element, n) = own {
            items.push(n.clone());
            own = element;
        }
    }
    (own, items)
}

impl Storage {
    pub(super) fn at_stage(&self, stage: Nat) -> Storage {
        Storage { stage, ..self.clone() }
    }

    /// The beginning of an array that stands alone.
    pub(super) fn with_length(self, length: Nat) -> Storage {
        match &self.ty {
            Type::Array(element, _) => {
                Storage { ty: Type::array((**element).clone(), length), ..self }
            }
            _ => self,
        }
    }

    pub(super) fn view(&self) -> View {
        match &self.ty {
            Type::Array(_, n) => {
                let here = self.clone();
                View::array(n, move |t, i| Ok(here.element(i).loaded(&t.out)))
            }
            Type::Tuple(_) | Type::Scalar(_) | Type::Vector(..) => self.unloaded(),
        }
    }

    /// The view of an element, its accesses simplified with what is known now.
    fn loaded(&self, out: &Emitter) -> View {
        match &self.ty {
            Type::Scalar(_) | Type::Vector(..) => match self.place() {
                Some(place) => View::Value(place.load(out)),
                None => View::Tuple(Vec::new()),
            },
            Type::Tuple(_) => {
                View::Tuple(self.components().iter().map(|c| c.loaded(out)).collect())
            }
            Type::Array(..) => self.view(),
        }
    }

    /// As [`Storage::loaded`] outside loops: a scalar on its own stands at the start.
    fn unloaded(&self) -> View {
        match &self.ty {
            Type::Scalar(_) | Type::Vector(..) => match self.place() {
                Some(place) => {
                    let ty = lift_kernel::ValueType { scalar: place.scalar, width: place.width };
                    let access = lift_kernel::Access {
                        buffer: place.buffer,
                        index: place.index,
                        stage: place.stage,
                        items: place.items,
                        width: place.width,
                        aligned: place.width > 1,
                    };
                    View::Value(lift_kernel::Expr::Load(access, ty))
                }
                None => View::Tuple(Vec::new()),
            },
            Type::Tuple(_) => {
                View::Tuple(self.components().iter().map(Storage::unloaded).collect())
            }
            Type::Array(..) => self.view(),
        }
    }

    pub(super) fn writer(&self) -> Writer {
        match &self.ty {
            Type::Array(_, n) => {
                let here = self.clone();
                Writer::array(n, move |i| Ok(here.element(i).writer()))
            }
            Type::Tuple(_) => {
                Writer::Tuple(self.components().iter().map(Storage::writer).collect())
            }
            Type::Scalar(_) | Type::Vector(..) => match self.place() {
                Some(place) => Writer::Leaf(Leaf::Place(place)),
                None => Writer::Tuple(Vec::new()),
            },
        }
    }

    fn element(&self, index: &Nat) -> Storage {
        let Type::Array(element, n) = &self.ty else { return self.clone() };
        let mut inner = Storage { ty: (**element).clone(), ..self.clone() };
        if self.items.is_empty() && self.spread > 0 {
            inner.items.push(&self.first + index);
        } else if self.items.len() < self.spread {
            inner.items.push(index.clone());
        } else {
            let n = if self.inside { row_length(element, n, self.padding) } else { n.clone() };
            inner.offset = &self.offset * n + index;
            inner.inside = true;
        }
        inner
    }

    pub(super) fn buffers(&self) -> Vec<BufferId> {
        self.leaves.iter().map(|stored| stored.buffer).collect()
    }

    fn components(&self) -> Vec<Storage> {
        let Type::Tuple(items) = &self.ty else { return Vec::new() };
        let mut rest = self.leaves.as_slice();
        items
            .iter()
            .map(|item| {
                let count = leaves(item).map_or(0, |l| l.len());
                let (own, others) = rest.split_at(count.min(rest.len()));
                rest = others;
                Storage { ty: item.clone(), leaves: own.to_vec(), ..self.clone() }
            })
            .collect()
    }

    fn place(&self) -> Option<Place> {
        self.leaves.first().map(|stored| Place {
            buffer: stored.buffer,
            index: &self.offset * Nat::int(i128::from(stored.width)),
            stage: self.stage.clone(),
            items: self.items.clone(),
            scalar: stored.scalar,
            width: stored.width,
        })
    }
}
