//! Maps cut in two, where what the first part makes is read again and again by the second.
//!
//! `map(\x -> let y = e; b, xs) = let ys = map(\x -> e, xs); map(\(x, y) -> b, zip(xs, ys))`

use lift_ir::{Call, Expr, Kind, Lambda, MapKind, Prim, TypeError};

use super::arrays::{folds_by_index, is_long_fold, is_product, is_short, is_stored, makes_map};
use super::{Binding, Block, Sharer};
use crate::Target;
use crate::parts::{Part, map_over};
use crate::passes::default_lowering::{is_layout_only, rows};

/// Views are written again at each use up to this size. What is read once is written once, whatever its size, unless it takes loops that
/// threads could share where it stands alone.
const VIEW: u32 = 64;

impl Sharer<'_> {
    /// A map over an array; what its function computes for others to read is computed in front of it.
    pub(super) fn map(&self, call: &Call, args: Vec<Expr>) -> Result<Block, TypeError> {
        let (Some(f), [xs]) = (call.functions.first(), args.as_slice()) else {
            let result = self.cx.call(
                call.prim.clone(),
                call.sizes.clone(),
                call.functions.clone(),
                args,
            )?;
            return Ok(Block { bindings: Vec::new(), result });
        };
        let whole = match rows::function(self.cx, self.def, self.options, call)? {
            Some(f) => Some(f),
            None => rows::short(self.cx, self.options, call)?,
        };
        if let Some(f) = whole {
            let result = self.cx.call(call.prim.clone(), vec![], vec![f], args)?;
            return Ok(Block { bindings: Vec::new(), result });
        }
        let block = self.body(f)?;
        let (mut outer, inner) = self.invariant(f, block.bindings);
        let moved = self.moved(call, &inner, &block.result)?;
        let (true, [x]) = (moved.contains(&true), f.params.as_slice()) else {
            let f = Lambda { body: self.around(inner, block.result)?, ..f.clone() };
            let result = self.cx.call(call.prim.clone(), vec![], vec![f], args)?;
            return Ok(Block { bindings: outer, result });
        };
        // Several maps read the array now.
        let xs = self.kept(xs.clone(), super::Reads::Often, "tmp", &mut outer)?;
        let mut parts = vec![Part { element: x.clone(), array: xs }];
        let mut beside: Vec<Binding> = Vec::new();
        for (binding, moves) in inner.into_iter().zip(moved) {
            if !moves {
                beside.push(binding);
                continue;
            }
            let value = self.with_needed(&beside, binding.value)?;
            let array = map_over(self.cx, &parts, value)?;
            let ys = self.cx.fresh(binding.param.name(), array.ty().clone());
            parts.push(Part { element: binding.param, array: self.cx.var(&ys) });
            outer.push(Binding { param: ys, value: array, kept: true });
        }
        let rest = self.around(beside, block.result)?;
        let result = map_over(self.cx, &parts, rest)?;
        Ok(Block { bindings: outer, result })
    }

    /// Which bindings of a map's function are made in front of it: arrays that are read again and again, and scalars
    /// that those need and that are dear. Short arrays stay with their work-item, but where work-items are threads not those
    /// whose numbers are long folds each: threads share them. Where work-items are threads, also dear scalars in front of an array:
    /// its elements get threads of their own. On a processor the same where the map is over columns, any scalar there: one that
    /// stayed would keep a thread from going line by line; and where the elements are long
    /// folds: all of them are one grid then, a product of matrices perhaps, which is computed in tiles.
    fn moved(
        &self,
        call: &Call,
        bindings: &[Binding],
        result: &Expr,
    ) -> Result<Vec<bool>, TypeError> {
        let by_threads = self.options.target == Target::Threads;
        let by_loops = self.options.target == Target::Loops && makes_map(result);
        let of_columns = by_loops && rows::are_columns(self.cx, self.def, self.options, call)?;
        let before_array = match self.options.target {
            Target::Threads => makes_map(result),
            Target::Loops => of_columns || by_loops && is_product(result, 1),
        };
        let mut moved: Vec<bool> = bindings
            .iter()
            .map(|b| match b.value.ty().is_register() {
                true => before_array && (of_columns || self.costs.is_dear(&b.value)),
                false => {
                    let is_long = !is_short(b.value.ty())
                        || folds_by_index(&b.value)
                        || by_threads && b.value.has(is_long_fold);
                    is_long && (b.kept || before_array && is_stored(&b.value))
                }
            })
            .collect();
        let mut needed = vec![false; bindings.len()];
        for (index, binding) in bindings.iter().enumerate().rev() {
            let later = index + 1..bindings.len();
            needed[index] = later
                .filter(|&other| moved[other] || needed[other])
                .any(|other| bindings[other].value.mentions(&binding.param));
            moved[index] |= needed[index] && self.costs.is_dear(&binding.value);
        }
        Ok(moved)
    }

    /// A value with the bindings around it that it needs.
    fn with_needed(&self, bindings: &[Binding], value: Expr) -> Result<Expr, TypeError> {
        bindings.iter().rev().try_fold(value, |body, b| match body.mentions(&b.param) {
            true => self.bound(b, body),
            false => Ok(body),
        })
    }

    /// An expression in the scope of a binding. The name of a view, or of a map that is read once or costs no more than a
    /// load, is replaced by what it names, so that a map is seen to be one; so is that of a number in front of a grid.
    pub(super) fn bound(&self, binding: &Binding, body: Expr) -> Result<Expr, TypeError> {
        let Binding { param, value, kept } = binding;
        let is_map = !kept && makes_map(value);
        let target = super::reads::Target { param, component: None };
        let once = is_map && super::reads::reads(&body, target) == super::Reads::Once;
        let is_view = match value.ty().is_register() {
            true => self.stands_before_grid(value, &body),
            false => !kept && !is_computed(value) || is_map && self.costs.is_cheap(value),
        };
        let is_short = value.weight() <= VIEW;
        let is_moved = (is_view || once) && is_short || once && !self.costs.takes_a_loop(value);
        if is_moved && body.weight() <= VIEW * VIEW {
            return Ok(self.cx.substitute(&body, &[(param.clone(), value.clone())]));
        }
        self.cx.let_in(param.clone(), value.clone(), body)
    }

    /// Whether a number is so quickly computed that the elements of an array behind it, which have threads of their own, or are
    /// long folds, each compute it.
    fn stands_before_grid(&self, value: &Expr, body: &Expr) -> bool {
        let is_grid = match self.options.target {
            Target::Threads => makes_map(body),
            Target::Loops => makes_map(body) && is_product(body, 1),
        };
        is_grid && !self.costs.is_dear(value)
    }
}

/// Whether an array is more than a view of others.
fn is_computed(expr: &Expr) -> bool {
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => false,
        Kind::Let { value, body, .. } => is_computed(value) || is_computed(body),
        Kind::Call(call) => match &call.prim {
            Prim::Map(MapKind::Map) if is_layout_only(call) => call.args.iter().any(is_computed),
            Prim::Generate => false,
            prim if prim.is_layout() => call.args.iter().any(is_computed),
            _ => true,
        },
    }
}
