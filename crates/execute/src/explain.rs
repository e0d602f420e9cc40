//! How a program is computed, for people: what its kernels do at how many points, with how many threads, what they store and read
//! again, and why.

use lift_ir::{Def, Nat, Order};
use lift_kernel::{Arg, Kernel, LoopKind, Mark, Stmt, Usage};
use lift_lower::{
    LowerError, Mapping, Options, Plan, Role, Stage, Target, lower_watched, mappings,
};

/// What one kernel does. Numbers are missing where sizes are.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelPlan {
    pub name: String,
    /// Results that could be computed at the same time.
    pub points: Option<i128>,
    /// Groups in all, and the threads of each by dimension. None on a processor.
    pub groups: Option<i128>,
    pub group: Vec<i128>,
    /// On a processor, whether its threads share the points.
    pub is_shared: bool,
    /// The arrays it reads, by name.
    pub reads: Vec<String>,
    pub stores: Vec<Stored>,
    /// Of each group.
    pub local_bytes: Option<i128>,
    /// How it was transformed, as clauses of a `launch`: `tile(128, 128)`.
    pub schedule: Vec<String>,
    pub why: Vec<String>,
}

/// An array that a kernel stores.
#[derive(Clone, PartialEq, Debug)]
pub struct Stored {
    pub name: String,
    pub bytes: Option<i128>,
    pub is_result: bool,
    /// The kernels that read it.
    pub read_by: Vec<String>,
}

impl KernelPlan {
    /// All threads, where there are such.
    pub fn threads(&self) -> Option<i128> {
        self.group.iter().try_fold(self.groups?, |all, n| all.checked_mul(*n))
    }
}

/// The kernels of a program, in order.
pub fn explain(def: &Def, options: &Options) -> Result<Vec<KernelPlan>, LowerError> {
    let mut points = Vec::new();
    let plan = lower_watched(def, options, &mut |pass, stage| {
        if let ("translate", Stage::Plan(plan)) = (pass.name, stage) {
            points = plan.kernels.iter().map(|kernel| points_of(&kernel.body, 1)).collect();
        }
    })?;
    let known = points.into_iter().chain(std::iter::repeat(None));
    Ok(plan
        .kernels
        .iter()
        .enumerate()
        .zip(known)
        .map(|((number, kernel), points)| {
            let batches = plan.batches.get(&number).copied();
            explained(kernel, points, batches, &plan, options)
        })
        .collect())
}

/// How the points of domains that are no boxes are mapped, and the orders of arrays that read themselves: a line each.
pub fn explain_domains(def: &Def, options: &Options) -> Result<Vec<String>, LowerError> {
    let mut found = Vec::new();
    lower_watched(def, options, &mut |pass, stage| {
        if let ("default_lowering", Stage::Program(program)) = (pass.name, stage) {
            found = mappings(&program.def);
        }
    })?;
    let how = |mapping: Mapping| match (mapping, options.target) {
        (Mapping::Box, _) => "a thread a point of the box around it; what is outside is left out",
        (Mapping::Rows, _) => "a thread a point of its rows; what is outside is left out",
        (Mapping::Folded, _) => "a thread a point of two rows, a short one and a long one",
        (Mapping::Rank | Mapping::Walk, Target::Threads) => {
            "a thread a point, which finds it by its number"
        }
        (Mapping::Walk, Target::Loops) => {
            "threads have equal shares of the points, which they go through row by row"
        }
        (Mapping::Rank, Target::Loops) => {
            "threads have equal shares of the points, which they find by their numbers"
        }
    };
    let mapped = found.into_iter().map(|(domain, mapping)| format!("{domain}: {}", how(mapping)));
    Ok(mapped.chain(def.said.orders.iter().map(order)).collect())
}

/// `t: order (1, 1), all points of equal i + j at once`
fn order(order: &Order) -> String {
    let by: Vec<String> = order.by.iter().map(i128::to_string).collect();
    let mut sum = String::new();
    for (factor, index) in order.by.iter().zip(&order.indices).filter(|(factor, _)| **factor != 0) {
        match (sum.is_empty(), *factor < 0) {
            (true, false) => {}
            (true, true) => sum.push('-'),
            (false, false) => sum.push_str(" + "),
            (false, true) => sum.push_str(" - "),
        }
        match factor.unsigned_abs() {
            1 => sum.push_str(index),
            many => sum.push_str(&format!("{many}*{index}")),
        }
    }
    let at_once = match sum.is_empty() {
        true => "all points at once".to_owned(),
        false => format!("all points of equal {sum} at once"),
    };
    format!("{}: order ({}), {at_once}", order.array, by.join(", "))
}

/// The most iterations of parallel loops around a store.
fn points_of(block: &[Stmt], around: i128) -> Option<i128> {
    let mut most = Some(0);
    for stmt in block {
        let own = match stmt {
            Stmt::Store { .. } => Some(around),
            Stmt::Loop(l) => {
                let is_parallel = match l.kind {
                    LoopKind::Global(_) | LoopKind::Group(_) | LoopKind::Local(_) => true,
                    LoopKind::Seq | LoopKind::Unroll => false,
                };
                let times = if is_parallel { l.extent.as_int() } else { Some(1) };
                times.and_then(|n| points_of(&l.body, around.checked_mul(n)?))
            }
            _ => {
                let inner = stmt.blocks().into_iter().map(|block| points_of(block, around));
                inner.into_iter().try_fold(0, |most, n| Some(most.max(n?)))
            }
        };
        most = most.zip(own).map(|(a, b)| a.max(b));
    }
    most
}

