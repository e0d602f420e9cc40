//! Private arrays are variables.
//!
//! Before: `float acc[4]; acc[0] = 0; … acc[3] = acc[3] + x;` with constant indices only.
//! After: `float acc_0 = 0; … acc_3 = acc_3 + x;`
//!
//! An array that is indexed by what is not constant stays an array.

use std::collections::{BTreeMap, BTreeSet};

use lift_ir::Nat;
use lift_kernel::{Access, Buffer, BufferId, Edit, Expr, Kernel, Names, Stmt, ValueType, Variable};

/// Larger arrays are in no register.
const MAX_VARIABLES: i128 = 512;

pub(crate) fn run(kernel: &mut Kernel) {
    let mut arrays: BTreeMap<BufferId, Array> = kernel
        .privates
        .iter()
        .filter(|b| b.length.as_int().is_some_and(|n| n <= MAX_VARIABLES))
        .filter(|b| b.stages == 1 && b.items.is_empty())
        .map(|b| (b.id, Array::of(b)))
        .collect();
    for stmt in &kernel.body {
        stmt.each_access(&mut |access, _| seen(&mut arrays, access));
    }
    arrays.retain(|_, array| array.is_constant);
    if arrays.is_empty() {
        return;
    }
    let mut names = Names::of(kernel);
    for array in arrays.values_mut() {
        array.name(&mut names);
    }
    kernel.privates.retain(|b| !arrays.contains_key(&b.id));
    let mut pass = Pass { arrays: &arrays };
    let body = pass.block(&kernel.body);
    kernel.body = declared(body, arrays.values().flat_map(|a| a.variables.values()).collect());
}

/// A private array and the variables it becomes: as wide as its accesses, where these agree.
struct Array {
    buffer: Buffer,
    is_constant: bool,
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
            width: None,
            used: BTreeSet::new(),
            variables: BTreeMap::new(),
        }
    }

    fn name(&mut self, names: &mut Names) {
        let width = self.width.unwrap_or(1);
        let ty = ValueType::vector(self.buffer.scalar, width);
        let all: BTreeSet<i128> = self.used.iter().map(|i| i / i128::from(width)).collect();
        let single = self.buffer.length == Nat::int(i128::from(width));
        for i in all {
            let base = &self.buffer.name;
            let wanted = if single { base.clone() } else { format!("{base}_{i}") };
            // The array's own name is free now.
            let name = if single { wanted } else { names.fresh(&wanted) };
            self.variables.insert(i * i128::from(width), Variable { name, ty });
        }
    }

    /// The variables an access is made of.
    fn parts(&self, access: &Access) -> Vec<Variable> {
        let start = access.index.as_int().unwrap_or(0);
        let step = i128::from(self.width.unwrap_or(1));
        (0..i128::from(access.width) / step)
            .filter_map(|k| self.variables.get(&(start + k * step)).cloned())
            .collect()
    }
}

fn seen(arrays: &mut BTreeMap<BufferId, Array>, access: &Access) {
    let Some(array) = arrays.get_mut(&access.buffer) else { return };
    let width = i128::from(access.width);
    let length = array.buffer.length.as_int().unwrap_or(0);
    match access.index.as_int().filter(|i| *i >= 0 && i + width <= length) {
        Some(index) => {
            array.used.extend(index..index + width);
            let agrees = index % width == 0 && array.width.is_none_or(|w| w == access.width);
            array.width = Some(if agrees { access.width } else { 1 });
        }
        None => array.is_constant = false,
    }
}

struct Pass<'a> {
    arrays: &'a BTreeMap<BufferId, Array>,
}

impl Edit for Pass<'_> {
    fn expr(&mut self, expr: &Expr) -> Expr {
        let Expr::Load(access, ty) = expr else { return self.expr_parts(expr) };
        let Some(array) = self.arrays.get(&access.buffer) else { return expr.clone() };
        let parts = array.parts(access);
        match parts.as_slice() {
            [one] if one.ty == *ty => Expr::Var(one.clone()),
            _ => Expr::Vector(ty.scalar, parts.into_iter().map(Expr::Var).collect()),
        }
    }

    fn stmt(&mut self, stmt: &Stmt, made: &mut Vec<Stmt>) {
        let array = match stmt {
            Stmt::Store { access, .. } => self.arrays.get(&access.buffer).map(|a| (a, access)),
            _ => None,
        };
        let (Some((array, access)), Stmt::Store { value, .. }) = (array, stmt) else {
            let done = self.stmt_parts(stmt);
            made.push(done);
            return;
        };
        let value = self.expr(value);
        let parts = array.parts(access);
        match parts.as_slice() {
            [one] if one.ty == value.ty() => made.push(Stmt::Assign { var: one.clone(), value }),
            _ => made.extend(parts.into_iter().enumerate().map(|(lane, var)| Stmt::Assign {
                var,
                value: Expr::Lane(Box::new(value.clone()), lane as u32),
            })),
        }
    }
}

