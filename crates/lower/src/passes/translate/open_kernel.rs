//! The kernel being put together: its blocks and the loops around the next statement.

use lift_ir::{Facts, LaunchClause, Nat, Prim, Range, Space, Type, Var};
use lift_kernel::{Buffer, Kernel, Launch, Loop, LoopKind, Runs, Schedule, Stmt, target_name};

use super::emitter::Emitter;
use super::storage::constant_bytes;
use crate::LowerError;
use crate::plan::Step;

/// Bytes of a private array where the program does not say that it is private. Devices keep what is not in registers
/// in memory, for as many work-items as run at once, and have limits for each.
const MAX_PRIVATE_BYTES: i128 = 32 * 1024;

/// The same where one work-item does everything: more than what is worth registers may as well be global.
const MAX_ALONE_BYTES: i128 = 2 * 1024;

/// A loop that statements are being put in.
#[derive(Clone)]
pub(super) struct Open {
    pub var: Var,
    pub kind: LoopKind,
    pub extent: Nat,
    /// Each iteration is one work-item's; not so of a loop over warps.
    pub is_item: bool,
}

#[derive(Default)]
pub(crate) struct OpenKernel {
    pub locals: Vec<Buffer>,
    pub privates: Vec<Buffer>,
    /// The blocks being filled, innermost last.
    pub blocks: Vec<Vec<Stmt>>,
    /// The parallel loops around the current place, outermost first.
    pub parallel: Vec<Open>,
    /// How many other loops are around it.
    pub sequential: usize,
    /// Elements added to the rows of the next arrays in local memory; the last number is for all that follow.
    pub paddings: Vec<u32>,
    /// What is known outside of its loops, and of variables inside.
    pub facts: Facts,
}

impl OpenKernel {
    /// Of the next array in local memory that has rows.
    pub(super) fn next_padding(&mut self) -> u32 {
        match self.paddings.as_slice() {
            [] => 0,
            [last] => *last,
            _ => self.paddings.remove(0),
        }
    }
}

/// A loop whose body is being put together.
pub(super) struct OpenLoop {
    pub var: Var,
    kind: LoopKind,
    extent: Nat,
    outside: Facts,
}

impl Emitter {
    /// Whether statements go to a kernel.
    pub(super) fn in_kernel(&self) -> bool {
        self.open.is_some()
    }

    /// Whether a single work-item runs what is put here.
    pub(super) fn in_item(&self) -> bool {
        self.open.as_ref().is_some_and(|k| {
            let grouped = k.parallel.iter().any(|o| matches!(o.kind, LoopKind::Group(_)));
            !grouped || k.parallel.iter().any(|o| o.is_item)
        })
    }

    /// Whether a warp runs what is put here.
    pub(super) fn in_warp(&self) -> bool {
        self.warp_around().is_some()
    }

    /// The loop over warps around.
    pub(super) fn warp_around(&self) -> Option<&Open> {
        let around = self.open.as_ref().map(|k| k.parallel.as_slice()).unwrap_or_default();
        around.iter().find(|o| matches!(o.kind, LoopKind::Local(_)) && !o.is_item)
    }

    pub(super) fn emit(&mut self, stmt: Stmt) {
        if let Some(block) = self.open.as_mut().and_then(|k| k.blocks.last_mut()) {
            block.push(stmt);
        }
    }

    /// A line for the reader before the loop that a pattern becomes.
    pub(super) fn comment(&mut self, pattern: &Prim) {
        let name = lift_ir::table::name_of(pattern).unwrap_or("map");
        let dimension = match pattern {
            Prim::Map(kind) => kind.dimension(),
            _ => None,
        };
        let dimension = dimension.map(|d| format!("({d})")).unwrap_or_default();
        self.emit(Stmt::Comment(format!("{name}{dimension}")));
    }

    /// From here on, statements go to a new kernel.
    pub(super) fn open_kernel(&mut self) -> Result<(), LowerError> {
        let paddings = self.paddings(self.kernels.len())?;
        let (blocks, facts) = (vec![Vec::new()], self.facts.clone());
        self.open = Some(OpenKernel { blocks, paddings, facts, ..OpenKernel::default() });
        Ok(())
    }

