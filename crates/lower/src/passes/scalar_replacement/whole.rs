//! Private arrays with constant addresses are variables.
//!
//! Before: `float acc[4]; acc[0] = 0; … acc[3] = acc[3] + x;`
//! After: `float acc_0 = 0; … acc_3 = acc_3 + x;`

use std::collections::{BTreeMap, BTreeSet};

use lift_ir::{Nat, QuickMap, Var};
use lift_kernel::{
    Access, Buffer, BufferId, Expr, Ids, Kernel, Loop, LoopKind, Runs, Stmt, ValueType, Variable,
};

use crate::effects::{Touch, touches};

/// Larger arrays are in no register.
const MAX_VARIABLES: i128 = 512;

pub(super) fn run(kernel: &mut Kernel) {
    let mut arrays: BTreeMap<BufferId, Array> = kernel
        .privates
        .iter()
        .filter(|b| b.length.as_int().is_some_and(|n| n <= MAX_VARIABLES))
        .filter(|b| b.stages == 1 && b.items.is_empty())
        .map(|b| (b.id, Array::of(b)))
        .collect();
    for touch in touches(&kernel.body) {
        if let Some(array) = arrays.get_mut(&touch.access.buffer) {
            array.seen(&touch, kernel.runs);
        }
    }
    arrays.retain(|_, array| array.is_constant && array.is_in_one_loop);
    if arrays.is_empty() {
        return;
    }
    for array in arrays.values_mut() {
        array.become_variables(&kernel.ids);
    }
    kernel.privates.retain(|b| !arrays.contains_key(&b.id));
    let body = Pass { arrays: &arrays, ids: &kernel.ids }.block(std::mem::take(&mut kernel.body));
    kernel.body = declared(body, arrays.values().flat_map(|a| a.variables.values()).collect());
}

/// A private array and the variables it becomes: as wide as its accesses, where these agree.
struct Array {
    buffer: Buffer,
    is_constant: bool,
    /// Whether the same parallel loops are around all accesses. Where these are loops, each has variables of its own.
    is_in_one_loop: bool,
    around: Option<Vec<Var>>,
    /// The width of all accesses, 1 where they differ.
    width: Option<u32>,
    used: BTreeSet<i128>,
    variables: BTreeMap<i128, Variable>,
}

impl Array {
    fn of(buffer: &Buffer) -> Array {
        Array {
            buffer: buffer.clone(),
            is_constant: true,
            is_in_one_loop: true,
            around: None,
            width: None,
            used: BTreeSet::new(),
            variables: BTreeMap::new(),
        }
    }

    fn seen(&mut self, touch: &Touch, runs: Runs) {
        if runs == Runs::Loops {
            let parallel = |l: &&&Loop| !matches!(l.kind, LoopKind::Seq | LoopKind::Unroll);
            let around = touch.loops.iter().filter(parallel).map(|l| l.var.clone());
            let around = around.collect::<Vec<_>>();
            self.is_in_one_loop &= *self.around.get_or_insert_with(|| around.clone()) == around;
        }
        let width = i128::from(touch.access.width);
        let length = self.buffer.length.as_int().unwrap_or(0);
        let index = touch.access.index.as_int().filter(|i| *i >= 0 && i + width <= length);
        let Some(index) = index else {
            self.is_constant = false;
            return;
        };
        self.used.extend(index..index + width);
        let agrees = index % width == 0 && self.width.is_none_or(|w| w == touch.access.width);
        self.width = Some(if agrees { touch.access.width } else { 1 });
    }

    fn become_variables(&mut self, ids: &Ids) {
        let width = self.width.unwrap_or(1);
        let ty = ValueType::vector(self.buffer.scalar, width);
        let all: BTreeSet<i128> = self.used.iter().map(|i| i / i128::from(width)).collect();
        let single = self.buffer.length == Nat::int(i128::from(width));
        for i in all {
            let base = &self.buffer.name;
            let id = if single { ids.fresh(base) } else { ids.fresh(&format!("{base}_{i}")) };
            self.variables.insert(i * i128::from(width), Variable { id, ty });
        }
    }

