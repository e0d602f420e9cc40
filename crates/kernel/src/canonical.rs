//! Kernels without the names their author or a pass chose, to see whether two are the same.
//!
//! Before: `for (l0 …) { float x = A[l0]; … }`
//! After: `for (i_1 …) { float v_1 = b_1[i_1]; … }`
//!
//! Names are numbered where they are bound, from the beginning of the kernel on, so two kernels that differ in
//! names alone become equal. What else is written for the reader, comments, counts.

use std::collections::BTreeMap;

use lift_ir::{Facts, Nat, Pred, Var};

use crate::{Access, Arg, Buffer, BufferId, Edit, Kernel, Launch, Variable};

/// Whether two kernels are the same but for the names in them, and for what is known about their sizes.
///
/// A kernel with its arguments in another order is another one.
pub fn same_up_to_names(a: &Kernel, b: &Kernel) -> bool {
    let b = canonical_names(b);
    let Kernel {
        name,
        args,
        locals,
        privates,
        body,
        launch,
        schedule,
        wide_indices,
        facts: _,
        runs,
        ids: _,
    } = canonical_names(a);
    name == b.name
        && args == b.args
        && locals == b.locals
        && privates == b.privates
        && body == b.body
        && launch == b.launch
        && schedule == b.schedule
        && wide_indices == b.wide_indices
        && runs == b.runs
}

/// The kernel with numbered names: `b_1`, `b_2` for buffers, `n_1` for sizes, `i_1` for indices and `v_1` for
/// variables. It is there to be compared and printed, not for passes: what was known of sizes is left out.
pub fn canonical_names(kernel: &Kernel) -> Kernel {
    let mut rename = Rename::default();
    // Lengths of buffers are made of sizes, which are passed after them.
    for arg in &kernel.args {
        if let Arg::Size(size) = arg {
            rename.bind("n", size);
        }
    }
    let args = kernel.args.iter().map(|arg| rename.arg(arg)).collect();
    let locals = kernel.locals.iter().map(|b| rename.buffer(b)).collect();
    let privates = kernel.privates.iter().map(|b| rename.buffer(b)).collect();
    Kernel {
        name: "k".to_owned(),
        args,
        locals,
        privates,
        body: rename.block(&kernel.body),
        launch: rename.launch(&kernel.launch),
        schedule: kernel.schedule,
        wide_indices: kernel.wide_indices,
        facts: Facts::new(),
        runs: kernel.runs,
        ids: kernel.ids.clone(),
    }
}

/// The new names, by the old ones.
#[derive(Default)]
struct Rename {
    buffers: BTreeMap<BufferId, BufferId>,
    /// Of sizes and of indices.
    indices: BTreeMap<Var, Var>,
    variables: BTreeMap<Var, Var>,
}

impl Rename {
    fn arg(&mut self, arg: &Arg) -> Arg {
        match arg {
            Arg::Buffer(buffer, usage) => Arg::Buffer(self.buffer(buffer), *usage),
            Arg::Scalar(var) => Arg::Scalar(self.variable(var)),
            Arg::Size(size) => Arg::Size(self.bind("n", size)),
        }
    }

    fn buffer(&mut self, buffer: &Buffer) -> Buffer {
        let id = self.buffer_id(buffer.id);
        Buffer {
            id,
            name: format!("b_{}", id.0),
            length: self.nat(&buffer.length),
            items: buffer.items.iter().map(|n| self.nat(n)).collect(),
            ..*buffer
        }
    }

    fn buffer_id(&mut self, old: BufferId) -> BufferId {
        let next = BufferId(self.buffers.len() as u32 + 1);
        *self.buffers.entry(old).or_insert(next)
    }

    fn launch(&mut self, launch: &Launch) -> Launch {
        Launch {
            global: launch.global.iter().map(|n| self.nat(n)).collect(),
            local: launch.local.iter().map(|n| self.nat(n)).collect(),
        }
    }

    /// The new name of an index variable, made where it is bound.
    fn bind(&mut self, prefix: &str, old: &Var) -> Var {
        let number = self.indices.values().filter(|v| v.name().starts_with(prefix)).count() + 1;
        let next = Var::named(&format!("{prefix}_{number}"));
        self.indices.entry(old.clone()).or_insert(next).clone()
    }
}

impl Edit for Rename {
    /// Sizes that are no arguments of the kernel, as those of a launch may be, keep their names.
    fn nat(&mut self, nat: &Nat) -> Nat {
        nat.substitute(&|v| self.indices.get(v).map(Nat::var))
    }

    fn pred(&mut self, pred: &Pred) -> Pred {
        pred.substitute(&|v| self.indices.get(v).map(Nat::var))
    }

    fn variable(&mut self, var: &Variable) -> Variable {
        let next = Var::named(&format!("v_{}", self.variables.len() + 1));
        let id = self.variables.entry(var.id.clone()).or_insert(next).clone();
        Variable { id, ..*var }
    }

    fn bound(&mut self, var: &Var) -> Var {
        self.bind("i", var)
    }

    fn access(&mut self, access: &Access) -> Access {
        Access { buffer: self.buffer_id(access.buffer), ..self.access_parts(access) }
    }
}