    /// Launches the kernel that was filled here.
    pub(super) fn close_kernel(&mut self) -> Result<(), LowerError> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let number = self.kernels.len();
        let said = self.launches.get(number).cloned().unwrap_or_default();
        let launch = Launch {
            global: said.get(LaunchClause::Global).to_vec(),
            local: said.get(LaunchClause::Local).to_vec(),
        };
        let schedule = schedule(&said)?;
        let name = match number {
            0 => target_name(&self.name),
            n => target_name(&format!("{}_{}", self.name, n + 1)),
        };
        self.kernels.push(Kernel {
            name,
            args: Vec::new(),
            locals: open.locals,
            privates: open.privates,
            body: open.blocks.into_iter().next().unwrap_or_default(),
            launch,
            schedule,
            wide_indices: false,
            facts: open.facts,
            runs: Runs::Loops,
            ids: self.ids.clone(),
        });
        self.step(Step::Launch(number));
        Ok(())
    }

    /// From here on, statements go to a block of their own; what is known in them is known there only.
    pub(super) fn open_block(&mut self) -> Facts {
        if let Some(kernel) = &mut self.open {
            kernel.blocks.push(Vec::new());
        }
        self.facts.clone()
    }

    /// The statements since [`Emitter::open_block`], which said what is known outside.
    pub(super) fn close_block(&mut self, outside: Facts) -> Vec<Stmt> {
        self.facts = outside;
        self.open.as_mut().and_then(|k| k.blocks.pop()).unwrap_or_default()
    }

    /// From here on, statements go to the body of a loop with iterations.
    pub(super) fn open_loop(&mut self, kind: LoopKind, extent: Nat) -> OpenLoop {
        let wanted = match kind {
            LoopKind::Global(d) => format!("g{d}"),
            LoopKind::Group(d) => format!("wg{d}"),
            LoopKind::Local(d) => format!("l{d}"),
            LoopKind::Seq | LoopKind::Unroll => "i".to_string(),
        };
        // There may be no iteration: what the body knows is not known behind it.
        let outside = self.open_block();
        let var = self.fresh_index(&wanted, Range::below(extent.clone()));
        if let Some(kernel) = &mut self.open {
            match is_sequential(kind) {
                true => kernel.sequential += 1,
                false => {
                    let is_item = matches!(kind, LoopKind::Local(_) | LoopKind::Global(_));
                    let (var, extent) = (var.clone(), extent.clone());
                    kernel.parallel.push(Open { var, kind, extent, is_item });
                }
            }
        }
        OpenLoop { var, kind, extent, outside }
    }

    pub(super) fn close_loop(&mut self, open: OpenLoop) {
        let OpenLoop { var, kind, extent, outside } = open;
        let block = self.close_block(outside);
        let Some(kernel) = &mut self.open else { return };
        match is_sequential(kind) {
            true => kernel.sequential -= 1,
            false => drop(kernel.parallel.pop()),
        }
        self.emit(Stmt::Loop(Loop::new(var, kind, extent, block)));
    }

    /// What is added to the rows of local arrays of the kernel with this number: what the options say, else what
    /// the program does.
    fn paddings(&self, kernel: usize) -> Result<Vec<u32>, LowerError> {
        let asked = self.launches.get(kernel).map(|launch| launch.get(LaunchClause::Padding));
        match asked.filter(|_| self.options.local_padding == 0) {
            Some(asked) => asked.iter().map(|n| number(LaunchClause::Padding, n, 0)).collect(),
            None => Ok(vec![self.options.local_padding]),
        }
    }

    /// The memory of an array that is computed and read, where the program does not say. What a work-item can hold is
    /// its own; more than that, in global memory, has room for every work-item.
    pub(super) fn default_space(&self, ty: &Type) -> Space {
        let alone = self.open.as_ref().is_some_and(|k| k.parallel.is_empty());
        let most = if alone { MAX_ALONE_BYTES } else { MAX_PRIVATE_BYTES };
        let fits = constant_bytes(ty).is_some_and(|bytes| bytes <= most);
        if self.in_item() && fits { Space::Private } else { Space::Global }
    }
}

pub(super) fn is_sequential(kind: LoopKind) -> bool {
    matches!(kind, LoopKind::Seq | LoopKind::Unroll)
}

/// What the clauses of a launch say of how its kernel is transformed.
fn schedule(launch: &lift_ir::Launch) -> Result<Schedule, LowerError> {
    let mut schedule = Schedule::default();
    for (clause, sizes) in launch.clauses() {
        if !matches!(clause, LaunchClause::Local | LaunchClause::Global | LaunchClause::Padding) {
            let numbers = sizes.iter().map(|n| number(clause, n, 1));
            schedule.set(clause, &numbers.collect::<Result<Vec<u32>, LowerError>>()?);
        }
    }
    Ok(schedule)
}

/// A number that a clause of a launch says.
fn number(clause: LaunchClause, said: &Nat, least: u32) -> Result<u32, LowerError> {
    let text = |wanted: &str| {
        let text = format!("`{}({said})` must be {wanted}", clause.name());
        LowerError::at(None, text)
    };
    let number = said.as_int().ok_or_else(|| text("a number when the program is compiled"))?;
    let number = u32::try_from(number).ok().filter(|n| *n >= least);
    number.ok_or_else(|| text(&format!("at least {least}")))
}
