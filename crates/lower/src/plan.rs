//! What a host does to run a program: buffers, kernels, and the order of launches.

use std::collections::{BTreeMap, BTreeSet};

use lift_domain::Domain;
use lift_ir::{Nat, Permutation, Pred, Scalar, Span, Var};
use lift_kernel::{Access, Arg, Buffer, BufferId, Expr, Kernel, Stmt, Usage, Variable};

use crate::Choice;

#[derive(Clone, Debug)]
pub struct Plan {
    pub name: String,
    pub kernels: Vec<Kernel>,
    /// Everything in global memory, by identifier.
    pub buffers: Vec<PlanBuffer>,
    pub steps: Vec<Step>,
    /// Scalar arguments of the program, by parameter.
    pub scalars: Vec<(usize, Variable)>,
    /// What kernels check as they run; see [`Role::Status`].
    pub checks: Vec<Check>,
    /// What a host makes sure of before it launches any kernel.
    pub requirements: Vec<Requirement>,
    /// Where lowering could have gone another way, in order.
    pub choices: Vec<Choice>,
    /// Kernels that are launched for a part of their points at a time, and in how many batches: what all points store would not
    /// fit into memory.
    pub batches: BTreeMap<usize, i128>,
    /// Indices and integer values that the program's text computes, and where.
    pub(crate) written: Written,
    /// Where in the source the arrays in local and private memory are made.
    pub(crate) spans: BTreeMap<BufferId, Span>,
    pub(crate) warps: Warps,
    /// The program leaves it open which dimension of a grid is which.
    pub(crate) orders_open: bool,
}

/// What the warps of each `mapWarp` have for themselves. A `mapWarp` is named by its variable.
#[derive(Clone, Default, Debug)]
pub(crate) struct Warps {
    /// The loops over pairs of warp and lane in which the lanes of a warp stay within one warp of the device.
    pub loops: BTreeMap<Var, Var>,
    /// The arrays made inside, of which each warp has its own part.
    pub buffers: BTreeMap<BufferId, Var>,
}

/// A condition on the sizes without which kernels would be wrong.
#[derive(Clone, PartialEq, Debug)]
pub struct Requirement {
    pub condition: Condition,
    pub span: Option<Span>,
    /// What is the matter where the condition does not hold.
    pub reason: String,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Condition {
    Holds(Pred),
    /// The function goes to each of `0 .. length` once, from these.
    Permutes {
        by: Permutation,
        length: Nat,
    },
}

/// Arithmetic that the program's text asks for, in terms of sizes and loop variables.
#[derive(Clone, Default, Debug)]
pub(crate) struct Written {
    pub indices: Vec<(Nat, Option<Span>)>,
    /// Used as they are, though the program computes them in a type that may have no room for them.
    pub values: Vec<Index>,
}

/// An index of a type, proved to be in an array of this length.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    pub value: Nat,
    pub length: Nat,
    pub scalar: Scalar,
    pub span: Option<Span>,
}

/// What is compared at run time, because it is not proved.
#[derive(Clone, Debug)]
pub struct Check {
    pub span: Option<Span>,
    pub fault: Fault,
    /// How many values are left behind the number of the check, of which a message makes use.
    pub told: usize,
}

/// What is wrong where a check fails.
#[derive(Clone, Debug)]
pub enum Fault {
    /// An index is outside an array of this length; it is told where it is an `i32`.
    Index { length: Nat },
    /// A point is outside a domain; its first indices are told.
    Point { domain: Domain },
    /// A number is not that of a point of a domain, which has so many; it is told.
    Number { domain: Domain, count: Nat },
    /// The bounds of a range decrease; they are told where they are `i32`.
    Range,
    /// A bound of a range is so far out that arithmetic with it might not fit in 64 bits.
    Bound,
    /// An integer is divided by zero.
    Division,
    /// An integer is divided by zero for what remains.
    Remainder,
}

