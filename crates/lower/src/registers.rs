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
        stmt.each(&mut |s| {
            if let Stmt::Store { access, .. } = s {
                seen(&mut arrays, access);
            }
            s.values().into_iter().for_each(|v| loads(v, &mut |access| seen(&mut arrays, access)));
        });
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

fn loads(value: &Expr, visit: &mut dyn FnMut(&Access)) {
    value.each(&mut |e| {
        if let Expr::Load(access, _) = e {
            visit(access);
        }
    });
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
    let uses: Vec<BTreeSet<String>> = block.iter().map(mentioned).collect();
    let mut inside: BTreeMap<usize, Vec<&Variable>> = BTreeMap::new();
    let mut before: BTreeMap<usize, Vec<&Variable>> = BTreeMap::new();
    for var in variables {
        let mut at = (0..block.len()).filter(|i| uses[*i].contains(&var.name));
        match (at.next(), at.next()) {
            (None, _) => {}
            (Some(only), None) if holds(&block[only], var) => {
                inside.entry(only).or_default().push(var)
            }
            (Some(first), _) => before.entry(first).or_default().push(var),
        }
    }
    let mut made = Vec::new();
    for (i, mut stmt) in block.into_iter().enumerate() {
        let mut initialised = false;
        for var in before.remove(&i).unwrap_or_default() {
            let declaration = declaration(&stmt, var);
            initialised |= matches!(declaration, Stmt::Declare { value: Some(_), .. });
            made.push(declaration);
        }
        if let Some(own) = inside.remove(&i) {
            for inner in stmt.blocks_mut() {
                *inner = declared(std::mem::take(inner), own.clone());
            }
        }
        if !initialised {
            made.push(stmt);
        }
    }
    made
}

/// Whether all uses in a statement are in one of its blocks, run anew each time around.
fn holds(stmt: &Stmt, var: &Variable) -> bool {
    let own = stmt.values().into_iter().any(|v| names_in(v).contains(&var.name));
    let blocks = stmt.blocks();
    let using: Vec<&&[Stmt]> = blocks
        .iter()
        .filter(|block| block.iter().any(|s| mentioned(s).contains(&var.name)))
        .collect();
    !own && using.len() == 1 && using.iter().all(|block| written_first(block, var))
}

/// Whether a block gives a variable a value before it reads it, so that nothing is carried around.
fn written_first(block: &[Stmt], var: &Variable) -> bool {
    for stmt in block {
        if !mentioned(stmt).contains(&var.name) {
            continue;
        }
        return match stmt {
            Stmt::Assign { var: to, value } => to == var && !names_in(value).contains(&var.name),
            Stmt::Loop(_) | Stmt::If { .. } => holds(stmt, var),
            _ => false,
        };
    }
    true
}

fn declaration(next: &Stmt, var: &Variable) -> Stmt {
    match next {
        Stmt::Assign { var: to, value } if to == var && !names_in(value).contains(&var.name) => {
            Stmt::Declare { var: var.clone(), value: Some(value.clone()) }
        }
        _ => Stmt::Declare { var: var.clone(), value: None },
    }
}

fn names_in(value: &Expr) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    value.each(&mut |e| {
        if let Expr::Var(var) = e {
            names.insert(var.name.clone());
        }
    });
    names
}

/// The variables a statement and those inside read or write.
fn mentioned(stmt: &Stmt) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    stmt.each(&mut |s| {
        if let Stmt::Assign { var, .. } | Stmt::Declare { var, .. } = s {
            names.insert(var.name.clone());
        }
        s.values().into_iter().for_each(|v| names.extend(names_in(v)));
    });
    names
}
