//! Values for the parameters of low-level programs.
//!
//! Every combination of values that meets the clauses of the program and gives groups of a sensible number of
//! work-items, and code of a sensible length.

use std::collections::BTreeMap;

use lift_ir::{Call, Def, Expr, Kind, MapKind, Nat, Pred, Prim, Var};

use crate::space::schedule;

/// How many partial combinations are looked at for one that is wanted.
const PATIENCE: usize = 20_000;

/// What values are tried.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Of every parameter, besides the divisors of the sizes.
    pub values: Vec<i128>,
    /// Of single parameters, in place of those, by name.
    pub named: BTreeMap<String, Vec<i128>>,
    /// By how much rows in local memory may be longer than they need be, besides 0.
    pub paddings: Vec<i128>,
    /// How many tiles in local memory there may be at a time, besides what the compiler chooses.
    pub stages: Vec<i128>,
    /// How many rows of a grid may be computed together, likewise.
    pub rows: Vec<i128>,
    /// How many planes the blocks of a grid may have, likewise.
    pub blocks: Vec<i128>,
    /// Divisors of a size are values too, up to this one.
    pub largest_divisor: i128,
    /// Work-items of a group.
    pub fewest_items: i128,
    pub most_items: i128,
    /// Copies of a piece of code that is written out: the registers of a work-item hold no more, and compilers
    /// take minutes for it.
    pub most_copies: i128,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            values: (0..13).map(|power| 1 << power).collect(),
            named: BTreeMap::new(),
            paddings: vec![1, 4],
            stages: vec![1, 3],
            rows: vec![1, 2, 8],
            blocks: vec![1, 8, 128],
            largest_divisor: 256,
            fewest_items: 32,
            most_items: 1024,
            most_copies: 256,
        }
    }
}

