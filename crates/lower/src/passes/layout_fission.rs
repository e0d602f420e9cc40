//! What rearranges stands outside of maps, so that maps inside of it are seen.
//!
//! Before: `map(\row -> reverse(map(f, row)), xs)`, whose inner map is hidden from a grid.
//! After: `map(reverse, map(\row -> map(f, row), xs))`, a grid of two dimensions and a view of it.
//!
//! Of several parts, as those of a tuple or of `concat`, each has a map to itself:
//!
//! `map(\x -> L(e1, e2), xs) = map(\(y1, y2) -> L(y1, y2), zip(map(\x -> e1, xs), map(\x -> e2, xs)))`
//!
//! What several of them need, and takes a loop, is computed before them. Patterns that leave most of a part out stay inside, and so does all
//! where no part is a long array of its own.

use std::cell::RefCell;

use lift_ir::{
    Build, Built, Call, Context, Def, Expr, FoldKind, Kind, MapKind, Param, Prim, TypeError,
};

use super::share;
use crate::LowerError;
use crate::parts::{Part, map_over};
use crate::passes::default_lowering::{is_grid_wide, is_layout_only};
use crate::replace::with_parts;

/// Numbers of a part, at most, that a work-item makes by itself.
const OWN: i128 = 64;

pub(crate) fn run(def: &Def) -> Result<Def, LowerError> {
    if is_grid_wide(&def.body) {
        return Ok(def.clone());
    }
    let cx = def.context();
    let body = Fission { cx: &cx }.expr(&def.body)?;
    Ok(Def { body, next_number: cx.next_number(), ..def.clone() })
}

struct Fission<'a> {
    cx: &'a Context,
}

/// A name in front of what a function gives.
struct Named<'e> {
    param: &'e Param,
    value: &'e Expr,
}

