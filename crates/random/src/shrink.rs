//! Failing cases made smaller.
//!
//! A step keeps the case well typed, keeps that the interpreter gives a result, and is taken where
//! the case still fails. Steps go on until none is left or the budget is spent.

mod rebuild;
mod shares;
mod spots;

use lift_interp::{Sizes, Value};
use lift_ir::{Call, Def, Expr, FoldKind, Kind, Literal, MapKind, Param, Prim, Scalar, Type};

use crate::case::Case;
use crate::inputs::Filler;
use crate::random::Random;
use rebuild::{Draft, Finished};
use spots::{Spot, spots};

/// The smallest failing case that at most so many trials find.
pub fn shrink(case: Case, trials: usize, fails: &mut dyn FnMut(&Case) -> bool) -> Case {
    let mut best = case;
    let mut left = trials;
    'next: loop {
        for draft in candidates(&best) {
            let Some(candidate) = draft.case(&best) else { continue };
            if measure(&candidate) >= measure(&best) {
                continue;
            }
            if left == 0 {
                return best;
            }
            left -= 1;
            if fails(&candidate) {
                best = candidate;
                continue 'next;
            }
        }
        return best;
    }
}

/// What gets smaller with every step.
fn measure(case: &Case) -> (u32, usize, usize, usize, usize) {
    let text = case.def.body.to_string();
    let decided = case.def.body.places().iter().filter(|(_, e)| says_how(e)).count();
    let numbers: usize = case.args.iter().map(|a| a.display_full().to_string().len()).sum();
    let settings = case.def.launches.len() + case.def.sizes.len() + case.def.parameters.len();
    (case.def.body.weight(), decided, settings, case.def.params.len(), text.len() + numbers)
}

/// Patterns that are one choice among several ways to run.
fn says_how(expr: &Expr) -> bool {
    match expr.as_call().map(|call| &call.prim) {
        Some(Prim::Map(kind)) => !matches!(kind, MapKind::Map | MapKind::Seq),
        Some(Prim::Reduce(kind) | Prim::Scan(kind) | Prim::ReduceByIndex(kind)) => {
            *kind != FoldKind::Seq
        }
        _ => false,
    }
}

fn candidates(case: &Case) -> Vec<Draft> {
    let def = &case.def;
    let all = spots(&def.body);
    let mut found: Vec<Draft> = Vec::new();
    found.extend(without_settings(case));
    found.extend(all.iter().filter(|s| !s.place.0.is_empty()).map(|s| as_root(def, s)));
    for spot in &all {
        found.extend(smaller(def, spot));
    }
    found.extend(all.iter().filter_map(|spot| plainer(def, spot)).flatten());
    found.extend(simpler_inputs(case));
    found
}

/// Launches left to the compiler; sizes fixed to what they are.
fn without_settings(case: &Case) -> Vec<Draft> {
    let def = &case.def;
    let mut found = Vec::new();
    if !def.launches.is_empty() {
        found.push(Draft::of(Def { launches: Vec::new(), ..def.clone() }));
    }
    if !def.sizes.is_empty() || !def.parameters.is_empty() {
        found.push(Draft::fixed(def, &case.sizes));
    }
    found
}

/// A part as the whole program; variables bound around it become inputs.
fn as_root(def: &Def, spot: &Spot) -> Draft {
    let mut draft = Draft::of(Def { body: spot.expr.clone(), ..def.clone() });
    draft.inputs = spot.scope.iter().filter(|p| spot.expr.mentions(p)).cloned().collect();
    draft
}

/// A part replaced by something of its type.
fn smaller(def: &Def, spot: &Spot) -> Vec<Draft> {
    let mut found = Vec::new();
    let put = |expr: Expr| Draft::replacing(def, &spot.place, expr);
    if spot.expr.weight() > 1 {
        let cx = def.context();
        let known = def.params.iter().chain(&spot.scope).rev();
        let same = known.filter(|p| p.ty() == spot.expr.ty());
        found.extend(same.map(|p| put(cx.var(p))));
        found.extend(zero(spot.expr.ty()).map(|literal| put(cx.literal(literal))));
        found.extend(inner(spot).into_iter().map(put));
        if let Some(inlined) = unfolded(def, &spot.expr) {
            found.push(put(inlined));
        }
        if spot.sizes.iter().all(|var| !spot.expr.ty().mentions(var)) {
            let fresh = cx.fresh("in", spot.expr.ty().clone());
            let mut draft = put(cx.var(&fresh));
            draft.inputs.push(fresh);
            found.push(draft);
        }
    }
    found
}