impl Bounds {
    /// The values to try for a parameter at given sizes, in order.
    fn of(&self, parameter: &Var, sizes: &Values) -> Vec<i128> {
        if let Some(values) = self.named.get(parameter.name()) {
            return values.clone();
        }
        if let Some(knob) = schedule::knob(parameter.name()) {
            return [0].into_iter().chain((knob.values)(self).iter().copied()).collect();
        }
        let mut all = self.values.clone();
        for size in sizes.values() {
            let largest = self.largest_divisor.min(*size);
            all.extend((1..=largest).filter(|divisor| size % divisor == 0));
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Values by name, of sizes and parameters.
pub type Values = BTreeMap<String, i128>;

/// The values of the parameters of a definition for given sizes, at most so many.
pub fn assignments(def: &Def, sizes: &Values, bounds: &Bounds, most: usize) -> Vec<Values> {
    let mut found = Vec::new();
    if most > 0 {
        Choices::new(def, sizes, bounds).each(&mut |values| {
            found.push(values);
            found.len() < most
        });
    }
    found
}

/// The parameters of a program and what is required of their values, made ready for trying many.
pub struct Choices {
    /// Sizes first, with their values, then the open parameters.
    vars: Vec<Var>,
    sizes: Vec<i128>,
    /// The values to try for each open parameter.
    values: Vec<Vec<i128>>,
    /// What is decided once so many variables have values.
    required: Vec<Vec<Requirement>>,
    /// Lengths of the `mapLcl`s, by dimension.
    lengths: Vec<(u8, Nat)>,
    fewest_items: i128,
    most_items: i128,
}

enum Requirement {
    Holds(Pred),
    /// The product is no larger.
    AtMost(Vec<Nat>, i128),
}

impl Choices {
    /// Parameters that have a value stay as they are unless the bounds name them: what the program computes may
    /// depend on them.
    pub fn new(def: &Def, sizes: &Values, bounds: &Bounds) -> Choices {
        let sizes = &with_defaults(def, sizes, bounds);
        let all = def.sizes.iter().chain(def.parameters.iter().map(|p| &p.var));
        let (given, open): (Vec<&Var>, Vec<&Var>) = all.partition(|v| sizes.contains_key(v.name()));
        let vars: Vec<Var> = given.iter().chain(&open).map(|v| (*v).clone()).collect();
        let lengths = local_lengths(&def.body);
        let mut required: Vec<Vec<Requirement>> = Vec::new();
        required.resize_with(vars.len() + 1, Vec::new);
        let last = |of: &[Var]| {
            let place = |v: &Var| vars.iter().position(|known| known == v).map(|i| i + 1);
            // What mentions something unknown is never decided.
            of.iter().map(place).try_fold(0, |most, at| at.map(|at| most.max(at)))
        };
        let mut add = |of: &[Var], requirement| {
            if let Some(at) = last(of).and_then(|at| required.get_mut(at.max(given.len()))) {
                at.push(requirement);
            }
        };
        for pred in def.wheres.iter().map(|c| &c.pred).chain(&def.implied) {
            add(&pred.vars().into_iter().collect::<Vec<_>>(), Requirement::Holds(pred.clone()));
        }
        for (_, length) in &lengths {
            let of: Vec<Var> = length.vars().into_iter().collect();
            add(&of, Requirement::AtMost(vec![length.clone()], bounds.most_items));
        }
        for chain in written_out(&def.body) {
            let of: Vec<Var> = chain.iter().flat_map(Nat::vars).collect();
            add(&of, Requirement::AtMost(chain, bounds.most_copies));
        }
        let known = given.iter().filter_map(|v| sizes.get(v.name()).copied()).collect();
        let values = open.iter().map(|v| bounds.of(v, sizes)).collect();
        let (fewest_items, most_items) = (bounds.fewest_items, bounds.most_items);
        Choices { vars, sizes: known, values, required, lengths, fewest_items, most_items }
    }

    /// All combinations in order, until `found` has enough of them.
    pub fn each(&self, found: &mut dyn FnMut(Values) -> bool) {
        let mut left = usize::MAX;
        let mut found = |values: &[i128]| found(self.named(values));
        let order = |_: usize, values: &[i128]| values.to_vec();
        self.start(&mut { order }, &mut found, &mut left);
    }

    /// How many combinations there are, up to a number.
    pub fn count(&self, most: usize) -> usize {
        let (mut count, mut left) = (0, usize::MAX);
        let order = |_: usize, values: &[i128]| values.to_vec();
        let mut found = |_: &[i128]| {
            count += 1;
            count < most
        };
        self.start(&mut { order }, &mut found, &mut left);
        count
    }

    /// Some combination: `order` says in which order values are tried. None where none is found soon.
    pub fn some(&self, order: &mut dyn FnMut(&[i128]) -> Vec<i128>) -> Option<Values> {
        let (mut chosen, mut left) = (None, PATIENCE);
        let mut found = |values: &[i128]| {
            chosen = Some(self.named(values));
            false
        };
        self.start(&mut |_, values| order(values), &mut found, &mut left);
        chosen
    }

    /// Whether these values are a combination.
    pub fn allows(&self, values: &Values) -> bool {
        let mut all = self.sizes.clone();
        for (var, tried) in self.open().zip(&self.values) {
            match values.get(var.name()) {
                Some(value) if tried.contains(value) => all.push(*value),
                _ => return false,
            }
        }
        (self.sizes.len()..=all.len()).all(|n| self.is_allowed(&all[..n])) && self.is_sensible(&all)
    }

    /// The open parameters with the values to try for each.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &[i128])> {
        self.open().map(Var::name).zip(self.values.iter().map(Vec::as_slice))
    }

    fn open(&self) -> impl Iterator<Item = &Var> {
        self.vars.iter().skip(self.sizes.len())
    }

    fn start(
        &self,
        order: &mut dyn FnMut(usize, &[i128]) -> Vec<i128>,
        found: &mut dyn FnMut(&[i128]) -> bool,
        left: &mut usize,
    ) {
        let mut values = self.sizes.clone();
        if self.is_allowed(&values) {
            self.extend(&mut values, order, found, left);
        }
    }

    /// Values for the parameters that have none yet. False where no more are wanted.
    fn extend(
        &self,
        values: &mut Vec<i128>,
        order: &mut dyn FnMut(usize, &[i128]) -> Vec<i128>,
        found: &mut dyn FnMut(&[i128]) -> bool,
        left: &mut usize,
    ) -> bool {
        let depth = values.len() - self.sizes.len();
        let Some(all) = self.values.get(depth) else {
            return !self.is_sensible(values) || found(values);
        };
        for value in order(depth, all) {
            if *left == 0 {
                return false;
            }
            *left -= 1;
            values.push(value);
            let goes_on = !self.is_allowed(values) || self.extend(values, order, found, left);
            values.pop();
            if !goes_on {
                return false;
            }
        }
        true
    }

    /// Whether what is decided by the last of these values holds.
    fn is_allowed(&self, values: &[i128]) -> bool {
        let value = |v: &Var| self.value_of(v, values);
        let Some(required) = self.required.get(values.len()) else { return true };
        required.iter().all(|requirement| match requirement {
            Requirement::Holds(pred) => pred.eval(&value) == Ok(true),
            Requirement::AtMost(factors, most) => {
                let product = factors.iter().try_fold(1i128, |product, factor| {
                    factor.eval(&value).ok().map(|n| product.saturating_mul(n))
                });
                product.is_none_or(|product| product <= *most)
            }
        })
    }

    fn is_sensible(&self, values: &[i128]) -> bool {
        match counts(&self.lengths, &|v| self.value_of(v, values)) {
            Some(counts) => {
                (self.fewest_items..=self.most_items).contains(&counts.iter().product())
            }
            None => true,
        }
    }

    fn value_of(&self, var: &Var, values: &[i128]) -> Option<i128> {
        let at = self.vars.iter().position(|known| known == var)?;
        values.get(at).copied()
    }

    fn named(&self, values: &[i128]) -> Values {
        let open = values.iter().skip(self.sizes.len());
        self.open().zip(open).map(|(var, value)| (var.name().to_string(), *value)).collect()
    }
}

/// The sizes, and the parameters that have values of their own.
fn with_defaults(def: &Def, sizes: &Values, bounds: &Bounds) -> Values {
    let mut known = sizes.clone();
    for parameter in &def.parameters {
        let name = parameter.var.name();
        let value = |v: &Var| known.get(v.name()).copied();
        let default = parameter.default.as_ref().and_then(|d| d.eval(&value).ok());
        if let (Some(default), false) = (default, bounds.named.contains_key(name)) {
            known.entry(name.to_string()).or_insert(default);
        }
    }
    known
}

/// The work-items of a group by dimension: the most frequent length of a `mapLcl` in each, the longest where two
/// are equally frequent. `None` without a `mapLcl`, or where a length is not known.
pub fn local_counts(def: &Def, values: &Values) -> Option<Vec<i128>> {
    counts(&local_lengths(&def.body), &|v| values.get(v.name()).copied())
}

fn counts(lengths: &[(u8, Nat)], value: &dyn Fn(&Var) -> Option<i128>) -> Option<Vec<i128>> {
    let mut found: BTreeMap<u8, BTreeMap<i128, usize>> = BTreeMap::new();
    for (dimension, length) in lengths {
        let length = length.eval(&value).ok()?;
        *found.entry(*dimension).or_default().entry(length).or_default() += 1;
    }
    let dimensions = found.keys().next_back().map(|d| *d + 1)?;
    let most = |d: u8| {
        let of = found.get(&d)?;
        of.iter().max_by_key(|(length, count)| (**count, **length)).map(|(length, _)| *length)
    };
    Some((0..dimensions).map(|d| most(d).unwrap_or(1)).collect())
}

/// The `mapLcl`s with their dimensions.
fn local_lengths(body: &Expr) -> Vec<(u8, Nat)> {
    let local = |expr: &Expr| match map_of(expr) {
        Some((MapKind::Lcl(dimension), length)) => Some((dimension, length.clone())),
        _ => None,
    };
    body.places().into_iter().filter_map(|(_, expr)| local(expr)).collect()
}

/// The lengths of maps that are written out, each with those it stands in: a piece of code is written out as often
/// as the product says.
fn written_out(expr: &Expr) -> Vec<Vec<Nat>> {
    let mut inner: Vec<Vec<Nat>> = expr.children().into_iter().flat_map(written_out).collect();
    if let Some((MapKind::SeqUnroll, length)) = map_of(expr) {
        inner.iter_mut().for_each(|chain| chain.push(length.clone()));
        if inner.is_empty() {
            inner.push(vec![length.clone()]);
        }
    }
    inner
}

/// The kind of a map and how many elements it goes through.
fn map_of(expr: &Expr) -> Option<(MapKind, &Nat)> {
    let Kind::Call(Call { prim: Prim::Map(kind), args, .. }) = expr.kind() else { return None };
    let (_, length) = args.first()?.ty().as_array()?;
    Some((*kind, length))
}
