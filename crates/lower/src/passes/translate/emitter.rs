//! What a translation puts together: statements of kernels, buffers, steps of the host.
//!
//! The emitter evaluates no expression of the program: that is the [`Translator`](super::Translator)'s, which holds one. It
//! numbers variables and buffers, keeps what is known of indices where the next statement goes, and simplifies with it.
//! The kernel being filled is in [`open_kernel`](super::open_kernel).

use std::collections::BTreeMap;

use lift_ir::{Def, Facts, Nat, Pred, Range, Scalar, Span, Type, Var};
use lift_kernel::{Buffer, BufferId, Expr, Ids, Kernel, Stmt, ValueType, Variable};

use super::conditions::Reached;
use super::open_kernel::OpenKernel;
use super::view::Writer;
use crate::plan::{Check, Plan, PlanBuffer, Role, Step, Warps, Written};
use crate::{LowerError, Options};

pub(crate) struct Emitter {
    /// The program's name, which its kernels have.
    pub name: String,
    /// What is known where the next statement goes, of sizes and indices.
    pub facts: Facts,
    /// The same of values, and of lanes.
    pub reached: Reached,
    /// The sizes of the program, which hosts know by their names.
    pub sizes: Vec<Var>,
    pub ids: Ids,
    pub next_buffer: u32,
    pub buffers: Vec<PlanBuffer>,
    /// The arguments that are scalars.
    pub scalars: Vec<(usize, Variable)>,
    pub kernels: Vec<Kernel>,
    /// The steps being put together; more than one list inside loops of the host.
    steps: Vec<Vec<Step>>,
    /// The kernel being put together, if one is.
    pub open: Option<OpenKernel>,
    pub launches: Vec<lift_ir::Launch>,
    pub checks: Vec<Check>,
    pub written: Written,
    /// Where in the source stands what is being translated, and what made the arrays so far.
    pub here: Option<Span>,
    pub spans: BTreeMap<BufferId, Span>,
    pub warps: Warps,
    pub options: Options,
}

impl Emitter {
    pub(super) fn new(def: &Def, options: &Options) -> Emitter {
        Emitter {
            name: def.name.clone(),
            facts: def.facts(),
            reached: Reached::default(),
            ids: Ids::after(def.sizes.iter().map(Var::id).max().unwrap_or(0)),
            sizes: def.sizes.clone(),
            next_buffer: 0,
            buffers: Vec::new(),
            scalars: Vec::new(),
            kernels: Vec::new(),
            steps: vec![Vec::new()],
            open: None,
            launches: def.launches.clone(),
            checks: Vec::new(),
            written: Written::default(),
            here: None,
            spans: BTreeMap::new(),
            warps: Warps::default(),
            options: options.clone(),
        }
    }

    pub(super) fn finish(mut self) -> Plan {
        Plan {
            name: self.name,
            kernels: self.kernels,
            buffers: self.buffers,
            steps: self.steps.pop().unwrap_or_default(),
            scalars: self.scalars,
            checks: self.checks,
            requirements: Vec::new(),
            choices: Vec::new(),
            written: self.written,
            spans: self.spans,
            warps: self.warps,
            orders_open: false,
            batches: BTreeMap::new(),
        }
    }

    pub(super) fn simplify(&self, size: &Nat) -> Nat {
        self.facts.simplify(size)
    }

    /// As [`Emitter::simplify`], of an index rather than a length.
    pub(super) fn index(&self, index: &Nat) -> Nat {
        if self.options.simplify.accesses { self.simplify(index) } else { index.clone() }
    }

    /// What a layout makes of an index, below a length. Where indices are not simplified it has a name in the kernel, so
    /// that the next layout starts from it as it is.
    pub(super) fn composed(&mut self, index: Nat, length: &Nat) -> Nat {
        match self.options.simplify.accesses || !self.in_kernel() {
            true => index,
            false => self.named_index(index, length),
        }
    }

    /// The quotient of an index below a length and what remains, simplified.
    pub(super) fn divided(&mut self, index: &Nat, by: &Nat, length: &Nat) -> (Nat, Nat) {
        if !self.options.simplify.accesses {
            let index = self.composed(index.clone(), length);
            return (index.div(by), index.rem(by));
        }
        let quotient = self.index(&index.div(by));
        // The quotient is known by now and not looked for again.
        let rest = match by.as_int() {
            Some(0) => index.rem(by),
            _ => index - by * &quotient,
        };
        (quotient, self.index(&rest))
    }