/// Declares variables in the innermost block that holds all their uses, before the first of them.
fn declared(block: Vec<Stmt>, variables: Vec<&Variable>) -> Vec<Stmt> {
    let uses: Vec<Uses> = block.iter().map(Uses::of).collect();
    placed(block, &uses, variables)
}

fn placed(block: Vec<Stmt>, uses: &[Uses], variables: Vec<&Variable>) -> Vec<Stmt> {
    let mut inside: BTreeMap<usize, Vec<&Variable>> = BTreeMap::new();
    let mut before: BTreeMap<usize, Vec<&Variable>> = BTreeMap::new();
    for var in variables {
        let mut at = (0..block.len()).filter(|i| uses[*i].all.contains(&var.name));
        match (at.next(), at.next()) {
            (None, _) => {}
            (Some(only), None) if holds(&block[only], &uses[only], var) => {
                inside.entry(only).or_default().push(var);
            }
            (Some(first), _) => before.entry(first).or_default().push(var),
        }
    }
    let mut made = Vec::new();
    for (i, (mut stmt, uses)) in block.into_iter().zip(uses).enumerate() {
        let mut initialised = false;
        for var in before.remove(&i).unwrap_or_default() {
            let declaration = declaration(&stmt, uses, var);
            initialised |= matches!(declaration, Stmt::Declare { value: Some(_), .. });
            made.push(declaration);
        }
        if let Some(own) = inside.remove(&i) {
            for (inner, uses) in stmt.blocks_mut().into_iter().zip(&uses.blocks) {
                *inner = placed(std::mem::take(inner), uses, own.clone());
            }
        }
        if !initialised {
            made.push(stmt);
        }
    }
    made
}

/// Whether all uses in a statement are in one of its blocks, run anew each time around.
fn holds(stmt: &Stmt, uses: &Uses, var: &Variable) -> bool {
    let blocks = stmt.blocks();
    let mut using = blocks
        .iter()
        .zip(&uses.blocks)
        .filter(|(_, inner)| inner.iter().any(|u| u.all.contains(&var.name)));
    match (using.next(), using.next()) {
        (Some((block, inner)), None) => {
            !uses.read.contains(&var.name) && written_first(block, inner, var)
        }
        _ => false,
    }
}

/// Whether a block gives a variable a value before it reads it, so that nothing is carried around.
fn written_first(block: &[Stmt], uses: &[Uses], var: &Variable) -> bool {
    for (stmt, uses) in block.iter().zip(uses) {
        if !uses.all.contains(&var.name) {
            continue;
        }
        return match stmt {
            Stmt::Assign { var: to, .. } => to == var && !uses.read.contains(&var.name),
            Stmt::Loop(_) | Stmt::If { .. } => holds(stmt, uses, var),
            _ => false,
        };
    }
    true
}

fn declaration(next: &Stmt, uses: &Uses, var: &Variable) -> Stmt {
    match next {
        Stmt::Assign { var: to, value } if to == var && !uses.read.contains(&var.name) => {
            Stmt::Declare { var: var.clone(), value: Some(value.clone()) }
        }
        _ => Stmt::Declare { var: var.clone(), value: None },
    }
}

/// The variables that a statement uses.
struct Uses {
    /// Read by the statement itself.
    read: BTreeSet<String>,
    /// Read or written by it or by statements inside.
    all: BTreeSet<String>,
    /// Of the statements inside, block by block.
    blocks: Vec<Vec<Uses>>,
}

impl Uses {
    fn of(stmt: &Stmt) -> Uses {
        let mut read = BTreeSet::new();
        for value in stmt.values() {
            value.each(&mut |e| {
                if let Expr::Var(var) = e {
                    read.insert(var.name.clone());
                }
            });
        }
        let mut all = read.clone();
        if let Stmt::Assign { var, .. } | Stmt::Declare { var, .. } = stmt {
            all.insert(var.name.clone());
        }
        let blocks: Vec<Vec<Uses>> =
            stmt.blocks().into_iter().map(|block| block.iter().map(Uses::of).collect()).collect();
        all.extend(blocks.iter().flatten().flat_map(|u| u.all.iter().cloned()));
        Uses { read, all, blocks }
    }
}
