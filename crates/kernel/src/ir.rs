//! The imperative kernel language: loops, buffers, loads and stores, barriers, scalar code.
//!
//! Every decision is taken before a kernel is made: which loop runs on what, what lives where, which
//! accesses are vectors, where barriers stand. A printer only prints.
//!
//! Indices are size expressions. Their variables are loop variables, kernel arguments and
//! [`Stmt::Index`] values. A variable is known by its identity, see [`Ids`]: it is bound once in a kernel, and two may
//! have the same name. Names are chosen where a kernel is printed.

use std::collections::BTreeMap;
use std::sync::Arc;

use lift_ir::{
    AtomicOp, BinaryOp, Extern, Facts, Literal, Math, Nat, Pred, Scalar, Space, Type, UnaryOp, Var,
};

use crate::{Ids, Schedule};

/// The type of a value in a register: a scalar, or a vector of 2, 3, 4, 8 or 16 of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ValueType {
    pub scalar: Scalar,
    /// 1 for a scalar.
    pub width: u32,
}

impl ValueType {
    /// Of what one register holds: a scalar, or a vector of a known width.
    pub fn of(ty: &Type) -> Option<ValueType> {
        match ty {
            Type::Scalar(scalar) => Some(ValueType::scalar(*scalar)),
            Type::Vector(scalar, width) => {
                let width = u32::try_from(width.as_int()?).ok()?;
                Some(ValueType::vector(*scalar, width))
            }
            Type::Tuple(_) | Type::Array(..) => None,
        }
    }

    pub fn scalar(scalar: Scalar) -> ValueType {
        ValueType { scalar, width: 1 }
    }

    pub fn vector(scalar: Scalar, width: u32) -> ValueType {
        ValueType { scalar, width }
    }
}

/// A variable in a register.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Variable {
    pub id: Var,
    pub ty: ValueType,
}

/// Names a buffer within one kernel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BufferId(pub u32);

/// An array of scalars in some memory. Tuples never exist in memory: each component is a buffer.
#[derive(Clone, PartialEq, Debug)]
pub struct Buffer {
    pub id: BufferId,
    /// For the reader; other buffers may have it too.
    pub name: String,
    pub scalar: Scalar,
    /// In scalars, of one stage. Of a private buffer, what one work-item holds for one position in `items`.
    pub length: Nat,
    /// How many times the buffer is there, one after the other: a loop writes one stage while it reads another.
    pub stages: u32,
    pub space: Space,
    /// Only of a private buffer that is live across loops over work-items: the lengths of those loops, outermost first
    /// (array expansion). `mapLcl(0)` over 64 that makes 4 floats each, read in a later `mapLcl(0)`, has a length of 4 and
    /// items of 64. A thread that runs a whole group keeps 64 x 4 floats, a thread that is one work-item keeps 4.
    pub items: Vec<Nat>,
    /// Bytes the start is aligned to, at least the scalar's size.
    pub align: u32,
    /// Allocated by the thread of a processor that uses it, rather than on its stack.
    pub heap: bool,
}

impl Buffer {
    /// Scalars in all stages, for one position in `items`.
    pub fn total(&self) -> Nat {
        &self.length * Nat::int(self.stages.into())
    }

    /// Has the buffer there so many times. It is lengthened where need be, so that every stage begins as aligned as the first.
    pub fn set_stages(&mut self, stages: u32) {
        let scalars = Nat::int(i128::from(self.align) / self.scalar.bytes() as i128);
        self.length = self.length.ceil_div(&scalars) * scalars;
        self.stages = stages;
    }

    /// Whether rows of so many scalars that begin at a multiple of as many are aligned in every stage.
    pub fn has_aligned_stages(&self, width: u32, facts: &Facts) -> bool {
        self.stages <= 1 || facts.divides(&Nat::int(width.into()), &self.length)
    }
}

/// How a kernel uses one of its buffer arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Usage {
    Read,
    Write,
    ReadWrite,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Arg {
    Buffer(Buffer, Usage),
    /// A scalar argument of the program.
    Scalar(Variable),
    /// A size.
    Size(Var),
}

/// One kernel: what a launch runs.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub name: String,
    /// In the order they are passed: buffers, scalars, sizes.
    pub args: Vec<Arg>,
    /// Arrays in local memory, one of each a work-group.
    pub locals: Vec<Buffer>,
    /// Arrays in private memory, one of each a work-item.
    pub privates: Vec<Buffer>,
    /// Groups of loops of kind [`LoopKind::Group`], or loops of kind [`LoopKind::Global`], stand
    /// outermost; loops of kind [`LoopKind::Local`] stand inside groups, never inside each other's
    /// divergent branches.
    pub body: Vec<Stmt>,
    pub launch: Launch,
    pub schedule: Schedule,
    /// Indices may exceed 32 bits.
    pub wide_indices: bool,
    /// What is known about sizes and loop variables.
    pub facts: Facts,
    pub runs: Runs,
    /// Where variables that passes add come from.
    pub ids: Ids,
}