    /// An index below a length as a variable of the kernel.
    pub(super) fn named_index(&mut self, index: Nat, length: &Nat) -> Nat {
        if index.as_int().is_some() || index.as_var().is_some() {
            return index;
        }
        let var = self.fresh_index("from", Range::below(length.clone()));
        self.emit(Stmt::Index { var: var.clone(), value: Expr::Index(index, Scalar::I64) });
        Nat::var(&var)
    }

    pub(super) fn divides(&self, divisor: &Nat, of: &Nat) -> bool {
        self.facts.divides(divisor, of)
    }

    pub(super) fn proves(&self, pred: &Pred) -> bool {
        self.facts.proves(pred)
    }

    pub(super) fn fresh_index(&mut self, wanted: &str, range: Range) -> Var {
        let var = self.ids.fresh(wanted);
        if let Some(kernel) = &mut self.open {
            kernel.facts.declare_inside(&var, range.clone());
        }
        self.facts.declare(&var, range);
        var
    }

    /// What holds of a variable of the kernel from here to the end of its block.
    pub(super) fn assume_of(&mut self, var: &Var, pred: &Pred) {
        if let Some(kernel) = &mut self.open {
            kernel.facts.assume_inside(var, pred.clone());
        }
        self.facts.assume(pred);
    }

    /// A size that the host gives values to. It knows sizes by how they are written, so no size of the program is
    /// written like it.
    pub(super) fn fresh_size(&mut self, wanted: &str, range: Range) -> Var {
        loop {
            let var = self.ids.fresh(wanted);
            let text = var.to_string();
            if self.sizes.iter().all(|size| size.to_string() != text) {
                self.facts.declare(&var, range);
                return var;
            }
        }
    }

    pub(super) fn fresh_variable(&mut self, wanted: &str, ty: ValueType) -> Variable {
        Variable { id: self.ids.fresh(wanted), ty }
    }

    /// The wanted name for a buffer of the host's, with a number where another has it.
    pub(super) fn buffer_name(&self, wanted: &str) -> String {
        let is_free = |name: &String| self.buffers.iter().all(|b| b.buffer.name != *name);
        let numbered = (2u32..).map(|n| format!("{wanted}_{n}"));
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        names.find(is_free).unwrap_or_else(|| wanted.to_owned())
    }

    pub(super) fn fresh_buffer(&mut self) -> BufferId {
        self.next_buffer += 1;
        BufferId(self.next_buffer - 1)
    }

    pub(super) fn output(&mut self, ty: &Type) -> Result<Writer, LowerError> {
        let storage = self.global("result", ty, |leaf| Role::Output { leaf })?;
        Ok(storage.writer())
    }

    pub(super) fn step(&mut self, step: Step) {
        if let Some(steps) = self.steps.last_mut() {
            steps.push(step);
        }
    }

    pub(super) fn buffer(&self, id: BufferId) -> Option<&Buffer> {
        let global = self.buffers.iter().map(|b| &b.buffer);
        let open = self.open.iter().flat_map(|k| k.locals.iter().chain(&k.privates));
        global.chain(open).find(|b| b.id == id)
    }

    /// From here on, steps of the host go into the body of a loop.
    pub(super) fn open_host_loop(&mut self, count: &Nat) -> OpenHostLoop {
        let outside = self.facts.clone();
        let counter = self.fresh_size("step", Range::below(count.clone()));
        self.steps.push(Vec::new());
        OpenHostLoop { count: count.clone(), counter, outside }
    }

    pub(super) fn close_host_loop(
        &mut self,
        open: OpenHostLoop,
        swap: Vec<(BufferId, BufferId)>,
        taken: Option<Var>,
    ) {
        let OpenHostLoop { count, counter, outside } = open;
        let body = self.steps.pop().unwrap_or_default();
        self.facts = outside;
        self.step(Step::Loop { count, counter, body, swap, taken });
    }
}

/// A loop of the host whose steps are being put together.
pub(super) struct OpenHostLoop {
    count: Nat,
    /// The number of the iteration, which its kernels are given.
    pub counter: Var,
    outside: Facts,
}
