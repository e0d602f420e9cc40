//! Expressions that are a scan, with what is in front of it and behind it.
//!
//! Before: `let v = e; scan(z, f, xs) |> map(g)`, g of scalars.
//! After: z, f, `let v = e; xs` and g, where z, f and g do not mention v.

use lift_ir::{Call, Context, Expr, FoldKind, Kind, Lambda, MapKind, Param, Prim, TypeError};

use crate::passes::share;

pub(super) struct Scanned {
    pub(super) z: Expr,
    pub(super) f: Lambda,
    pub(super) xs: Expr,
    /// Applied to every element of the scan.
    pub(super) after: Option<Lambda>,
}

impl Scanned {
    pub(super) fn of_call(call: &Call) -> Option<Scanned> {
        let (Prim::Scan(FoldKind::Any), [z, xs], [f]) =
            (&call.prim, call.args.as_slice(), call.functions.as_slice())
        else {
            return None;
        };
        Some(Scanned { z: z.clone(), f: f.clone(), xs: xs.clone(), after: None })
    }

    /// `map(g, e)` with a scan e.
    pub(super) fn of_map(cx: &Context, call: &Call) -> Result<Option<Scanned>, TypeError> {
        let (Prim::Map(MapKind::Map), [xs], [g]) =
            (&call.prim, call.args.as_slice(), call.functions.as_slice())
        else {
            return Ok(None);
        };
        let ([y], true) = (g.params.as_slice(), g.body.ty().is_register()) else { return Ok(None) };
        let Some(found) = Scanned::of(cx, xs)?.filter(|_| !share::takes_a_loop(&g.body)) else {
            return Ok(None);
        };
        let after = match &found.after {
            None => g.clone(),
            Some(h) => {
                let body = cx.let_in(y.clone(), h.body.clone(), g.body.clone())?;
                Lambda { body, ..h.clone() }
            }
        };
        Ok(Some(Scanned { after: Some(after), ..found }))
    }

    pub(super) fn of(cx: &Context, expr: &Expr) -> Result<Option<Scanned>, TypeError> {
        match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => Ok(None),
            Kind::Let { param, value, body } => {
                let found = Scanned::of(cx, body)?.filter(|found| !found.rest_mentions(param));
                let Some(found) = found else { return Ok(None) };
                let xs = cx.let_in(param.clone(), value.clone(), found.xs)?;
                Ok(Some(Scanned { xs, ..found }))
            }
            Kind::Call(call) => match Scanned::of_call(call) {
                Some(found) => Ok(Some(found)),
                None => Scanned::of_map(cx, call),
            },
        }
    }

    /// The length of each row, where the array is one of rows.
    pub(super) fn row_length(&self) -> Option<i128> {
        let (row, _) = self.xs.ty().as_array()?;
        row.as_array()?.1.as_int()
    }

    /// Whether anything but the array has a variable.
    pub(super) fn rest_mentions(&self, param: &Param) -> bool {
        let after = self.after.as_ref().is_some_and(|g| g.body.mentions(param));
        after || self.z.mentions(param) || self.f.body.mentions(param)
    }
}
