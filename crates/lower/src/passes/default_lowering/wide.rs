//! Several numbers a work-item.
//!
//! Before: `map(f, xs)`, the innermost of a grid, where f only moves numbers and computes a little.
//! After: `join(mapGlb(0)(mapSeqUnroll(f), split(4, xs)))`.
//!
//! Numbers of a row that lies in memory as it is are loaded and stored at once. Those of a column are loaded by as many work-items side by
//! side as a row has, and wait for memory together; what all of a column needs is loaded once. Whether that pays is predicted.

use lift_ir::{Build, Built, Expr, Kind, Lambda, MapKind, Nat, Pred, Prim, Type};

use super::{Decider, is_scalar_code};
use crate::Target;

/// Numbers that a thread takes at once.
const WIDE: i128 = 4;

/// Whether an array is read in order from memory.
pub(super) fn is_plain(xs: &Expr) -> bool {
    match xs.kind() {
        Kind::Var(_) => true,
        Kind::Call(call) => {
            matches!(call.prim, Prim::Zip | Prim::Field(_)) && call.args.iter().all(is_plain)
        }
        Kind::Literal(_) | Kind::Size(..) | Kind::Let { .. } => false,
    }
}

impl Decider<'_> {
    /// Whether a thread takes several numbers of the innermost map. `plain` is whether these, and the rows of all maps around, lie in
    /// memory as they are, `is_inner` whether there is a map around.
    pub(super) fn is_wide(&self, f: &Lambda, xs: &Expr, plain: bool, is_inner: bool) -> bool {
        if !self.is_copy_like(f, xs) {
            return false;
        }
        let shares =
            f.body.free_variables().iter().any(|id| f.params.iter().all(|p| p.id() != *id));
        if plain || self.is_plain || !is_inner || !shares {
            return plain;
        }
        let ways = ["a work-item a number".to_string(), format!("a work-item {WIDE} numbers")];
        self.options.choices.take("default_lowering", ways.into()) == 1
    }

    /// Whether a map only moves numbers and computes a little.
    fn is_copy_like(&self, f: &Lambda, xs: &Expr) -> bool {
        let divides = |n: &Nat| self.cx.proves(&Pred::divides(Nat::int(WIDE), n.clone()));
        let length = xs.ty().as_array().is_some_and(|(_, n)| divides(n));
        let is_word = |ty: &Type| matches!(ty, Type::Scalar(s) if s.bytes() == 4);
        self.target == Target::Threads
            && length
            && is_word(f.body.ty())
            && !f.body.has(|part| !is_scalar_code(part))
    }

    /// `map(f, xs)` as `split(4) |> mapGlb(mapSeqUnroll(f)) |> join`.
    pub(super) fn wide_grid(&self, f: Lambda, xs: Expr) -> Built {
        let b = Build::new(self.cx);
        let inner = Prim::Map(MapKind::SeqUnroll);
        let each = |row| self.cx.call(inner, vec![], vec![f], vec![row]);
        b.join(b.map_as(MapKind::Glb(0), each, b.split(Nat::int(WIDE), xs)))
    }
}