fn explained(
    kernel: &Kernel,
    points: Option<i128>,
    batches: Option<i128>,
    plan: &Plan,
    options: &Options,
) -> KernelPlan {
    let numbers = |counts: &[Nat]| counts.iter().map(Nat::as_int).collect::<Option<Vec<i128>>>();
    let is_device = options.target == Target::Threads;
    let group = numbers(&kernel.launch.local).filter(|_| is_device).unwrap_or_default();
    let groups = numbers(&kernel.launch.global).filter(|_| is_device).and_then(|global| {
        let each = global.iter().zip(&group).map(|(all, own)| all.checked_div(*own));
        each.into_iter().try_fold(1i128, |all, n| all.checked_mul(n?))
    });
    let mut is_shared = false;
    for stmt in &kernel.body {
        stmt.each(&mut |s| {
            is_shared |= matches!(s, Stmt::Loop(l) if matches!(l.mark, Mark::Shared { .. }));
        });
    }
    let local_bytes = kernel.locals.iter().try_fold(0i128, |sum, buffer| {
        sum.checked_add(buffer.total().as_int()?.checked_mul(buffer.scalar.bytes() as i128)?)
    });
    let clauses = kernel.schedule.clauses().map(|(clause, numbers)| {
        let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
        format!("{}({})", clause.name(), numbers.join(", "))
    });
    let made = KernelPlan {
        name: kernel.name.clone(),
        points,
        groups,
        group,
        is_shared,
        reads: buffers(kernel, plan, &|usage| usage != Usage::Write)
            .map(|(name, _, _)| name)
            .collect(),
        stores: stores(kernel, plan),
        local_bytes: local_bytes.filter(|bytes| *bytes > 0),
        schedule: clauses.collect(),
        why: Vec::new(),
    };
    KernelPlan { why: why(kernel, &made, batches), ..made }
}

/// The arrays of a kernel that are used in some way: name, bytes, and what they are in the plan.
fn buffers<'p>(
    kernel: &'p Kernel,
    plan: &'p Plan,
    wanted: &'p dyn Fn(Usage) -> bool,
) -> impl Iterator<Item = (String, Option<i128>, Role)> + 'p {
    kernel.args.iter().filter_map(move |arg| {
        let Arg::Buffer(buffer, usage) = arg else { return None };
        let role = plan.buffers.iter().find(|own| own.buffer.id == buffer.id)?.role;
        let bytes = buffer.total().as_int().map(|n| n * buffer.scalar.bytes() as i128);
        let counts = wanted(*usage) && role != Role::Status;
        counts.then(|| (buffer.name.clone(), bytes, role))
    })
}

fn stores(kernel: &Kernel, plan: &Plan) -> Vec<Stored> {
    let all = buffers(kernel, plan, &|usage| usage != Usage::Read);
    all.map(|(name, bytes, role)| {
        let reads = |other: &&Kernel| {
            buffers(other, plan, &|usage| usage != Usage::Write).any(|(own, _, _)| own == name)
        };
        let read_by = plan.kernels.iter().filter(reads).map(|k| k.name.clone()).collect();
        Stored { name, bytes, is_result: matches!(role, Role::Output { .. }), read_by }
    })
    .collect()
}

/// Why the points are done so.
fn why(kernel: &Kernel, plan: &KernelPlan, batches: Option<i128>) -> Vec<String> {
    let mut why = Vec::new();
    if let Some(batches) = batches {
        why.push(format!(
            "in {batches} batches, one after the other: what all points store would not fit into memory"
        ));
    }
    let locals: Vec<&str> = kernel.locals.iter().map(|buffer| buffer.name.as_str()).collect();
    match kernel.schedule.tile.filter(|tile| *tile != [1, 1]) {
        Some([rows, columns]) => {
            let through = match locals.is_empty() {
                true => "in registers".to_owned(),
                false => format!("through local memory ({})", locals.join(", ")),
            };
            why.push(format!(
                "neighbours in the grid read the same: tiles of {rows} x {columns} points share it {through}"
            ));
        }
        None if !locals.is_empty() => why.push(format!(
            "the threads of a group work on results together: they exchange {} in local memory",
            locals.join(", ")
        )),
        None => {}
    }
    let at_once = plan.points.map(|points| points / batches.unwrap_or(1).max(1));
    match (at_once, plan.threads()) {
        (Some(points), Some(threads)) if points > threads && threads > 0 => {
            let each = (points + threads - 1) / threads;
            why.push(format!("a thread has up to {each} points"));
        }
        (Some(points), Some(threads)) if threads > points && points > 0 && !locals.is_empty() => {
            why.push("there are more threads than results: they share the folds".to_owned());
        }
        _ => {}
    }
    for stored in plan.stores.iter().filter(|stored| !stored.is_result) {
        if !stored.read_by.is_empty() {
            let readers = stored.read_by.join(", ");
            why.push(format!(
                "`{}` is stored, so that it is computed once: {readers} reads it",
                stored.name
            ));
        }
    }
    if why.is_empty() {
        why.push("each result is computed by itself from what is in memory".to_owned());
    }
    why
}
