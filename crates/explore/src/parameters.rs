//! Values for the parameters of low-level programs.
//!
//! Every combination of values that meets the clauses of the program, gives groups of a sensible number of
//! work-items, and does not need more local memory than there is.

use std::collections::BTreeMap;

use lift_ir::{Call, Def, Expr, Kind, MapKind, Pred, Prim, Var};
use lift_nat::EvalError;

/// What values are tried.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Of every parameter.
    pub values: Vec<i128>,
    /// Work-items of a group.
    pub fewest_items: i128,
    pub most_items: i128,
    /// Copies of a piece of code that is written out: the registers of a work-item hold no more, and compilers
    /// take minutes for it.
    pub most_copies: i128,
}

impl Default for Bounds {
    fn default() -> Bounds {
        let values = (0..9).map(|power| 1 << power).collect();
        Bounds { values, fewest_items: 32, most_items: 1024, most_copies: 256 }
    }
}

/// Values by name, of sizes and parameters.
pub type Values = BTreeMap<String, i128>;

/// The values of the parameters of a definition for given sizes, at most so many.
pub fn assignments(def: &Def, sizes: &Values, bounds: &Bounds, most: usize) -> Vec<Values> {
    let search = Search::new(def, sizes, bounds);
    let mut found = Vec::new();
    search.extend(0, sizes.clone(), &mut |_| bounds.values.clone(), &mut |values| {
        found.push(values);
        found.len() < most
    });
    found.into_iter().map(|values| without(values, sizes)).collect()
}

/// Some values of the parameters: `order` says in which order those of each are tried.
pub fn some_assignment(
    def: &Def,
    sizes: &Values,
    bounds: &Bounds,
    order: &mut dyn FnMut(&[i128]) -> Vec<i128>,
) -> Option<Values> {
    let search = Search::new(def, sizes, bounds);
    let mut found = None;
    search.extend(0, sizes.clone(), &mut |_| order(&bounds.values), &mut |values| {
        found = Some(values);
        false
    });
    found.map(|values| without(values, sizes))
}

fn without(mut values: Values, sizes: &Values) -> Values {
    values.retain(|name, _| !sizes.contains_key(name));
    values
}

struct Search<'d> {
    open: Vec<&'d Var>,
    clauses: Vec<&'d Pred>,
    bounds: &'d Bounds,
    def: &'d Def,
}

impl<'d> Search<'d> {
    fn new(def: &'d Def, sizes: &Values, bounds: &'d Bounds) -> Search<'d> {
        let all = def.parameters.iter().map(|p| &p.var);
        let open = all.filter(|v| !sizes.contains_key(v.name())).collect();
        let clauses = def.wheres.iter().map(|c| &c.pred).chain(&def.implied).collect();
        Search { open, clauses, bounds, def }
    }

    /// Values for the parameters from `depth` on. False where no more are wanted.
    fn extend(
        &self,
        depth: usize,
        values: Values,
        order: &mut dyn FnMut(usize) -> Vec<i128>,
        found: &mut dyn FnMut(Values) -> bool,
    ) -> bool {
        let Some(var) = self.open.get(depth) else {
            return !self.is_sensible(&values) || found(values);
        };
        for value in order(depth) {
            let mut more = values.clone();
            more.insert(var.name().to_string(), value);
            if self.allows(&more) && !self.extend(depth + 1, more, order, found) {
                return false;
            }
        }
        true
    }

    /// True where no clause that is decided by now fails.
    fn allows(&self, values: &Values) -> bool {
        let value = |v: &Var| values.get(v.name()).copied();
        self.clauses.iter().all(|clause| match clause.eval(&value) {
            Err(EvalError::Unbound(_)) => true,
            result => result == Ok(true),
        })
    }

    fn is_sensible(&self, values: &Values) -> bool {
        if copies(&self.def.body, values) > self.bounds.most_copies {
            return false;
        }
        match local_counts(self.def, values) {
            Some(counts) => {
                let items: i128 = counts.iter().product();
                (self.bounds.fewest_items..=self.bounds.most_items).contains(&items)
            }
            None => true,
        }
    }
}

/// The work-items of a group by dimension: the most frequent length of a `mapLcl` in each, the longest where two
/// are equally frequent. `None` without a `mapLcl`, or where a length is not known.
pub fn local_counts(def: &Def, values: &Values) -> Option<Vec<i128>> {
    let value = |v: &Var| values.get(v.name()).copied();
    let mut lengths: BTreeMap<u8, BTreeMap<i128, usize>> = BTreeMap::new();
    for (_, expr) in def.body.places() {
        let Some((MapKind::Lcl(dimension), length)) = map_of(expr) else { continue };
        let length = length.eval(&value).ok()?;
        *lengths.entry(dimension).or_default().entry(length).or_default() += 1;
    }
    let dimensions = lengths.keys().next_back().map(|d| *d + 1)?;
    let most = |d: u8| {
        let of = lengths.get(&d)?;
        of.iter().max_by_key(|(length, count)| (**count, **length)).map(|(length, _)| *length)
    };
    Some((0..dimensions).map(|d| most(d).unwrap_or(1)).collect())
}

/// How often the piece of code that is written out most often is.
fn copies(expr: &Expr, values: &Values) -> i128 {
    let inner = expr.children().into_iter().map(|child| copies(child, values)).max().unwrap_or(1);
    let length = match map_of(expr) {
        Some((MapKind::SeqUnroll, length)) => length.eval(&|v| values.get(v.name()).copied()),
        _ => return inner,
    };
    length.map_or(inner, |length| inner.saturating_mul(length))
}

/// The kind of a map and how many elements it goes through.
fn map_of(expr: &Expr) -> Option<(MapKind, &lift_ir::Nat)> {
    let Kind::Call(Call { prim: Prim::Map(kind), args, .. }) = expr.kind() else { return None };
    let (_, length) = args.first()?.ty().as_array()?;
    Some((*kind, length))
}