    /// The variables an access is made of.
    fn parts(&self, access: &Access) -> Vec<&Variable> {
        let start = access.index.as_int().unwrap_or(0);
        let step = i128::from(self.width.unwrap_or(1));
        (0..i128::from(access.width) / step)
            .filter_map(|k| self.variables.get(&(start + k * step)))
            .collect()
    }
}

struct Pass<'a> {
    arrays: &'a BTreeMap<BufferId, Array>,
    ids: &'a Ids,
}

impl Pass<'_> {
    fn block(&self, block: Vec<Stmt>) -> Vec<Stmt> {
        let mut made = Vec::with_capacity(block.len());
        block.into_iter().for_each(|stmt| self.stmt(stmt, &mut made));
        made
    }

    /// Loads become variables.
    fn expr(&self, expr: &mut Expr) {
        let Expr::Load(access, ty) = expr else {
            return expr.parts_mut().into_iter().for_each(|part| self.expr(part));
        };
        let Some(array) = self.arrays.get(&access.buffer) else { return };
        let parts = array.parts(access);
        *expr = match parts.as_slice() {
            [one] if one.ty == *ty => Expr::Var((*one).clone()),
            _ => Expr::Vector(ty.scalar, parts.into_iter().cloned().map(Expr::Var).collect()),
        };
    }

    /// Stores become assignments.
    fn stmt(&self, mut stmt: Stmt, made: &mut Vec<Stmt>) {
        stmt.values_mut().for_each(|value| self.expr(value));
        for inner in stmt.blocks_mut() {
            *inner = self.block(std::mem::take(inner));
        }
        let (array, access, value) = match stmt {
            Stmt::Store { access, value } => match self.arrays.get(&access.buffer) {
                Some(array) => (array, access, value),
                None => return made.push(Stmt::Store { access, value }),
            },
            other => return made.push(other),
        };
        let parts = array.parts(&access);
        if let [one] = parts.as_slice()
            && one.ty == value.ty()
        {
            return made.push(Stmt::Assign { var: (*one).clone(), value });
        }
        // The whole value is there before a part of it changes what it is made of.
        let whole = Variable { id: self.ids.fresh(&array.buffer.name), ty: value.ty() };
        made.push(Stmt::Declare { var: whole.clone(), value: Some(value) });
        made.extend(parts.into_iter().enumerate().map(|(lane, var)| Stmt::Assign {
            var: var.clone(),
            value: Expr::Lane(Box::new(Expr::Var(whole.clone())), lane as u32),
        }));
    }
}

/// Declares variables in the innermost block that holds all their uses, before the first of them.
fn declared(block: Vec<Stmt>, variables: Vec<&Variable>) -> Vec<Stmt> {
    let numbers: Numbers = variables.iter().enumerate().map(|(i, v)| (&v.id, i)).collect();
    let uses: Vec<Uses> = block.iter().map(|stmt| Uses::of(stmt, &numbers)).collect();
    placed(block, &uses, &variables.into_iter().enumerate().collect::<Vec<_>>())
}

/// Variables by number.
type Numbered<'v> = [(usize, &'v Variable)];

fn placed(block: Vec<Stmt>, uses: &[Uses], variables: &Numbered) -> Vec<Stmt> {
    let mut inside: BTreeMap<usize, Vec<(usize, &Variable)>> = BTreeMap::new();
    let mut before: BTreeMap<usize, Vec<(usize, &Variable)>> = BTreeMap::new();
    for (number, var) in variables {
        let mut at = (0..block.len()).filter(|i| uses[*i].all.contains(*number));
        match (at.next(), at.next()) {
            (None, _) => {}
            (Some(only), None) if holds(&block[only], &uses[only], *number, var) => {
                inside.entry(only).or_default().push((*number, var));
            }
            (Some(first), _) => before.entry(first).or_default().push((*number, var)),
        }
    }
    let mut made = Vec::with_capacity(block.len() + variables.len());
    for (i, (mut stmt, uses)) in block.into_iter().zip(uses).enumerate() {
        let mut initialised = false;
        for (number, var) in before.remove(&i).unwrap_or_default() {
            let declaration = declaration(&stmt, uses, number, var);
            initialised |= matches!(declaration, Stmt::Declare { value: Some(_), .. });
            made.push(declaration);
        }
        if let Some(own) = inside.remove(&i) {
            for (inner, uses) in stmt.blocks_mut().into_iter().zip(&uses.blocks) {
                *inner = placed(std::mem::take(inner), uses, &own);
            }
        }
        if !initialised {
            made.push(stmt);
        }
    }
    made
}

