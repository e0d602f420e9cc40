//! Maps of scans: who takes which rows.
//!
//! Before: `map(\row -> scan(z, f, row), rows)`, in as many maps as there are, with functions of the elements behind it.
//! After: where the elements of a row lie side by side in memory, in order or backwards, or nowhere near each other, groups take the
//! rows ([`super::scans`]); where those of neighbouring rows do, and rows are too few for a device, work-items take parts of them
//! ([`super::scan_parts`]).
//! Or they are stored first, one after the other: then groups take them. A copy takes less time where results lie along the rows, which
//! work-items side by side would write far from each other.
//! Everything else stays: a work-item a row. On processors threads take chunks of rows where these are few.

use lift_ir::{Build, Call, Def, Expr, Kind, Lambda, MapKind, Nat, Param, Prim, TypeError};
use lift_kernel::LoopKind;

use super::scanned::Scanned;
use super::strides::free_variables;
use super::{Decider, Level, is_layout_only};
use crate::effects::touches;
use crate::nest::usual_step;
use crate::passes::{share, translate};
use crate::{Options, Target};

/// Rows from this length on have groups: a work-item each would read far from its neighbours.
const LONG_ROW: i128 = 256;

/// Scans of rows.
struct Nest {
    /// Of all rows.
    scan: Scanned,
    count: Nat,
    /// The lengths of the dimensions inside the outermost, from the innermost on.
    inner: Vec<Nat>,
}

/// How the rows of an array lie in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lie {
    /// The elements of a row are side by side.
    Along,
    /// Neighbouring rows are.
    Beside,
    Otherwise,
}