impl Kernel {
    /// All buffers, by identifier: arguments, and arrays in local and private memory.
    pub fn buffers(&self) -> BTreeMap<BufferId, &Buffer> {
        let args = self.args.iter().filter_map(|arg| match arg {
            Arg::Buffer(buffer, _) => Some(buffer),
            Arg::Scalar(_) | Arg::Size(_) => None,
        });
        let all = args.chain(&self.locals).chain(&self.privates);
        all.map(|buffer| (buffer.id, buffer)).collect()
    }
}

/// What a work-item of a group is on the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Runs {
    /// An iteration of a loop: one thread runs a whole group.
    #[default]
    Loops,
    /// A thread, which keeps its own private memory: no buffer has `items`.
    Threads,
}

/// Thread counts; a missing dimension has one thread.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Launch {
    pub global: Vec<Nat>,
    pub local: Vec<Nat>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Stmt {
    /// A line for the reader.
    Comment(String),
    /// Without a value the variable holds anything until it is assigned.
    Declare {
        var: Variable,
        value: Option<Expr>,
    },
    Assign {
        var: Variable,
        value: Expr,
    },
    /// A run-time value that indices use.
    Index {
        var: Var,
        value: Expr,
    },
    /// The number of this thread among those that share loops of a parallel kind, as an index. Only where
    /// work-items are threads. It stands for the variable of loops that go so far: where it is beyond, nothing is done.
    ThreadId {
        var: Var,
        kind: LoopKind,
        extent: Nat,
    },
    Store {
        access: Access,
        value: Expr,
    },
    /// An element in global or local memory becomes what an operation makes of it and a value, as one step: work-items that
    /// change the same one do so one after the other, in any order. Nobody is told what it was.
    Atomic {
        op: AtomicOp,
        access: Access,
        value: Expr,
    },
    Loop(Loop),
    If {
        condition: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    Barrier(Barrier),
    /// Ends the loop around where a condition holds. It stands in the body of a loop of kind [`LoopKind::Seq`],
    /// not deeper; where the loop holds barriers, all work-items of a group agree on the condition.
    Stop(Expr),
}

/// Work-items wait for each other, and see what the others wrote to a memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Barrier {
    pub fence: Fence,
    pub scope: Scope,
}

impl Barrier {
    pub fn group(fence: Fence) -> Barrier {
        Barrier { fence, scope: Scope::Group }
    }

    pub fn warp(fence: Fence) -> Barrier {
        Barrier { fence, scope: Scope::Warp }
    }
}

/// Who waits at a barrier for whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// All work-items of a group.
    Group,
    /// The work-items of each warp, where the target has such a barrier; else those of the group.
    Warp,
}

/// Which memory a barrier makes visible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fence {
    Local,
    Global,
    Both,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Loop {
    pub var: Var,
    pub kind: LoopKind,
    /// The variable goes from 0 to here, exclusive. Of n threads that share a parallel loop each takes every n-th
    /// iteration.
    pub extent: Nat,
    pub body: Vec<Stmt>,
    pub mark: Mark,
}

/// How a processor runs a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mark {
    /// By the thread that comes to it.
    #[default]
    None,
    /// By all threads, which share its iterations, together with those of so many loops right inside.
    Shared { inside: u8, sharing: Sharing },
    /// By one thread, several iterations at a time: none touches what another stores.
    Independent,
    /// By one thread, iterations side by side in the lanes of vectors, loops inside included: none touches what another
    /// stores.
    Lanes,
}

/// Which iterations of a shared loop a thread takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sharing {
    /// As many as every other thread, side by side.
    #[default]
    Static,
    /// A few at a time, the next when it is done with those: some may take much longer than others.
    Dynamic,
}

impl Loop {
    pub fn new(var: Var, kind: LoopKind, extent: Nat, body: Vec<Stmt>) -> Loop {
        Loop { var, kind, extent, body, mark: Mark::None }
    }

    /// The loops that threads share together, where this one is marked so: itself and those right inside that take
    /// part, the innermost last. Itself alone where it is not.
    pub fn shared_nest(&self) -> Vec<&Loop> {
        let mut nest = vec![self];
        let Mark::Shared { inside, .. } = self.mark else { return nest };
        let mut body = &self.body;
        for _ in 0..inside {
            let inner = body.iter().find_map(|stmt| match stmt {
                Stmt::Loop(l) => Some(l),
                _ => None,
            });
            let Some(inner) = inner else { break };
            nest.push(inner);
            body = &inner.body;
        }
        nest
    }

    /// Whether the loop may end before its variable has had all values.
    pub fn stops(&self) -> bool {
        self.body.iter().any(|stmt| matches!(stmt, Stmt::Stop(_)))
    }
}