impl Fission<'_> {
    /// An expression, from the inside out.
    fn expr(&self, expr: &Expr) -> Built {
        let made = match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => return Ok(expr.clone()),
            Kind::Let { param, value, body } => {
                let (own, rest) = (self.expr(value)?, self.expr(body)?);
                if own.same_node(value) && rest.same_node(body) {
                    return Ok(expr.clone());
                }
                self.cx.let_in(param.clone(), own, rest)?
            }
            Kind::Call(call) => {
                let made = with_parts(self.cx, expr, call, &|part| self.expr(part))?;
                match made.as_call() {
                    Some(call) => match self.apart(call)? {
                        Some(apart) => apart,
                        None => self.outside(&made, call)?,
                    },
                    None => made,
                }
            }
        };
        Ok(made.placed_as(expr))
    }

    /// What rearranges an array with names before it, with the names before all of it:
    ///
    /// `L(let y = e; b) = let y = e; L(b)`, and `unzip(zip(a, b)) = (a, b)`
    fn outside(&self, expr: &Expr, call: &Call) -> Built {
        if !keeps_all(call) {
            return Ok(expr.clone());
        }
        let (mut names, mut args) = (Vec::new(), Vec::new());
        for arg in &call.args {
            let mut rest = arg;
            while let Kind::Let { param, value, body } = rest.kind() {
                names.push((param, value));
                rest = body;
            }
            args.push(rest.clone());
        }
        let zipped = args.first().and_then(Expr::as_call).filter(|arg| arg.prim == Prim::Zip);
        let whole = match (&call.prim, zipped) {
            (Prim::Unzip, Some(zip)) => Build::new(self.cx).tuple(zip.args.clone())?,
            _ if names.is_empty() => return Ok(expr.clone()),
            (prim, _) => {
                self.cx.call(prim.clone(), call.sizes.clone(), call.functions.clone(), args)?
            }
        };
        names.into_iter().rev().try_fold(whole, |body, (param, value)| {
            self.cx.let_in(param.clone(), value.clone(), body)
        })
    }

    /// A map whose function rearranges what it makes, as what rearranges the results of others.
    fn apart(&self, call: &Call) -> Result<Option<Expr>, TypeError> {
        let (Prim::Map(MapKind::Map), [f], [xs]) =
            (&call.prim, call.functions.as_slice(), call.args.as_slice())
        else {
            return Ok(None);
        };
        let [x] = f.params.as_slice() else { return Ok(None) };
        let (mut names, mut result) = (Vec::new(), &f.body);
        while let Kind::Let { param, value, body } = result.kind() {
            names.push(Named { param, value });
            result = body;
        }
        let mut parts = Vec::new();
        add_parts(result, &mut parts);
        let is_inside =
            |part: &&&Expr| part.mentions(x) || names.iter().any(|name| part.mentions(name.param));
        let own: Vec<&Expr> = parts.iter().filter(is_inside).copied().collect();
        let is_rearranged = !own.iter().any(|part| part.same_node(result));
        if !is_rearranged || !own.iter().any(|part| makes_many(part)) {
            return Ok(None);
        }
        let b = Build::new(self.cx);
        // Several maps may read the array now.
        let all = self.cx.fresh("all", xs.ty().clone());
        let is_named = own.len() + names.len() > 1 && xs.as_var().is_none();
        let array = if is_named { self.cx.var(&all) } else { xs.clone() };
        let mut apart = Apart {
            cx: self.cx,
            sources: vec![Part { element: x.clone(), array }],
            beside: Vec::new(),
            outer: Vec::new(),
        };
        for (at, name) in names.iter().enumerate() {
            let later = names.get(at + 1..).unwrap_or_default();
            match share::takes_a_loop(name.value) && readers(name, later, &own) > 1 {
                true => apart.compute(name)?,
                false => apart.beside.push((name.param.clone(), name.value.clone())),
            }
        }
        let made: RefCell<Vec<(&Expr, Part)>> = RefCell::default();
        for part in own {
            let element = self.cx.fresh("part", part.ty().clone());
            made.borrow_mut().push((part, Part { element, array: apart.made(part)? }));
        }
        let made = made.into_inner();
        let arrays: Vec<Part> = made.iter().map(|(_, part)| part.clone()).collect();
        let whole = match is_tuple_of(result, &made) {
            true => b.zip(arrays.iter().map(|part| part.array.clone()))?,
            false => map_over(self.cx, &arrays, self.with(result, &made)?)?,
        };
        let mut outer = apart.outer.into_iter().rev();
        let whole =
            outer.try_fold(whole, |body, (param, value)| self.cx.let_in(param, value, body))?;
        match is_named {
            true => self.cx.let_in(all, xs.clone(), whole).map(Some),
            false => Ok(Some(whole)),
        }
    }

    /// An expression with the elements of arrays in place of some of its parts.
    fn with(&self, expr: &Expr, made: &[(&Expr, Part)]) -> Built {
        if let Some((_, part)) = made.iter().find(|(old, _)| old.same_node(expr)) {
            return Ok(self.cx.var(&part.element));
        }
        match expr.as_call() {
            Some(call) if keeps_all(call) => {
                let args = call.args.iter().map(|arg| self.with(arg, made));
                let args = args.collect::<Result<Vec<Expr>, TypeError>>()?;
                let (sizes, functions) = (call.sizes.clone(), call.functions.clone());
                self.cx.call(call.prim.clone(), sizes, functions, args)
            }
            _ => Ok(expr.clone()),
        }
    }
}

/// A map that is taken apart.
struct Apart<'a> {
    cx: &'a Context,
    /// What its function reads an element of: the array, and what was computed before others.
    sources: Vec<Part>,
    /// Names of the function that each part has for itself.
    beside: Vec<(Param, Expr)>,
    /// Arrays in front of the parts.
    outer: Vec<(Param, Expr)>,
}

impl Apart<'_> {
    /// The array of the values that an expression has for each element.
    fn made(&self, value: &Expr) -> Built {
        let named =
            self.beside.iter().rev().try_fold(value.clone(), |body, (param, value)| match body
                .mentions(param)
            {
                true => self.cx.let_in(param.clone(), value.clone(), body),
                false => Ok(body),
            })?;
        map_over(self.cx, &self.sources, named)
    }

    /// A name is an array outside now.
    fn compute(&mut self, name: &Named) -> Result<(), TypeError> {
        let array = self.made(name.value)?;
        let param = self.cx.fresh(name.param.name(), array.ty().clone());
        let own = Part { element: name.param.clone(), array: self.cx.var(&param) };
        self.sources.push(own);
        self.outer.push((param, array));
        Ok(())
    }
}