impl Decider<'_> {
    /// A map of elements of a scan, or of scans of rows, that is stored.
    pub(super) fn map_of_scans(&self, call: &Call) -> Result<Option<Expr>, TypeError> {
        let of_elements = Scanned::of_map(self.cx, call)?;
        if let Some(found) = of_elements.filter(|_| self.target == Target::Threads) {
            return self.by_groups(found, None);
        }
        let Some(Nest { scan, count, inner }) = self.nest(call)? else { return Ok(None) };
        let made = match self.lie(&scan.xs)? {
            _ if self.target == Target::Loops => self.by_chunks(&scan, Some(count))?,
            Lie::Beside => self.columns(scan, &count)?,
            // What is read anywhere is written along rows at least.
            Lie::Along | Lie::Otherwise if scan.row_length().is_some_and(|n| n >= LONG_ROW) => {
                self.by_groups(scan, Some(count))?
            }
            Lie::Along | Lie::Otherwise => None,
        };
        let b = Build::new(self.cx);
        let split = |made, n: &Nat| b.split(n.clone(), made);
        made.map(|made| inner.iter().try_fold(made, split)).transpose()
    }

    /// Scans of columns, as they lie or stored as rows first.
    fn columns(&self, scan: Scanned, count: &Nat) -> Result<Option<Expr>, TypeError> {
        if scan.row_length().is_none_or(|n| n < LONG_ROW) {
            return self.by_parts(&scan, count);
        }
        let ways = ["columns are scanned as they lie", "columns are stored as rows first"];
        if self.options.choices.take("default_lowering", ways.map(String::from).into()) == 0 {
            return self.by_parts(&scan, count);
        }
        let b = Build::new(self.cx);
        let stored = self.expr(&share::copied(&b, scan.xs.clone())?, Level::Host)?;
        let rows = self.cx.fresh("rows", stored.ty().clone());
        let of_rows = Scanned { xs: self.cx.var(&rows), ..scan };
        let made = self.by_groups(of_rows, Some(count.clone()))?;
        made.map(|made| self.cx.let_in(rows, stored, made)).transpose()
    }

    /// `let ys = e; map(g, ys)` or `let ys = e; transpose(ys)`, where e is a scan or has scans of rows: these are not
    /// stored before g is applied, nor in another order than the result.
    pub(super) fn let_of_scans(
        &self,
        (param, value): (&Param, &Expr),
        body: &Expr,
        level: Level,
    ) -> Result<Option<Expr>, TypeError> {
        if self.target == Target::Loops || level != Level::Host || !hands_on(body, param) {
            return Ok(None);
        }
        let whole = self.cx.substitute(body, &[(param.clone(), value.clone())]);
        match whole.as_call() {
            Some(call) if call.prim == Prim::Map(MapKind::Map) => self.map_of_scans(call),
            // What is computed from rows has a grid of its own.
            Some(_) if !is_rearranged(body, param) => Ok(None),
            Some(_) => {
                let Some(call) = value.as_call() else { return Ok(None) };
                let Some(nest) = self.nest(call)? else { return Ok(None) };
                if self.lie(&nest.scan.xs)? != Lie::Beside {
                    return Ok(None);
                }
                let made = self.call(call, Level::Host)?;
                Ok(Some(self.cx.substitute(body, &[(param.clone(), made)])))
            }
            None => Ok(None),
        }
    }

    /// The scans of rows that a map is, all its dimensions as one.
    fn nest(&self, call: &Call) -> Result<Option<Nest>, TypeError> {
        let (Prim::Map(MapKind::Map), [f], [xs]) =
            (&call.prim, call.functions.as_slice(), call.args.as_slice())
        else {
            return Ok(None);
        };
        let ([x], Some((_, count))) = (f.params.as_slice(), xs.ty().as_array()) else {
            return Ok(None);
        };
        if let Some(before) = xs.as_call()
            && let Some(joined) = self.joined(x, &f.body, before)
        {
            return self.nest(&joined);
        }
        let of_all = |body: &Expr| {
            let f = Lambda { body: body.clone(), ..f.clone() };
            self.cx.call(call.prim.clone(), vec![], vec![f], vec![xs.clone()])
        };
        if let Some(scan) = Scanned::of(self.cx, &f.body)? {
            if scan.rest_mentions(x) {
                return Ok(None);
            }
            let scan = Scanned { xs: of_all(&scan.xs)?, ..scan };
            return Ok(Some(Nest { scan, count: count.clone(), inner: Vec::new() }));
        }
        let Some(inner) = f.body.as_call().filter(|inner| inner.prim == call.prim) else {
            return Ok(None);
        };
        let Some(Nest { scan, count: own, inner }) = self.nest(inner)? else { return Ok(None) };
        if scan.rest_mentions(x) {
            return Ok(None);
        }
        let xs = Build::new(self.cx).join(of_all(&scan.xs)?)?;
        let inner = inner.into_iter().chain([own.clone()]).collect();
        Ok(Some(Nest { scan: Scanned { xs, ..scan }, count: count * &own, inner }))
    }

    /// `map(\x -> e, map(g, xs)) = map(\y -> e[g(y)], xs)`, where e is elements of x with functions applied.
    fn joined(&self, x: &Param, e: &Expr, before: &Call) -> Option<Call> {
        let (Prim::Map(MapKind::Map), [g]) = (&before.prim, before.functions.as_slice()) else {
            return None;
        };
        let body = hands_on(e, x).then(|| self.cx.substitute(e, &[(x.clone(), g.body.clone())]))?;
        Some(Call { functions: vec![Lambda { body, ..g.clone() }], ..before.clone() })
    }

    /// How rows lie in memory, by the indices of a kernel that only reads them. Rows that take loops are stored first,
    /// one after the other.
    fn lie(&self, rows: &Expr) -> Result<Lie, TypeError> {
        if share::takes_a_loop(rows) {
            return Ok(Lie::Along);
        }
        let options = Options { target: Target::Threads, ..Options::default() };
        let Ok(plan) = translate::translate(&self.reading(rows)?, &options, &[]) else {
            return Ok(Lie::Otherwise);
        };
        let (mut along, mut beside) = (true, true);
        for kernel in &plan.kernels {
            for touch in touches(&kernel.body).iter().filter(|touch| !touch.writes) {
                for l in touch.loops.iter() {
                    let step = usual_step(&touch.access.index, &l.var, &kernel.facts);
                    let is_near = step.as_int().is_some_and(|step| step.abs() <= 1);
                    match l.kind {
                        LoopKind::Seq => along &= is_near,
                        LoopKind::Global(_) => beside &= is_near,
                        LoopKind::Group(_) | LoopKind::Local(_) | LoopKind::Unroll => {}
                    }
                }
            }
        }
        Ok(match (along, beside) {
            (true, _) => Lie::Along,
            (false, true) => Lie::Beside,
            (false, false) => Lie::Otherwise,
        })
    }

    /// A definition that copies rows, of the variables they are made of.
    fn reading(&self, rows: &Expr) -> Result<Def, TypeError> {
        let params = free_variables(rows);
        let b = Build::new(self.cx);
        let body = b.map_as(MapKind::Glb(0), |row| b.map_seq(|x| b.id(x), row), rows)?;
        let (ret, next_number) = (body.ty().clone(), self.cx.next_number());
        Ok(Def { params, ret, body, next_number, launches: Vec::new(), ..self.def.clone() })
    }
}

/// Whether an expression is an array, each element once, in another order or with functions applied.
fn hands_on(expr: &Expr, array: &Param) -> bool {
    match expr.kind() {
        Kind::Var(param) => param == array,
        Kind::Literal(_) | Kind::Size(..) | Kind::Let { .. } => false,
        Kind::Call(call) => {
            let keeps = matches!(
                call.prim,
                Prim::Transpose | Prim::Split | Prim::Join | Prim::Map(MapKind::Map)
            );
            let [arg] = call.args.as_slice() else { return false };
            keeps && !call.functions.iter().any(|f| f.body.mentions(array)) && hands_on(arg, array)
        }
    }
}

/// Whether an expression is an array in another order, and nothing is computed.
fn is_rearranged(expr: &Expr, array: &Param) -> bool {
    match expr.as_call() {
        Some(call) => {
            let is_view = call.prim != Prim::Map(MapKind::Map) || is_layout_only(call);
            is_view && call.args.iter().all(|arg| is_rearranged(arg, array))
        }
        None => expr.as_var() == Some(array),
    }
}
