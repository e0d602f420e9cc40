//! Sharing: an array that is read repeatedly is computed once.
//!
//! Before: an array that is computed on reading (a `map` that is fused into its consumer, a `generate`), read
//! several times, with or without a name.
//! After: it is the value of a `let` outside all maps, stored by kernels of its own. A map that makes it anew for each
//! element is preceded by one that makes it for all of them ([`fission`]):
//!
//! `map(\x -> C[e(x)], xs) = let es = map(\x -> e(x), xs); map(\(x, e) -> C[e], zip(xs, es))`
//!
//! Recomputation stays where an element costs no more than a load, and for a short array inside a map, which its work-item
//! keeps, or which a group of work-items makes row by row (`default_lowering::rows`). Programs that say what runs on which threads stay as they are.

mod arrays;
mod cost;
mod fission;
mod numbers;
mod prologue;
mod reads;

use std::cell::{Cell, RefCell};
use std::slice;

use lift_ir::{
    BinaryOp, Build, Built, Call, Context, Def, Expr, Kind, Lambda, MapKind, Nat, Param, Prim,
    TypeError,
};

use crate::passes::default_lowering::{is_grid_wide, is_layout_only, rows};
use crate::passes::translate::{nest_to_see, with_nested};
use crate::{LowerError, Options, Target};
pub(crate) use arrays::is_long_fold;
use arrays::{
    cuts_elements, cuts_rows, folds, folds_beside, folds_by_index, folds_in_order,
    is_mapped_to_arrays, is_product, is_short, is_stored, is_zip, is_zipped, maps_to_arrays,
    needs_scan, picks_by_data, reads_rows_in_pieces, works_by_row, zips_elements,
};
use cost::Costs;
pub(crate) use numbers::is_total;
use reads::{Reads, argument_reads};

/// What an element costs, at most, that each reader may compute for itself: some windows.
const AGAIN: u32 = 1 << 11;

pub(crate) fn share(def: &Def, options: &Options) -> Result<Def, LowerError> {
    if is_grid_wide(&def.body) {
        return Ok(def.clone());
    }
    let cx = def.context();
    let (costs, scopes, asked) =
        (Costs::on(options.target), RefCell::default(), RefCell::default());
    let is_folded = Cell::new(false);
    let def = &Def { body: numbers::named(&cx, &def.body)?, ..def.clone() };
    let sharer = Sharer { cx: &cx, costs, scopes, asked, is_folded, def, options };
    let body = sharer.closed(&def.body)?;
    Ok(Def { body, next_number: cx.next_number(), ..def.clone() })
}

/// Whether every element of an array is read at most once inside an expression that names it, or is cheap enough
/// to be computed at each.
pub(crate) fn is_read_once(param: &Param, value: &Expr, body: &Expr) -> bool {
    let target = reads::Target { param, component: None };
    reads::reads(body, target) != Reads::Often || Costs::default().is_cheap(value)
}

/// Whether computing an element, or a scalar, takes a loop, or as long as one.
pub(crate) fn takes_a_loop(expr: &Expr) -> bool {
    Costs::default().takes_a_loop(expr)
}

/// A component of a tuple that is written out, where the others need not be evaluated.
fn component(tuple: &Expr, at: u32) -> Option<Expr> {
    let call = tuple.as_call().filter(|call| call.prim == Prim::Tuple)?;
    let at = usize::try_from(at).ok()?;
    let mut others = (0..).zip(&call.args).filter(|(k, _)| *k != at);
    others.all(|(_, other)| need_not_be(other)).then(|| call.args.get(at).cloned()).flatten()
}

/// Whether a value that nothing reads is not evaluated: elements of arrays are not, a number is, and may fail.
fn need_not_be(value: &Expr) -> bool {
    !value.ty().is_register() || numbers::is_total(value)
}

/// A value that gets a name.
struct Binding {
    param: Param,
    value: Expr,
    /// It is an array that is read again and again, and dear enough to be stored.
    kept: bool,
}