/// How many of the parts need a name, themselves or by others.
fn readers(name: &Named, later: &[Named], parts: &[&Expr]) -> usize {
    let mut needing = vec![name.param];
    for other in later {
        if needing.iter().any(|param| other.value.mentions(param)) {
            needing.push(other.param);
        }
    }
    parts.iter().filter(|part| needing.iter().any(|param| part.mentions(param))).count()
}

/// The largest expressions that are rearranged.
fn add_parts<'e>(expr: &'e Expr, found: &mut Vec<&'e Expr>) {
    match expr.as_call().filter(|call| keeps_all(call)) {
        Some(call) => call.args.iter().for_each(|arg| add_parts(arg, found)),
        None => found.push(expr),
    }
}

/// Whether a call rearranges its arguments, and leaves hardly anything out of them.
fn keeps_all(call: &Call) -> bool {
    let rearranges = matches!(
        call.prim,
        Prim::Zip
            | Prim::Unzip
            | Prim::Split
            | Prim::Join
            | Prim::Transpose
            | Prim::Gather(_)
            | Prim::Scatter(_)
            | Prim::Slide
            | Prim::Pad(_)
            | Prim::PadValue
            | Prim::Concat
            | Prim::Tuple
            | Prim::Array
    );
    let is_part = matches!(call.prim, Prim::Take | Prim::Drop);
    let is_map = call.prim == Prim::Map(MapKind::Map);
    rearranges
        || is_part && leaves_half(call)
        || is_map && call.functions.iter().all(|f| leaves_nothing_out(&f.body))
}

/// Whether `take` or `drop` leaves half of the numbers, at least.
fn leaves_half(call: &Call) -> bool {
    let whole = call.args.first().and_then(|xs| xs.ty().numbers());
    matches!((whole, numbers_left(call)), (Some(whole), Some(left)) if left >= whole / 2)
}

/// Whether a function rearranges, and leaves hardly anything out.
fn leaves_nothing_out(body: &Expr) -> bool {
    match body.kind() {
        Kind::Var(_) => true,
        Kind::Call(call) => keeps_all(call) && call.args.iter().all(leaves_nothing_out),
        Kind::Literal(_) | Kind::Size(..) | Kind::Let { .. } => false,
    }
}

/// The numbers that `take` and `drop` leave.
fn numbers_left(call: &Call) -> Option<i128> {
    let (element, length) = call.args.first()?.ty().as_array()?;
    let count = call.sizes.first()?.as_int()?;
    let left = if call.prim == Prim::Take { count } else { length.as_int()? - count };
    left.checked_mul(element.numbers()?)
}

/// Whether an expression makes so many numbers that they get work-items of their own.
fn makes_many(expr: &Expr) -> bool {
    let is_many = expr.ty().numbers().is_none_or(|n| n > OWN);
    !expr.ty().is_register() && is_many && is_made(expr)
}

/// Whether an array is made by a map or a scan, perhaps with names before it.
fn is_made(expr: &Expr) -> bool {
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => false,
        Kind::Let { body, .. } => is_made(body),
        Kind::Call(call) => {
            let is_map = call.prim == Prim::Map(MapKind::Map) && !is_layout_only(call);
            is_map || call.prim == Prim::Scan(FoldKind::Any)
        }
    }
}

/// Whether an expression is the tuple of all that was made, in order.
fn is_tuple_of(expr: &Expr, made: &[(&Expr, Part)]) -> bool {
    let Some(call) = expr.as_call().filter(|call| call.prim == Prim::Tuple) else { return false };
    call.args.len() == made.len()
        && call.args.iter().zip(made).all(|(arg, (part, _))| arg.same_node(part))
}