/// Who runs the iterations of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoopKind {
    /// The global work-items of a dimension.
    Global(u8),
    /// The work-groups of a dimension.
    Group(u8),
    /// The work-items of a group in a dimension.
    Local(u8),
    /// One work-item, in order.
    Seq,
    /// One work-item, written out.
    Unroll,
}

/// A scalar or vector in a buffer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    pub buffer: BufferId,
    /// In scalars.
    pub index: Nat,
    /// Counts the buffer's stages around: the one used is this modulo their number.
    pub stage: Nat,
    /// The position in the loops over work-items that the buffer lives across, as [`Buffer::items`].
    pub items: Vec<Nat>,
    /// Scalars in a row; 1 for a scalar.
    pub width: u32,
    /// The index is a multiple of the width for certain.
    pub aligned: bool,
}

impl Access {
    /// How many scalars this lies behind another access; nothing where it is to another buffer, stage or work-item's
    /// slot.
    pub fn distance_from(&self, other: &Access) -> Option<Nat> {
        let same =
            self.buffer == other.buffer && self.stage == other.stage && self.items == other.items;
        same.then(|| &self.index - &other.index)
    }

    /// The same where it is a number.
    pub fn int_from(&self, other: &Access) -> Option<i128> {
        // Of most accesses to an array, the indices say soonest that they are not a number apart.
        let is_near = self.buffer == other.buffer;
        let apart = is_near.then(|| self.index.int_more_than(&other.index)).flatten()?;
        (self.stage == other.stage && self.items == other.items).then_some(apart)
    }

    /// The position in the buffer, in scalars: where the stage and the slot of the work-item begin, and the
    /// index there.
    pub fn address(&self, buffer: &Buffer) -> Nat {
        if self.items.is_empty() && self.stage == Nat::ZERO {
            return self.index.clone();
        }
        let counts = buffer.items.iter();
        let slot = self.items.iter().zip(counts).fold(Nat::ZERO, |slot, (at, n)| slot * n + at);
        let stages = Nat::int(buffer.stages.into());
        let stage = slot * &stages + self.stage.rem(&stages);
        stage * &buffer.length + &self.index
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    Literal(Literal),
    Var(Variable),
    /// An index as a value of an integer type, which has room for it.
    Index(Nat, Scalar),
    /// A condition on indices.
    Test(Pred),
    Load(Access, ValueType),
    /// Integers wrap.
    Unary(UnaryOp, Box<Expr>),
    /// Both sides have one type, or one is a scalar beside a vector of it. Integers wrap; the right side of `&&` and
    /// `||` is evaluated only where it decides.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Math(Math, Vec<Expr>),
    /// Floats become the nearest integer towards zero that the type has, and nan becomes 0; integers wrap.
    Cast(ValueType, Box<Expr>),
    /// Only the chosen branch is evaluated.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    Vector(Scalar, Vec<Expr>),
    Splat(u32, Box<Expr>),
    Lane(Box<Expr>, u32),
    Extern(Arc<Extern>, Vec<Expr>),
    /// What the work-item has for a value whose number in its warp differs in this bit: 1, 2, 4, 8 or 16. It is the whole value
    /// of a declaration that all work-items of a warp come to together.
    Shuffle(u32, Box<Expr>),
}

impl Expr {
    pub fn ty(&self) -> ValueType {
        match self {
            Expr::Literal(literal) => ValueType::scalar(literal.scalar()),
            Expr::Var(var) => var.ty,
            Expr::Index(_, scalar) => ValueType::scalar(*scalar),
            Expr::Test(_) => ValueType::scalar(Scalar::Bool),
            Expr::Load(_, ty) | Expr::Cast(ty, _) => *ty,
            Expr::Unary(_, value) | Expr::Shuffle(_, value) => value.ty(),
            Expr::Binary(op, a, b) => {
                let (a, b) = (a.ty(), b.ty());
                let scalar = if op.is_comparison() { Scalar::Bool } else { a.scalar };
                ValueType { scalar, width: a.width.max(b.width) }
            }
            Expr::Math(Math::Dot, args) => {
                ValueType::scalar(args.first().map_or(Scalar::F32, |a| a.ty().scalar))
            }
            Expr::Math(math, args) => {
                let mut result = ValueType::scalar(Scalar::F32);
                for ty in args.iter().map(Expr::ty) {
                    result = ValueType { scalar: ty.scalar, width: ty.width.max(result.width) };
                }
                ValueType { scalar: math.result(result.scalar), ..result }
            }
            Expr::Select(_, then, _) => then.ty(),
            Expr::Vector(scalar, items) => ValueType::vector(*scalar, items.len() as u32),
            Expr::Splat(width, value) => ValueType::vector(value.ty().scalar, *width),
            Expr::Lane(vector, _) => ValueType::scalar(vector.ty().scalar),
            Expr::Extern(function, _) => {
                ValueType::of(&function.ret).unwrap_or(ValueType::scalar(Scalar::F32))
            }
        }
    }
}
