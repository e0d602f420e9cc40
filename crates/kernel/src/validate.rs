//! Checks what every printer takes for granted.
//!
//! Names:
//! - the kernel's is an identifier in every target language;
//! - a variable or index variable is bound once;
//! - variables, index variables and buffers are declared before they are used, in a scope around
//!   the use.
//!
//! Buffers:
//! - arguments are global, `locals` local, `privates` private; ids differ; the alignment is a power
//!   of two and at least the scalar's size; sizes alone make up a length;
//! - only private buffers have `items`, and an access gives one position for each; where work-items are
//!   threads there are none; every buffer has a stage at least;
//! - an access is 1, 2, 3, 4, 8 or 16 scalars wide; nothing is stored to what is only read, nor
//!   loaded from what is only written.
//!
//! Types: see `types`.
//!
//! Loops:
//! - dimensions are 0, 1 and 2;
//! - loops over groups, or loops over global work-items, stand outermost, and a kernel has not both;
//! - loops over local work-items stand inside loops over groups;
//! - loops of one kind and dimension do not nest;
//! - a loop that threads of a processor share runs over groups or global work-items and stands in no other such, with
//!   the loops right inside that it says are shared with it, whose lengths do not depend on it;
//! - a register is assigned by who holds it: unless work-items are threads, no parallel loop stands
//!   between its declaration and an assignment.
//!
//! Barriers are reached by all work-items of a group or none: they stand outside loops over
//! local or global work-items, and in branches only on what is the same for the whole group (see `uniform`).
//!
//! What is changed as one step: see `atomics`.
//!
//! Shuffles are reached by all work-items of a warp together: see `shuffles`.

mod atomics;
mod shuffles;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use lift_ir::{Nat, Pred, Scalar, Space, Var};

use crate::names::is_identifier;
use crate::walk::only_loop;
use crate::{
    Access, Arg, Buffer, BufferId, Expr, Kernel, Loop, LoopKind, Mark, Runs, Stmt, Uniform, Usage,
    ValueType, Variable,
};

/// A kernel that keeps the rules above; [`validate`] is the only way to one.
#[derive(Clone, Copy, Debug)]
pub struct Valid<'k>(&'k Kernel);

impl<'k> Valid<'k> {
    pub fn kernel(&self) -> &'k Kernel {
        self.0
    }
}

/// All rules that a kernel breaks, or the proof that there are none.
pub fn validate(kernel: &Kernel) -> Result<Valid<'_>, Vec<String>> {
    let mut check = Check::new(kernel);
    check.kernel();
    if check.errors.is_empty() { Ok(Valid(kernel)) } else { Err(check.errors) }
}

pub(super) struct Check<'k> {
    kernel: &'k Kernel,
    errors: Vec<String>,
    /// Every variable and index variable so far, in scope or not.
    bound: BTreeSet<Var>,
    externs: BTreeMap<String, &'k lift_ir::Extern>,
    buffers: BTreeMap<BufferId, (&'k Buffer, Usage)>,
    /// Variables in scope, with the number of parallel loops around the declaration.
    registers: BTreeMap<&'k Var, (ValueType, usize)>,
    /// The variables declared in scopes that are open.
    declared: Vec<&'k Var>,
    indices: BTreeSet<Var>,
    /// The loops around the place.
    loops: Vec<LoopKind>,
    uniform: Uniform,
    /// Inside a branch that work-items of a group may take differently.
    divergent: bool,
    /// Inside a branch or a loop that work-items of a warp may take differently.
    parts_warps: bool,
    /// The numbers of threads.
    threads: BTreeMap<&'k Var, LoopKind>,
    /// The loop whose body the place is directly in, if it may be stopped there, and whether it holds barriers.
    stoppable: Option<bool>,
}

