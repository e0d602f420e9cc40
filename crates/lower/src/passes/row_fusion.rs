//! Fusion of maps over the same rows.
//!
//! Before: `let tops = map(reduce(-inf, max), x); zip(tops, x) |> map(\(top, row) -> map(\v -> exp(v - top), row))`, whole arrays one
//! after the other.
//! After: `zip(x, x) |> map(\(r, row) -> let top = reduce(-inf, max, r); map(\v -> exp(v - top), row))`: what is made of a row stays
//! with the row, which is read once.
//!
//! Fused are folds of rows with what reads these rows again, and rows made from them, whose elements take no loop; a product of
//! matrices stays alone.

use lift_ir::{
    Build, Built, Call, Context, Def, Expr, Kind, Lambda, MapKind, Param, Prim, TypeError,
};

use crate::LowerError;
use crate::passes::default_lowering::{is_grid_wide, rows};
use crate::replace::{replaced, with_components};

pub(crate) fn run(def: &Def) -> Result<Def, LowerError> {
    if is_grid_wide(&def.body) {
        return Ok(def.clone());
    }
    let cx = def.context();
    let body = Fusion { cx: &cx }.expr(&def.body)?;
    Ok(Def { body, next_number: cx.next_number(), ..def.clone() })
}

struct Fusion<'a> {
    cx: &'a Context,
}

impl Fusion<'_> {
    /// The expressions that are computed outside of all maps, from the last on.
    fn expr(&self, expr: &Expr) -> Built {
        let Kind::Let { param, value, body } = expr.kind() else { return Ok(expr.clone()) };
        let rest = self.expr(body)?;
        // What was named before it may fold now what it made of rows alone. There is a name less.
        if let Some(fused) = self.fused(param, value, &rest)? {
            return self.expr(&fused);
        }
        match rest.same_node(body) {
            true => Ok(expr.clone()),
            false => self.cx.let_in(param.clone(), value.clone(), rest),
        }
    }

    /// What reads an array of rows, with the rows in place of its name.
    fn fused(&self, y: &Param, value: &Expr, body: &Expr) -> Result<Option<Expr>, TypeError> {
        let Some(made) = map_of(value) else { return Ok(None) };
        let Some(reader) = self.reader(body, y) else { return Ok(None) };
        let inside: usize = reader.zipped.iter().filter(|e| e.as_var() == Some(y)).count();
        if occurrences(body, y) != inside {
            return Ok(None);
        }
        let Some(map) = self.together(y, &made, &reader)? else { return Ok(None) };
        replaced(self.cx, body, &[(reader.call, map)]).map(Some)
    }

    /// The first map outside of functions over an array of this name, beside others or not.
    fn reader<'e>(&self, expr: &'e Expr, y: &Param) -> Option<Map<'e>> {
        if !expr.mentions(y) {
            return None;
        }
        let own = map_of(expr).filter(|map| map.zipped.iter().any(|e| e.as_var() == Some(y)));
        own.or_else(|| match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => None,
            Kind::Let { value, body, .. } => self.reader(value, y).or_else(|| self.reader(body, y)),
            Kind::Call(call) => call.args.iter().find_map(|arg| self.reader(arg, y)),
        })
    }

    /// One map that does what two did; nothing where that is no work on rows.
    fn together(&self, y: &Param, made: &Map, reader: &Map) -> Result<Option<Expr>, TypeError> {
        let b = Build::new(self.cx);
        let others: Vec<&Expr> =
            reader.zipped.iter().filter(|e| e.as_var() != Some(y)).copied().collect();
        let mut arrays: Vec<Expr> = Vec::new();
        let mut place = |array: &Expr| -> usize {
            let known = arrays.iter().position(|own| {
                own.same_node(array) || own.as_var().is_some() && own.as_var() == array.as_var()
            });
            known.unwrap_or_else(|| {
                arrays.push(array.clone());
                arrays.len() - 1
            })
        };
        let sources: Vec<usize> = made.zipped.iter().map(|array| place(array)).collect();
        let beside: Vec<usize> = others.iter().map(|array| place(array)).collect();
        let reads_same = beside.iter().any(|at| sources.contains(at));
        if !reads_same && made.f.body.ty().is_register() {
            return Ok(None);
        }
        let all = match arrays.as_slice() {
            [one] => one.clone(),
            _ => b.zip(arrays.clone())?,
        };
        let Some((element, _)) = all.ty().as_array() else { return Ok(None) };
        let row = self.cx.fresh("row", element.clone());
        let part = |at: usize| match arrays.len() {
            1 => Ok(self.cx.var(&row)),
            _ => b.field(self.cx.var(&row), at as u32),
        };
        let given = sources.iter().map(|at| part(*at)).collect::<Result<Vec<Expr>, TypeError>>()?;
        let Some(first) = self.applied(made.f, &given)? else { return Ok(None) };
        let own = self.cx.fresh(y.name(), first.ty().clone());
        let mut rest = beside.iter();
        let mut items = Vec::new();
        for e in &reader.zipped {
            items.push(match e.as_var() == Some(y) {
                true => self.cx.var(&own),
                false => match rest.next() {
                    Some(at) => part(*at)?,
                    None => return Ok(None),
                },
            });
        }
        let Some(then) = self.applied(reader.f, &items)? else { return Ok(None) };
        let body = self.named(own, &first, then)?;
        if !rows::works_on_rows(self.cx, &body)? {
            return Ok(None);
        }
        let f = Lambda { size: None, params: vec![row], body };
        self.cx.call(Prim::Map(MapKind::Map), vec![], vec![f], vec![all]).map(Some)
    }

    /// `let y = (let s = a; b); c` is `let s = a; let y = b; c`: numbers that a row is made from have their names beside it.
    fn named(&self, own: Param, value: &Expr, rest: Expr) -> Built {
        match value.kind() {
            Kind::Let { param, value, body } => {
                self.cx.let_in(param.clone(), value.clone(), self.named(own, body, rest)?)
            }
            _ => self.cx.let_in(own, value.clone(), rest),
        }
    }

    /// A function of one value, or of the tuple of several.
    fn applied(&self, f: &Lambda, values: &[Expr]) -> Result<Option<Expr>, TypeError> {
        match (f.params.as_slice(), values) {
            ([x], [value]) => Ok(Some(self.cx.substitute(&f.body, &[(x.clone(), value.clone())]))),
            ([tuple], _) => with_components(self.cx, &f.body, tuple, values).map(Some),
            _ => Ok(None),
        }
    }
}

/// `map(f, zip(…))`, or of one array.
struct Map<'e> {
    call: &'e Call,
    f: &'e Lambda,
    zipped: Vec<&'e Expr>,
}

fn map_of(expr: &Expr) -> Option<Map<'_>> {
    let call = expr.as_call().filter(|call| call.prim == Prim::Map(MapKind::Map))?;
    let (f, [xs]) = (call.functions.first()?, call.args.as_slice()) else { return None };
    let zipped = match xs.as_call() {
        Some(zip) if zip.prim == Prim::Zip => zip.args.iter().collect(),
        _ => vec![xs],
    };
    Some(Map { call, f, zipped })
}

/// How often a variable stands in an expression.
fn occurrences(expr: &Expr, param: &Param) -> usize {
    match expr.kind() {
        _ if !expr.mentions(param) => 0,
        Kind::Var(_) => 1,
        _ => expr.children().into_iter().map(|child| occurrences(child, param)).sum(),
    }
}