impl Fault {
    /// What a user is told, with lengths as `length` writes them and the values that a check left.
    pub fn message(&self, length: impl Fn(&Nat) -> String, told: &[i32]) -> String {
        match self {
            Fault::Index { length: n } => {
                let index = told.first().map_or("an index".into(), |i| format!("index {i}"));
                format!("{index} is outside an array of length {}", length(n))
            }
            Fault::Point { domain } if told.is_empty() => {
                format!("a point is outside `{domain}`")
            }
            Fault::Point { domain } => {
                let mut indices: Vec<String> = told.iter().map(i32::to_string).collect();
                if told.len() < domain.dimensions() {
                    indices.push("…".to_string());
                }
                format!("the point ({}) is outside `{domain}`", indices.join(", "))
            }
            Fault::Number { domain, count } => {
                let number = told.first().map_or("a number".into(), |n| format!("number {n}"));
                format!("{number} is not one of the {} points of `{domain}`", length(count))
            }
            Fault::Range => match told {
                [low, high] => format!("the range {low} .. {high} decreases"),
                _ => "the bounds of a range decrease".to_string(),
            },
            Fault::Bound => "a bound of a range is beyond 2^61".to_string(),
            Fault::Division => "division by zero".to_string(),
            Fault::Remainder => "remainder of a division by zero".to_string(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct PlanBuffer {
    pub buffer: Buffer,
    pub role: Role,
}

/// Where the contents come from or go to. A value of tuples has a buffer for each scalar or vector
/// in its type, its leaves, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    Input {
        param: usize,
        leaf: usize,
    },
    Output {
        leaf: usize,
    },
    Temporary,
    /// `i32`s, zero before the first kernel. Where a check fails, a kernel reads element 0 or divides by 1,
    /// and leaves here one more than the number of the check and the values that it tells, if any.
    Status,
}

#[derive(Clone, Debug)]
pub enum Step {
    /// A kernel, by index.
    Launch(usize),
    /// Steps done several times; after each time the buffers of a pair change places. The counter, which
    /// goes up from 0, is a size that kernels may have as an argument; so is how often all of the steps were
    /// done, afterwards.
    Loop {
        count: Nat,
        counter: Var,
        body: Vec<Step>,
        swap: Vec<(BufferId, BufferId)>,
        taken: Option<Var>,
    },
    /// Ends the loop around where the `bool` in a buffer holds. What has been done of this time does not count,
    /// and no buffers change places.
    Stop(BufferId),
}

impl Plan {
    /// Buffers that work-items write without agreeing on who does: whoever is last is as good.
    pub(crate) fn status(&self) -> Option<BufferId> {
        self.buffers.iter().find(|b| b.role == Role::Status).map(|b| b.buffer.id)
    }

    pub(crate) fn require(&mut self, requirement: Requirement) {
        if self.requirements.iter().all(|r| r.condition != requirement.condition) {
            self.requirements.push(requirement);
        }
    }

    /// Whether a size counts the iterations of a loop of the host, during it or afterwards.
    pub fn is_counter(&self, var: &Var) -> bool {
        fn counts(steps: &[Step], var: &Var) -> bool {
            steps.iter().any(|step| match step {
                Step::Launch(_) | Step::Stop(_) => false,
                Step::Loop { counter, body, taken, .. } => {
                    counter == var || taken.as_ref() == Some(var) || counts(body, var)
                }
            })
        }
        counts(&self.steps, var)
    }

    pub fn buffer(&self, id: BufferId) -> Option<&PlanBuffer> {
        self.buffers.iter().find(|b| b.buffer.id == id)
    }

    /// Gives every kernel the arguments its body uses: buffers, then scalars, then sizes.
    pub(crate) fn collect_arguments(&mut self) {
        for kernel in &mut self.kernels {
            let mut uses = Uses::default();
            uses.block(&kernel.body);
            for buffer in kernel.locals.iter().chain(&kernel.privates) {
                uses.size(&buffer.length);
                buffer.items.iter().for_each(|n| uses.size(n));
            }
            let own = &uses.bound;
            let buffers = self.buffers.iter().filter_map(|b| {
                let id = b.buffer.id;
                let usage = match (uses.read.contains(&id), uses.written.contains(&id)) {
                    (true, false) => Usage::Read,
                    (false, true) => Usage::Write,
                    (true, true) => Usage::ReadWrite,
                    (false, false) => return None,
                };
                Some(Arg::Buffer(b.buffer.clone(), usage))
            });
            let scalars = self.scalars.iter().filter(|(_, v)| uses.variables.contains(&v.id));
            let sizes = uses.sizes.iter().filter(|v| !own.contains(v));
            kernel.args = buffers
                .chain(scalars.map(|(_, v)| Arg::Scalar(v.clone())))
                .chain(sizes.map(|v| Arg::Size((*v).clone())))
                .collect();
        }
    }
}

/// What the statements of a kernel mention.
#[derive(Default)]
pub(crate) struct Uses {
    read: BTreeSet<BufferId>,
    written: BTreeSet<BufferId>,
    pub(crate) variables: BTreeSet<Var>,
    pub(crate) sizes: BTreeSet<Var>,
    bound: BTreeSet<Var>,
}

impl Uses {
    pub(crate) fn block(&mut self, block: &[Stmt]) {
        block.iter().for_each(|stmt| stmt.each(&mut |s| self.stmt(s)));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Index { var, .. } | Stmt::ThreadId { var, .. } => {
                self.bound.insert(var.clone());
            }
            Stmt::Store { access, .. } => {
                self.written.insert(access.buffer);
                self.access(access);
            }
            Stmt::Atomic { access, .. } => {
                self.read.insert(access.buffer);
                self.written.insert(access.buffer);
                self.access(access);
            }
            Stmt::Loop(l) => {
                self.bound.insert(l.var.clone());
                self.size(&l.extent);
            }
            Stmt::Comment(_)
            | Stmt::Barrier(_)
            | Stmt::Declare { .. }
            | Stmt::Assign { .. }
            | Stmt::Stop(_)
            | Stmt::If { .. } => {}
        }
        for value in stmt.values() {
            value.each(&mut |e| self.expr(e));
        }
    }

    fn size(&mut self, size: &Nat) {
        size.each_var(&mut |v| {
            if !self.sizes.contains(v) {
                self.sizes.insert(v.clone());
            }
        });
    }

    fn access(&mut self, access: &Access) {
        self.size(&access.index);
        self.size(&access.stage);
        access.items.iter().for_each(|n| self.size(n));
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Var(var) => {
                if !self.variables.contains(&var.id) {
                    self.variables.insert(var.id.clone());
                }
            }
            Expr::Index(size, _) => self.size(size),
            Expr::Test(pred) => self.sizes.extend(pred.vars()),
            Expr::Load(access, _) => {
                self.read.insert(access.buffer);
                self.access(access);
            }
            Expr::Literal(_)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Math(..)
            | Expr::Cast(..)
            | Expr::Select(..)
            | Expr::Vector(..)
            | Expr::Splat(..)
            | Expr::Lane(..)
            | Expr::Extern(..)
            | Expr::Shuffle(..) => {}
        }
    }
}