impl<'k> Check<'k> {
    fn new(kernel: &'k Kernel) -> Check<'k> {
        Check {
            kernel,
            errors: Vec::new(),
            bound: BTreeSet::new(),
            externs: BTreeMap::new(),
            buffers: BTreeMap::new(),
            registers: BTreeMap::new(),
            declared: Vec::new(),
            indices: BTreeSet::new(),
            loops: Vec::new(),
            uniform: Uniform::of(kernel),
            divergent: false,
            parts_warps: false,
            threads: BTreeMap::new(),
            stoppable: None,
        }
    }

    fn error(&mut self, text: String) {
        self.errors.push(text);
    }

    fn kernel(&mut self) {
        let kernel = self.kernel;
        if !is_identifier(&kernel.name) {
            self.error(format!("`{}` is not a name that every target language takes", kernel.name));
        }
        for arg in &kernel.args {
            match arg {
                Arg::Size(var) => self.index(var),
                Arg::Scalar(var) => self.register(var),
                Arg::Buffer(..) => {}
            }
        }
        for arg in &kernel.args {
            if let Arg::Buffer(buffer, usage) = arg {
                self.buffer(buffer, Space::Global, *usage);
            }
        }
        for buffer in &kernel.locals {
            self.buffer(buffer, Space::Local, Usage::ReadWrite);
        }
        for buffer in &kernel.privates {
            self.buffer(buffer, Space::Private, Usage::ReadWrite);
        }
        if kernel.launch.global.len() > 3 || kernel.launch.local.len() > 3 {
            self.error("a launch has at most three dimensions".to_owned());
        }
        self.stmts(&kernel.body);
    }

    fn bound(&mut self, var: &Var) {
        if !self.bound.insert(var.clone()) {
            self.error(format!("`{var}` is bound twice"));
        }
    }

    fn index(&mut self, var: &Var) {
        self.bound(var);
        self.indices.insert(var.clone());
    }

    fn register(&mut self, var: &'k Variable) {
        self.bound(&var.id);
        if !is_width(var.ty.width) {
            self.error(format!("`{}` is a vector of {}", var.id, var.ty.width));
        }
        self.registers.insert(&var.id, (var.ty, self.parallel_depth()));
        self.declared.push(&var.id);
    }

    fn buffer(&mut self, buffer: &'k Buffer, space: Space, usage: Usage) {
        let name = &buffer.name;
        if buffer.space != space {
            self.error(format!("`{name}` is declared as {space:?}, but is {:?}", buffer.space));
        }
        if !buffer.align.is_power_of_two() || (buffer.align as usize) < buffer.scalar.bytes() {
            self.error(format!("`{name}` cannot be aligned to {} bytes", buffer.align));
        }
        if buffer.stages == 0 {
            self.error(format!("`{name}` has no stage"));
        }
        if !buffer.items.is_empty() && self.kernel.runs == Runs::Threads {
            self.error(format!("`{name}` has a slot for each work-item, which is a thread"));
        }
        if !buffer.items.is_empty() && space != Space::Private {
            self.error(format!("`{name}` is not private, but held by work-items"));
        }
        // The host allocates what is global: the kernel need not know how long it is.
        if buffer.space != Space::Global {
            self.nat(&buffer.length);
        }
        for length in &buffer.items {
            self.nat(length);
        }
        if self.buffers.insert(buffer.id, (buffer, usage)).is_some() {
            self.error(format!("`{name}` has the id of another buffer"));
        }
    }

    fn parallel_depth(&self) -> usize {
        let parallel = |kind: &&LoopKind| match kind {
            LoopKind::Global(_) | LoopKind::Group(_) | LoopKind::Local(_) => true,
            LoopKind::Seq | LoopKind::Unroll => false,
        };
        self.loops.iter().filter(parallel).count()
    }

    /// Whether iterations of a parallel loop would share a register declared at a depth; threads have each
    /// their own.
    fn is_shared(&self, depth: usize) -> bool {
        self.kernel.runs == Runs::Loops && depth != self.parallel_depth()
    }

    /// Statements, and the end of the scope they declare things in.
    fn stmts(&mut self, stmts: &'k [Stmt]) {
        let (declared, indices) = (self.declared.len(), self.indices.clone());
        for stmt in stmts {
            self.stmt(stmt);
        }
        for var in self.declared.drain(declared..) {
            self.registers.remove(var);
        }
        self.indices = indices;
    }

    fn stmt(&mut self, stmt: &'k Stmt) {
        match stmt {
            Stmt::Comment(_) => {}
            Stmt::Declare { var, value: Some(Expr::Shuffle(bit, value)) } => {
                self.value(value, var.ty, &var.id.to_string());
                self.shuffle(*bit, var.ty);
                self.register(var);
            }
            Stmt::Declare { var, value } => {
                if let Some(value) = value {
                    self.value(value, var.ty, &var.id.to_string());
                }
                self.register(var);
            }
            Stmt::Assign { var, value } => {
                self.value(value, var.ty, &var.id.to_string());
                self.assigned(var);
            }
            Stmt::Index { var, value } => {
                let ty = self.expr(value);
                if !ty.scalar.is_integer() || ty.width != 1 {
                    self.error(format!("the index `{var}` is no integer"));
                }
                self.index(var);
            }
            // How far it goes is known, not computed: its sizes need not be arguments.
            Stmt::ThreadId { var, kind, extent: _ } => {
                if self.kernel.runs == Runs::Loops
                    || matches!(kind, LoopKind::Seq | LoopKind::Unroll)
                {
                    self.error(format!("`{var}` is the number of no thread"));
                }
                self.index(var);
                self.threads.insert(var, *kind);
            }
            Stmt::Store { access, value } => self.store(access, value),
            Stmt::Atomic { op, access, value } => self.atomic(*op, access, value),
            Stmt::Loop(l) => self.a_loop(l),
            Stmt::If { condition, then, otherwise } => {
                self.value(condition, ValueType::scalar(Scalar::Bool), "a condition");
                let (divergent, stoppable) = (self.divergent, self.stoppable.take());
                let parts_warps = self.parts_warps;
                let is_uniform = self.uniform.is_uniform(condition);
                self.divergent |= !is_uniform;
                self.parts_warps |= !is_uniform && !self.is_of_whole_warps(condition);
                self.stmts(then);
                self.stmts(otherwise);
                (self.divergent, self.stoppable) = (divergent, stoppable);
                self.parts_warps = parts_warps;
            }
            Stmt::Barrier(_) => self.barrier(),
            Stmt::Stop(condition) => {
                self.value(condition, ValueType::scalar(Scalar::Bool), "a condition");
                match self.stoppable {
                    None => self.error("a loop is stopped from where none is around".to_owned()),
                    Some(true) if self.divergent || !self.uniform.is_uniform(condition) => self
                        .error(
                            "a loop with barriers is stopped by some work-items only".to_owned(),
                        ),
                    Some(_) => {}
                }
            }
        }
    }

    /// An expression that has to have a type.
    fn value(&mut self, value: &'k Expr, ty: ValueType, of: &str) {
        let found = self.expr(value);
        if found != ty {
            self.error(format!("{of} is {}, and its value {}", show(ty), show(found)));
        }
    }

    fn assigned(&mut self, var: &Variable) {
        match self.registers.get(&var.id) {
            None => self.error(format!("`{}` is assigned where it is not declared", var.id)),
            Some((ty, _)) if *ty != var.ty => {
                self.error(format!("`{}` is {}, not {}", var.id, show(*ty), show(var.ty)));
            }
            Some((_, depth)) if self.is_shared(*depth) => self.error(format!(
                "`{}` is assigned in a parallel loop that it is declared outside of",
                var.id
            )),
            Some(_) => {}
        }
    }

    fn store(&mut self, access: &'k Access, value: &'k Expr) {
        let found = self.expr(value);
        let Some((buffer, usage)) = self.access(access) else { return };
        if usage == Usage::Read {
            self.error(format!("`{}` is only read, and stored to", buffer.name));
        }
        let wanted = ValueType::vector(buffer.scalar, access.width);
        if found != wanted {
            let (name, found, wanted) = (&buffer.name, show(found), show(wanted));
            self.error(format!("`{name}` takes {wanted}, and {found} is stored to it"));
        }
    }

    fn access(&mut self, access: &'k Access) -> Option<(&'k Buffer, Usage)> {
        self.nat(&access.index);
        self.nat(&access.stage);
        for item in &access.items {
            self.nat(item);
        }
        let Some((buffer, usage)) = self.buffers.get(&access.buffer).copied() else {
            self.error(format!("there is no buffer {}", access.buffer.0));
            return None;
        };
        if !is_width(access.width) {
            self.error(format!("an access to `{}` is {} wide", buffer.name, access.width));
        }
        if access.aligned && !buffer.has_aligned_stages(access.width, &self.kernel.facts) {
            self.error(format!("the stages of `{}` do not begin aligned", buffer.name));
        }
        if access.items.len() != buffer.items.len() {
            self.error(format!(
                "`{}` is held in {} loops over work-items, and an access names {}",
                buffer.name,
                buffer.items.len(),
                access.items.len()
            ));
        }
        Some((buffer, usage))
    }

    fn a_loop(&mut self, l: &'k Loop) {
        self.nat(&l.extent);
        self.placed(l);
        self.shared(l);
        self.by_threads_of_a_device(l);
        let indices = self.indices.clone();
        self.index(&l.var);
        self.loops.push(l.kind);
        let mut waits = false;
        let holds = |s: &Stmt| matches!(s, Stmt::Barrier(_));
        l.body.iter().for_each(|stmt| stmt.each(&mut |s| waits |= holds(s)));
        let stoppable = (l.kind == LoopKind::Seq).then_some(waits);
        let around = std::mem::replace(&mut self.stoppable, stoppable);
        let parts_warps = self.parts_warps;
        self.parts_warps |= !self.is_by_whole_warps(l);
        self.stmts(&l.body);
        self.parts_warps = parts_warps;
        self.stoppable = around;
        self.loops.pop();
        self.indices = indices;
    }

    fn shared(&mut self, l: &Loop) {
        let Mark::Shared { inside, .. } = l.mark else { return };
        let parallel = |l: &Loop| matches!(l.kind, LoopKind::Global(_) | LoopKind::Group(_));
        let (mut nest, mut body) = (vec![l], &l.body);
        while nest.len() <= usize::from(inside)
            && let Some(inner) = only_loop(body)
            && nest.iter().all(|outer| !inner.extent.mentions(&outer.var))
        {
            nest.push(inner);
            body = &inner.body;
        }
        let mut again = false;
        l.body.iter().for_each(|stmt| {
            stmt.each(&mut |s| {
                again |= matches!(s, Stmt::Loop(l) if matches!(l.mark, Mark::Shared { .. }));
            });
        });
        let complete = nest.len() == usize::from(inside) + 1 && nest.iter().all(|l| parallel(l));
        if again || !complete {
            let var = &l.var;
            self.error(format!(
                "the loop over `{var}` is not one that threads can share as it says"
            ));
        }
    }

    fn placed(&mut self, l: &Loop) {
        use LoopKind::{Global, Group, Local, Seq, Unroll};
        let var = &l.var;
        let inside = |found: fn(&LoopKind) -> bool| self.loops.iter().any(found);
        let error = match l.kind {
            Seq | Unroll => None,
            // Threads are counted in three dimensions, loops of a processor are nested deeper.
            Global(d) if d > if self.kernel.runs == Runs::Loops { 5 } else { 2 } => {
                Some(format!("the loop over `{var}` has dimension {d}"))
            }
            Group(d) | Local(d) if d > 2 => {
                Some(format!("the loop over `{var}` has dimension {d}"))
            }
            Global(_) | Group(_) | Local(_) if self.loops.contains(&l.kind) => {
                Some(format!("the loop over `{var}` is inside another of its kind and dimension"))
            }
            Global(_) if !inside(|k| !matches!(k, Global(_))) => self.not_both(l.kind),
            Group(_) if !inside(|k| !matches!(k, Group(_))) => self.not_both(l.kind),
            Global(_) | Group(_) => Some(format!("the loop over `{var}` is not outermost")),
            // Where work-items are threads, loops over groups may have become their places.
            Local(_) if self.kernel.runs == Runs::Threads => None,
            Local(_) if !inside(|k| matches!(k, Group(_))) => {
                Some(format!("the loop over `{var}` is over work-items of no group"))
            }
            Local(_) => None,
        };
        if let Some(error) = error {
            self.error(error);
        }
    }

    fn not_both(&self, kind: LoopKind) -> Option<String> {
        let both = match kind {
            LoopKind::Global(_) => has(&self.kernel.body, |k| matches!(k, LoopKind::Group(_))),
            LoopKind::Group(_) => has(&self.kernel.body, |k| matches!(k, LoopKind::Global(_))),
            LoopKind::Local(_) | LoopKind::Seq | LoopKind::Unroll => false,
        };
        both.then(|| "a kernel has loops over groups and over global work-items".to_owned())
    }

    fn barrier(&mut self) {
        if self.loops.iter().any(|k| matches!(k, LoopKind::Local(_))) {
            self.error("a barrier is inside a loop over work-items of a group".to_owned());
        }
        if self.loops.iter().any(|k| matches!(k, LoopKind::Global(_))) {
            self.error("a barrier is inside a loop over global work-items".to_owned());
        }
        if self.divergent {
            self.error("a barrier is in a branch that not all work-items take".to_owned());
        }
    }

    pub(super) fn nat(&mut self, nat: &Nat) {
        let mut known = true;
        nat.each_var(&mut |v| known &= self.indices.contains(v));
        if known {
            return;
        }
        for var in nat.vars() {
            self.used(&var);
        }
    }

    pub(super) fn pred(&mut self, pred: &Pred) {
        for var in pred.vars() {
            self.used(&var);
        }
    }

    fn used(&mut self, var: &Var) {
        if !self.indices.contains(var) {
            self.error(format!("`{var}` is used in an index where it is not declared"));
        }
    }
}

fn has(stmts: &[Stmt], wanted: fn(&LoopKind) -> bool) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::Loop(l) => wanted(&l.kind) || has(&l.body, wanted),
        Stmt::If { then, otherwise, .. } => has(then, wanted) || has(otherwise, wanted),
        Stmt::Comment(_)
        | Stmt::Declare { .. }
        | Stmt::Assign { .. }
        | Stmt::Index { .. }
        | Stmt::ThreadId { .. }
        | Stmt::Store { .. }
        | Stmt::Atomic { .. }
        | Stmt::Stop(_)
        | Stmt::Barrier(_) => false,
    })
}

fn is_width(width: u32) -> bool {
    matches!(width, 1 | 2 | 3 | 4 | 8 | 16)
}

fn show(ty: ValueType) -> String {
    match ty.width {
        1 => ty.scalar.to_string(),
        width => format!("{}x{width}", ty.scalar),
    }
}