/// An expression with the bindings it needs around it, outermost first.
struct Block {
    bindings: Vec<Binding>,
    result: Expr,
}

struct Sharer<'a> {
    cx: &'a Context,
    costs: Costs,
    /// The variables bound inside each function around the current place, outermost first.
    scopes: RefCell<Vec<Vec<u32>>>,
    /// Arrays that could be stored, and whether each reader computes them instead.
    asked: RefCell<Vec<(Expr, bool)>>,
    /// The expression that is looked at next is what a fold goes over.
    is_folded: Cell<bool>,
    def: &'a Def,
    options: &'a Options,
}

impl Sharer<'_> {
    /// An expression that keeps its bindings around it.
    fn closed(&self, expr: &Expr) -> Result<Expr, TypeError> {
        let block = self.block(expr)?;
        self.around(block.bindings, block.result)
    }

    /// An expression in the scope of bindings, without those that nothing reads and that need not be evaluated.
    fn around(&self, bindings: Vec<Binding>, result: Expr) -> Result<Expr, TypeError> {
        bindings.iter().rev().try_fold(result, |body, b| {
            match body.mentions(&b.param) || !need_not_be(&b.value) {
                true => self.bound(b, body),
                false => Ok(body),
            }
        })
    }

    /// An expression with the bindings that float out of it.
    fn block(&self, expr: &Expr) -> Result<Block, TypeError> {
        let is_folded = self.is_folded.take();
        let mut block = match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => {
                Block { bindings: Vec::new(), result: expr.clone() }
            }
            Kind::Let { param, value, body } => self.binding(param, value, body)?,
            // Each element is stored at the number of its point.
            Kind::Call(call)
                if let Some(nest) = nest_to_see(call).filter(|_| !self.is_inside()) =>
            {
                let made = self.block(nest)?;
                let result = with_nested(self.cx, call, made.result)?;
                Block { bindings: made.bindings, result }
            }
            Kind::Call(call) if call.prim == Prim::Generate && !self.costs.is_cheap(expr) => {
                self.call(expr, &self.spelled(call)?)?
            }
            Kind::Call(call) => match self.with_prologues(call, is_folded)? {
                Some(met) => self.call(expr, &met)?,
                None => self.call(expr, call)?,
            },
        };
        if let Some(span) = expr.span() {
            block.result = block.result.with_span(span);
        }
        Ok(block)
    }

    fn binding(&self, param: &Param, value: &Expr, body: &Expr) -> Result<Block, TypeError> {
        let target = reads::Target { param, component: None };
        let often = reads::reads(body, target);
        // What is named is named already: it gets no second name for itself.
        let mut made = self.block(value)?;
        let in_pieces = works_by_row(&made.result) && reads_rows_in_pieces(body, param);
        let least = if self.is_inside() { 1 } else { 2 };
        let again =
            folds(body) && (is_product(&made.result, least) || self.folds_columns(&made.result)?);
        let scanned = self.is_scanned_first(&made.result);
        let beside = !scanned && self.is_scanned_beside(&made.result) && is_zipped(body, param);
        let by_grid = self.is_folded_first(&made.result) && is_mapped_to_arrays(body, param);
        let often = if in_pieces || again || beside || by_grid { Reads::Often } else { often };
        if self.is_kept(&made.result, often) && self.is_computed_again(&made.result, param.name()) {
            let body = self.cx.substitute(body, &[(param.clone(), made.result)]);
            let rest = self.block(&body)?;
            made.bindings.extend(rest.bindings);
            return Ok(Block { bindings: made.bindings, result: rest.result });
        }
        let value = match made.result.ty().is_register() {
            true => made.result,
            false => self.kept(made.result, often, param.name(), &mut made.bindings)?,
        };
        let cost = if value.ty().is_register() { 0 } else { self.costs.of(&value) };
        self.costs.bind(param, cost);
        self.declare(param, &value);
        made.bindings.push(Binding { param: param.clone(), value, kept: scanned });
        let rest = self.block(body)?;
        made.bindings.extend(rest.bindings);
        Ok(Block { bindings: made.bindings, result: rest.result })
    }

    fn call(&self, expr: &Expr, call: &Call) -> Result<Block, TypeError> {
        let mut bindings = Vec::new();
        let mut args = Vec::new();
        for (index, arg) in call.args.iter().enumerate() {
            if index > 0 && chooses(&call.prim) {
                args.push(self.closed(arg)?);
                continue;
            }
            self.is_folded.set(matches!(call.prim, Prim::Reduce(_)) && index == 1);
            let mut made = self.block(arg)?;
            bindings.append(&mut made.bindings);
            let often = argument_reads(call, index);
            args.push(match made.result.ty().is_register() {
                true => made.result,
                false => self.consumed(call, made.result, often, &mut bindings)?,
            });
        }
        if let (Prim::Field(at), [tuple]) = (&call.prim, args.as_slice())
            && let Some(result) = component(tuple, *at)
        {
            return Ok(Block { bindings, result });
        }
        for (param, arg) in call.functions.iter().flat_map(|f| &f.params).zip(&args) {
            let is_map = matches!(call.prim, Prim::Map(_)) && !param.ty().is_register();
            self.costs.bind(param, if is_map { self.costs.of(arg) } else { 0 });
        }
        if call.prim == Prim::Map(MapKind::Map) && !is_layout_only(call) {
            let made = self.map(call, args)?;
            bindings.extend(made.bindings);
            return Ok(Block { bindings, result: made.result });
        }
        let mut functions = Vec::new();
        for f in &call.functions {
            let block = self.body(f)?;
            let (outer, inner) = self.invariant(f, block.bindings);
            bindings.extend(outer);
            functions.push(Lambda { body: self.around(inner, block.result)?, ..f.clone() });
        }
        let same = functions.iter().zip(&call.functions).all(|(a, b)| a.body.same_node(&b.body))
            && args.iter().zip(&call.args).all(|(a, b)| a.same_node(b));
        let result = match same {
            true => expr.clone(),
            false => self.cx.call(call.prim.clone(), call.sizes.clone(), functions, args)?,
        };
        Ok(Block { bindings, result })
    }

    /// An array that a pattern reads, under a name where it is to be stored.
    fn consumed(
        &self,
        call: &Call,
        array: Expr,
        often: Reads,
        bindings: &mut Vec<Binding>,
    ) -> Result<Expr, TypeError> {
        let array = match maps_to_arrays(call) {
            true => self.with_numbers_kept(array, bindings)?,
            false => array,
        };
        let in_pieces =
            cuts_rows(&call.prim) && works_by_row(&array) || cuts_elements(call, &works_by_row);
        let stored = matches!(call.prim, Prim::Map(_)) && is_stored(&array)
            || folds_beside(call) && self.folds_columns(&array)?
            || (is_zip(call) || zips_elements(call)) && self.is_scanned_beside(&array);
        if in_pieces || stored || self.is_folded_again(call, &array) {
            return self.kept(array, Reads::Often, "tmp", bindings);
        }
        self.kept(array, often, "tmp", bindings)
    }

    /// Whether what a pattern folds, or scans, is long folds itself. Where these are stored, each has a point of a grid, and those of a
    /// product of matrices are computed in tiles.
    fn is_folded_again(&self, call: &Call, array: &Expr) -> bool {
        match &call.prim {
            Prim::Map(MapKind::Map) => {
                call.functions.iter().any(|f| folds(&f.body)) && is_product(array, 2)
            }
            Prim::Reduce(_) => {
                self.is_inside() && is_product(array, 1) || self.is_scanned_first(array)
            }
            Prim::Scan(_) => self.is_inside() && is_product(array, 1),
            _ => false,
        }
    }

    /// Whether an array outside of all maps is what columns are folded to, on a processor. Stored, all of them are folded line by line;
    /// whoever reads one would go through a column by itself.
    fn folds_columns(&self, array: &Expr) -> Result<bool, TypeError> {
        let map = array.as_call().filter(|call| call.prim == Prim::Map(MapKind::Map));
        let Some(call) = map.filter(|_| self.options.target == Target::Loops && !self.is_inside())
        else {
            return Ok(false);
        };
        rows::fold_columns(self.cx, self.def, self.options, call)
    }

    /// Whether an array takes scans that threads share, and that others beside it would keep from being seen: each thread would
    /// scan for itself.
    fn is_scanned_beside(&self, array: &Expr) -> bool {
        self.options.target == Target::Threads && !is_short(array.ty()) && needs_scan(array)
    }

    /// Whether an array inside a map needs a scan, or a fold by indices, before it can be read. What
    /// stands alone is shared: scans by threads, folds by all.
    fn is_scanned_first(&self, array: &Expr) -> bool {
        let is_scan = self.options.target == Target::Threads && !is_short(array.ty());
        self.is_inside() && (is_scan && needs_scan(array) || folds_by_index(array))
    }

    /// Whether an array's elements are numbers, each a long fold, and can be stored in front of the arrays that are made from them:
    /// the elements of those have threads of their own, of which each would fold for itself.
    fn is_folded_first(&self, array: &Expr) -> bool {
        self.options.target == Target::Threads
            && array.ty().as_array().is_some_and(|(element, _)| element.is_register())
            && array.has(is_long_fold)
    }

    /// An array with a name for each of those beside each other in it that are folded first.
    fn with_numbers_kept(
        &self,
        array: Expr,
        bindings: &mut Vec<Binding>,
    ) -> Result<Expr, TypeError> {
        let zip = array.as_call().filter(|call| is_zip(call));
        let arrays = zip.map_or(slice::from_ref(&array), |call| &call.args);
        if !arrays.iter().any(|own| self.is_folded_first(own)) {
            return Ok(array);
        }
        let mut kept = Vec::new();
        for own in arrays {
            kept.push(match self.is_folded_first(own) {
                true => self.kept(own.clone(), Reads::Often, "tmp", bindings)?,
                false => own.clone(),
            });
        }
        match zip {
            Some(call) => self.cx.call(call.prim.clone(), call.sizes.clone(), Vec::new(), kept),
            None => Ok(kept.pop().unwrap_or(array)),
        }
    }

    /// Whether a function is around.
    fn is_inside(&self) -> bool {
        !self.scopes.borrow().is_empty()
    }

    /// An array of which each element is read so often: what it computes gets names, what it rearranges stays.
    fn kept(
        &self,
        array: Expr,
        often: Reads,
        name: &str,
        bindings: &mut Vec<Binding>,
    ) -> Result<Expr, TypeError> {
        let Kind::Call(call) = array.kind() else { return Ok(array) };
        if !self.is_kept(&array, often) {
            return Ok(array);
        }
        let often = Reads::Often;
        let rearranges = call.prim.is_layout() && call.prim != Prim::Generate
            || matches!(call.prim, Prim::Map(MapKind::Map)) && is_layout_only(call);
        let picks = self.options.target == Target::Loops && picks_by_data(&array);
        if rearranges && !picks {
            let mut args = Vec::new();
            for arg in &call.args {
                args.push(self.kept(arg.clone(), often, name, bindings)?);
            }
            return self.cx.call(
                call.prim.clone(),
                call.sizes.clone(),
                call.functions.clone(),
                args,
            );
        }
        if self.is_computed_again(&array, name) {
            return Ok(array);
        }
        let array = if picks { copied(&Build::new(self.cx), array)? } else { array };
        let param = self.cx.fresh(name, array.ty().clone());
        self.declare(&param, &array);
        bindings.push(Binding { param: param.clone(), value: array, kept: true });
        Ok(self.cx.var(&param))
    }

    /// Whether an array of which each element is read so often is worth keeping.
    fn is_kept(&self, array: &Expr, often: Reads) -> bool {
        (often == Reads::Often || self.is_invariant(array))
            && array.as_call().is_some()
            && !array.ty().is_register()
            && !self.costs.is_cheap(array)
    }

    /// Whether an array that could be stored is computed by each of its readers instead, which may be better where that takes
    /// no long loop. Each is asked about once.
    fn is_computed_again(&self, array: &Expr, name: &str) -> bool {
        let known =
            self.asked.borrow().iter().find(|(own, _)| own.alpha_eq(array)).map(|(_, a)| *a);
        known.unwrap_or_else(|| {
            let again = self.asks_to_compute_again(array, name);
            self.asked.borrow_mut().push((array.clone(), again));
            again
        })
    }

    fn asks_to_compute_again(&self, array: &Expr, name: &str) -> bool {
        let is_long = array.has(is_long_fold);
        if is_long || folds_in_order(array) || self.costs.of(array) > AGAIN {
            return false;
        }
        let ways = ["stored", "computed again"].map(|way| format!("`{name}` {way}"));
        self.options.choices.take("share", ways.into()) == 1
    }

    /// Whether an expression is the same at each application of the function around it.
    fn is_invariant(&self, expr: &Expr) -> bool {
        let scopes = self.scopes.borrow();
        let inside = scopes.last();
        inside.is_some_and(|bound| !expr.free_variables().iter().any(|id| bound.contains(id)))
    }

    /// The body of a function.
    fn body(&self, f: &Lambda) -> Result<Block, TypeError> {
        self.scopes.borrow_mut().push(f.params.iter().map(Param::id).collect());
        let block = self.block(&f.body);
        self.scopes.borrow_mut().pop();
        block
    }

    /// A variable bound inside the function around, unless its value will move out of it.
    fn declare(&self, param: &Param, value: &Expr) {
        let moves = self.is_invariant(value) && self.is_worth_moving(value);
        if let Some(scope) = self.scopes.borrow_mut().last_mut().filter(|_| !moves) {
            scope.push(param.id());
        }
    }

    fn is_worth_moving(&self, value: &Expr) -> bool {
        !value.ty().is_register() && !self.costs.is_cheap(value)
    }

    /// `generate(n, f) = map(f, generate(n, \i -> i))`: a map can be stored, by as many work-items as it has elements.
    fn spelled(&self, call: &Call) -> Result<Call, TypeError> {
        let length = call.sizes.first().cloned().unwrap_or_else(|| Nat::int(1));
        let indices = Build::new(self.cx).generate(length, Ok)?;
        let prim = Prim::Map(MapKind::Map);
        Ok(Call { prim, sizes: Vec::new(), functions: call.functions.clone(), args: vec![indices] })
    }

    /// Bindings that do not depend on a function's parameters, nor on a binding that does, and are worth moving out
    /// of it; and the others.
    fn invariant(&self, f: &Lambda, bindings: Vec<Binding>) -> (Vec<Binding>, Vec<Binding>) {
        let (mut outer, mut inner): (Vec<Binding>, Vec<Binding>) = (Vec::new(), Vec::new());
        for binding in bindings {
            let depends = f.size.is_some()
                || f.params.iter().any(|p| binding.value.mentions(p))
                || inner.iter().any(|b| binding.value.mentions(&b.param));
            if !depends && self.is_worth_moving(&binding.value) {
                outer.push(binding)
            } else {
                inner.push(binding)
            }
        }
        (outer, inner)
    }
}

/// Whether a value decides which of the others are computed.
pub(crate) fn chooses(prim: &Prim) -> bool {
    matches!(prim, Prim::If | Prim::Binary(BinaryOp::And | BinaryOp::Or))
}

/// `map(id, xs)`, with as many maps as there are dimensions: what is a view of others is stored so.
pub(crate) fn copied(b: &Build, array: Expr) -> Built {
    match array.ty().is_register() {
        true => b.id(array),
        false => b.map(|element| copied(b, element), array),
    }
}