/// Whether all uses in a statement are in one of its blocks, run anew each time around. Each work-item has its own.
fn holds(stmt: &Stmt, uses: &Uses, number: usize, var: &Variable) -> bool {
    if matches!(stmt, Stmt::Loop(l) if !matches!(l.kind, LoopKind::Seq | LoopKind::Unroll)) {
        return true;
    }
    let blocks = stmt.blocks();
    let mut using = blocks
        .iter()
        .zip(&uses.blocks)
        .filter(|(_, inner)| inner.iter().any(|u| u.all.contains(number)));
    match (using.next(), using.next()) {
        (Some((block, inner)), None) => {
            !uses.read.contains(number) && written_first(block, inner, number, var)
        }
        _ => false,
    }
}

/// Whether a block gives a variable a value before it reads it, so that nothing is carried around.
fn written_first(block: &[Stmt], uses: &[Uses], number: usize, var: &Variable) -> bool {
    let first = block.iter().zip(uses).find(|(_, uses)| uses.all.contains(number));
    let Some((stmt, uses)) = first else { return true };
    match stmt {
        Stmt::Assign { var: to, .. } => to == var && !uses.read.contains(number),
        Stmt::Loop(_) | Stmt::If { .. } => holds(stmt, uses, number, var),
        _ => false,
    }
}

fn declaration(next: &Stmt, uses: &Uses, number: usize, var: &Variable) -> Stmt {
    match next {
        Stmt::Assign { var: to, value } if to == var && !uses.read.contains(number) => {
            Stmt::Declare { var: var.clone(), value: Some(value.clone()) }
        }
        _ => Stmt::Declare { var: var.clone(), value: None },
    }
}

/// The variables to be declared, by number.
type Numbers<'v> = QuickMap<&'v Var, usize>;

/// A set of numbers, a bit for each.
#[derive(Clone, Default)]
struct Set(Vec<u64>);

impl Set {
    fn insert(&mut self, number: usize) {
        let word = number / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (number % 64);
    }

    fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word & (1 << (number % 64)) != 0)
    }

    fn extend(&mut self, other: &Set) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine |= theirs);
    }
}

/// The variables that a statement uses, by number.
struct Uses {
    /// Read by the statement itself.
    read: Set,
    /// Read or written by it or by statements inside.
    all: Set,
    /// Of the statements inside, block by block.
    blocks: Vec<Vec<Uses>>,
}

impl Uses {
    fn of(stmt: &Stmt, numbers: &Numbers) -> Uses {
        let mut read = Set::default();
        for value in stmt.values() {
            value.each(&mut |e| {
                if let Expr::Var(var) = e
                    && let Some(number) = numbers.get(&var.id)
                {
                    read.insert(*number);
                }
            });
        }
        let mut all = read.clone();
        if let Stmt::Assign { var, .. } | Stmt::Declare { var, .. } = stmt
            && let Some(number) = numbers.get(&var.id)
        {
            all.insert(*number);
        }
        let inside = |block: &[Stmt]| block.iter().map(|s| Uses::of(s, numbers)).collect();
        let blocks: Vec<Vec<Uses>> = stmt.blocks().into_iter().map(inside).collect();
        blocks.iter().flatten().for_each(|inner| all.extend(&inner.all));
        Uses { read, all, blocks }
    }
}
