//! Folds of a whole array on a processor, part by part.
//!
//! `reduce(z, f, xs) = reduce(z, f, concat(map(reduce(z, f), split(m, take(k * m, xs))), drop(k * m, xs)))`: threads take parts
//! that lie side by side, and the lanes of their vectors go along them. Columns of an array whose length they do not divide would
//! have to be padded: then each element is asked for whether it is there, or the loop is cut at the last row, and neither is
//! vector code.

use lift_ir::{Build, Expr, Kind, Lambda, MapKind, Nat, Prim, TypeError};

use super::{Decider, is_grid_wide};

/// Parts at least and at most, and elements of one: few enough for sums of floats not to lose what is added late.
const PARTS: (i128, i128) = (1 << 6, 1 << 14);
const PART: i128 = 1 << 14;

impl Decider<'_> {
    /// A fold of n elements; nothing where lanes cannot share a part, or where `xs` would be made twice.
    pub(super) fn folded_in_parts(
        &self,
        prim: Prim,
        f: &Lambda,
        z: &Expr,
        xs: &Expr,
        n: i128,
    ) -> Result<Option<Expr>, TypeError> {
        let is_start = z.ty().is_register() && z.free_variables().is_empty();
        if !is_start || matches!(xs.kind(), Kind::Let { .. }) || is_grid_wide(xs) {
            return Ok(None);
        }
        let b = Build::new(self.cx);
        let count = (n / PART).clamp(PARTS.0, PARTS.1);
        let (part, whole) = (n / count, n / count * count);
        let fold =
            |xs: Expr| self.cx.call(prim.clone(), vec![], vec![f.clone()], vec![z.clone(), xs]);
        let rows = b.split(Nat::int(part), b.take(Nat::int(whole), xs));
        let made =
            b.let_in("parts", b.map_as(MapKind::Glb(0), fold, rows), |parts| match n - whole {
                0 => fold(parts),
                _ => fold(b.concat(parts, b.drop(Nat::int(whole), xs))?),
            })?;
        Ok(Some(made))
    }
}