fn zero(ty: &Type) -> Option<Literal> {
    let Type::Scalar(scalar) = ty else { return None };
    Literal::int(*scalar, 1).or_else(|| Literal::float(*scalar, 1.0)).or(Some(Literal::Bool(true)))
}

/// Parts of a part that have its type and mention nothing bound between.
fn inner(spot: &Spot) -> Vec<Expr> {
    let mut found: Vec<Expr> = spots(&spot.expr)
        .into_iter()
        .filter(|s| !s.place.0.is_empty() && s.expr.ty() == spot.expr.ty())
        .filter(|s| s.scope.iter().all(|p| !s.expr.mentions(p)))
        .map(|s| s.expr)
        .collect();
    found.sort_by_key(Expr::weight);
    found
}

/// A `let`, `to…`, `id` or `iterate` without it.
fn unfolded(def: &Def, expr: &Expr) -> Option<Expr> {
    let cx = def.context();
    match expr.kind() {
        Kind::Let { param, value, body } => {
            Some(cx.substitute(body, &[(param.clone(), value.clone())]))
        }
        Kind::Call(Call { prim: Prim::To(_) | Prim::Iterate, functions, args, .. }) => {
            let f = functions.first().filter(|f| f.size.is_none())?;
            let values: Vec<(Param, Expr)> =
                f.params.iter().cloned().zip(args.iter().cloned()).collect();
            Some(cx.substitute(&f.body, &values))
        }
        Kind::Call(Call { prim: Prim::IterateIndex, functions, args, .. }) => {
            let (f, x) = (functions.first()?, args.first()?);
            let [number, state] = f.params.as_slice() else { return None };
            let first = cx.literal(Literal::int(Scalar::I32, 0)?);
            Some(cx.substitute(&f.body, &[(number.clone(), first), (state.clone(), x.clone())]))
        }
        Kind::Call(_) | Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => None,
    }
}

/// The same pattern without saying how it runs.
fn plainer(def: &Def, spot: &Spot) -> Option<Vec<Draft>> {
    let call = spot.expr.as_call().filter(|_| says_how(&spot.expr))?;
    let plain: &[Prim] = match &call.prim {
        Prim::Map(_) => &[Prim::Map(MapKind::Seq), Prim::Map(MapKind::Map)],
        Prim::Reduce(_) => &[Prim::Reduce(FoldKind::Seq)],
        Prim::Scan(_) => &[Prim::Scan(FoldKind::Seq)],
        Prim::ReduceByIndex(_) => &[Prim::ReduceByIndex(FoldKind::Seq)],
        _ => return None,
    };
    let cx = def.context();
    let calls = plain.iter().filter_map(|prim| {
        let (functions, args) = (call.functions.clone(), call.args.clone());
        cx.call(prim.clone(), call.sizes.clone(), functions, args).ok()
    });
    Some(calls.map(|expr| Draft::replacing(def, &spot.place, expr)).collect())
}

/// Inputs that are easier to read.
fn simpler_inputs(case: &Case) -> Vec<Draft> {
    (0..case.args.len())
        .filter_map(|index| {
            let arg = case.args.get(index)?;
            let plain = lift_interp::inputs::generate(lift_interp::inputs::Fill::Iota, &arg.ty());
            let mut draft = Draft::of(case.def.clone());
            draft.args.push((index, plain.ok()?));
            Some(draft)
        })
        .collect()
}

impl Draft {
    /// The case of a draft, inputs that stay with the values they have.
    fn case(self, old: &Case) -> Option<Case> {
        let Finished { def, sizes, args: replaced } = self.finish(old)?;
        let random = Random::new(old.seed.wrapping_add(1));
        let filler = &mut Filler { random, floats: old.floats };
        let args: Option<Vec<Value>> = def
            .params
            .iter()
            .map(|param| {
                let index = old.def.params.iter().position(|p| p == param);
                if let Some((_, value)) = replaced.iter().find(|(i, _)| Some(*i) == index) {
                    return Some(value.clone());
                }
                match index {
                    Some(index) => old.args.get(index).cloned(),
                    None => filler.value(&concrete(param.ty(), &sizes)?).ok(),
                }
            })
            .collect();
        Case::with(old.seed, def, sizes, old.floats, args?).ok()
    }
}

fn concrete(ty: &Type, sizes: &Sizes) -> Option<Type> {
    lift_interp::concrete_type(ty, sizes).ok()
}
