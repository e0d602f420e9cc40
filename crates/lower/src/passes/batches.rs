//! Batches: where temporaries do not fit into memory, a loop of the host makes one part of them after the other.
//!
//! Before: `launch make; launch use;`, in which each of `n` points of an outer loop has a part of a temporary to itself.
//! After: `for (batch < n / c) { launch make; launch use; }`, with kernels that do c of the points and a temporary of c parts.
//!
//! Whether points have parts to themselves is seen from indices alone: in every kernel from the first that touches the array to
//! the last, each access is `s * i + r` with r below s, where `i` counts an outer loop of the kernel over n points. Then a point
//! reads what the same point wrote, and points can be done in any order. What else is written there and read again has to
//! be cut the same way. Where one point at a time is too much still, the loops inside of it are looked at.

use std::collections::{BTreeMap, BTreeSet};

use lift_ir::{Nat, Pred, Range, Var};
use lift_kernel::{Access, Arg, BufferId, Edit, Kernel, Loop, LoopKind, Stmt, Usage, only_loop};

use crate::Options;
use crate::effects::touches;
use crate::plan::{Plan, Role, Step};

/// Loops of the host inside each other, at most.
const DEEPEST: usize = 3;

/// Batches of one loop, at most, unless each has one point.
const MOST: i128 = 1 << 16;

/// Arrays that are cut because they are large, at most, besides what has to be cut with them.
const MOST_ARRAYS: usize = 8;

pub(crate) fn run(plan: &mut Plan, options: &Options) {
    // Who says what runs where has decided how much is stored.
    if !plan.orders_open || fits(plan, options) != Some(false) {
        return;
    }
    let mut made = plan.clone();
    let mut around = Vec::new();
    while around.len() < DEEPEST && fits(&made, options) == Some(false) {
        let Some((cut, counter)) = deeper(&made, &around, options) else { break };
        made = cut;
        around.push(counter);
    }
    // Nothing is gained by batches that do not fit either; whoever allocates says what is wrong.
    if fits(&made, options) == Some(true) {
        *plan = made;
    }
}

/// Whether all arrays have room; nothing where a length is no number.
fn fits(plan: &Plan, options: &Options) -> Option<bool> {
    let (sum, most) = needed(plan)?;
    let within = |bytes: u64, limit: Option<u64>| limit.is_none_or(|limit| bytes <= limit);
    Some(within(sum, options.memory_bytes) && within(most, options.buffer_bytes))
}

/// The bytes of all arrays, and of the largest.
fn needed(plan: &Plan) -> Option<(u64, u64)> {
    let others = plan.buffers.iter().filter(|b| b.role != Role::Temporary);
    let mut all = plan.memory().bytes;
    all.extend(others.map(|b| b.buffer.total() * Nat::int(b.buffer.scalar.bytes() as i128)));
    let number = |bytes: &Nat| bytes.as_int().and_then(|n| u64::try_from(n).ok());
    all.iter().try_fold((0u64, 0), |(sum, most), bytes| {
        let bytes = number(bytes)?;
        Some((sum.saturating_add(bytes), bytes.max(most)))
    })
}

/// The plan with one loop more inside of those with these counters, and its counter: with the largest batches that fit, of the
/// fewest arrays and the outermost points that can be cut; where none fits, one point at a time with what takes the least memory.
fn deeper(plan: &Plan, around: &[Var], options: &Options) -> Option<(Plan, Var)> {
    let steps = inside(&plan.steps, around)?;
    let arrays = by_size(plan);
    let mut smallest: Option<(u64, Plan, Var)> = None;
    for number in 1..=arrays.len().min(MOST_ARRAYS) {
        let cut_arrays: BTreeSet<BufferId> = arrays.iter().take(number).copied().collect();
        for points in counts(plan, steps, *arrays.first()?) {
            let Some(cut) = Cut::of(plan, steps, &cut_arrays, points) else { continue };
            let counter = counter(plan);
            let made = |each: i128| cut.made(plan, around, &counter, each);
            // The fewest first.
            let parts = (2..=points.min(MOST)).filter(|parts| points % parts == 0);
            for each in parts.map(|parts| points / parts) {
                let plan = made(each);
                if fits(&plan, options) == Some(true) {
                    return Some((plan, counter));
                }
            }
            let one = made(1);
            let (bytes, _) = needed(&one)?;
            if smallest.as_ref().is_none_or(|(least, ..)| bytes < *least) {
                smallest = Some((bytes, one, counter));
            }
        }
    }
    smallest.map(|(_, plan, counter)| (plan, counter))
}

/// Lengths of the outer loops of the kernel that makes an array, outermost first.
fn counts(plan: &Plan, steps: &[Step], array: BufferId) -> Vec<i128> {
    let maker = steps.iter().find_map(|step| match step {
        Step::Launch(k) => plan.kernels.get(*k).filter(|kernel| writes(kernel, array)),
        Step::Loop { .. } | Step::Stop(_) => None,
    });
    let loops = maker.map(outer_loops).unwrap_or_default();
    let mut found: Vec<i128> = Vec::new();
    for points in loops.iter().filter_map(|l| l.extent.as_int()).filter(|n| *n > 1) {
        if !found.contains(&points) {
            found.push(points);
        }
    }
    found
}

/// The steps inside of loops with these counters.
fn inside<'p>(steps: &'p [Step], around: &[Var]) -> Option<&'p [Step]> {
    let Some((first, rest)) = around.split_first() else { return Some(steps) };
    let body = steps.iter().find_map(|step| match step {
        Step::Loop { counter, body, .. } if counter == first => Some(body),
        _ => None,
    });
    inside(body?, rest)
}

/// Temporaries, the largest first.
fn by_size(plan: &Plan) -> Vec<BufferId> {
    let temporaries = plan.buffers.iter().filter(|b| b.role == Role::Temporary);
    let mut sized: Vec<(i128, BufferId)> = temporaries
        .filter_map(|b| {
            let bytes = b.buffer.total().as_int()?.checked_mul(b.buffer.scalar.bytes() as i128)?;
            Some((bytes, b.buffer.id))
        })
        .collect();
    sized.sort_by_key(|(bytes, id)| (std::cmp::Reverse(*bytes), *id));
    sized.into_iter().map(|(_, id)| id).collect()
}

/// A size that no other is written like.
fn counter(plan: &Plan) -> Var {
    let is_taken = |text: &str| {
        let args = plan.kernels.iter().flat_map(|kernel| &kernel.args);
        args.into_iter().any(|arg| match arg {
            Arg::Size(var) => var.to_string() == text,
            Arg::Scalar(var) => var.id.to_string() == text,
            Arg::Buffer(..) => false,
        })
    };
    let Some(kernel) = plan.kernels.first() else { return Var::named("batch") };
    loop {
        let var = kernel.ids.fresh("batch");
        if !is_taken(&var.to_string()) && !plan.is_counter(&var) {
            return var;
        }
    }
}

/// Loops over groups or the grid right inside each other, outermost first.
fn outer_loops(kernel: &Kernel) -> Vec<&Loop> {
    let is_outer = |l: &&Loop| matches!(l.kind, LoopKind::Global(_) | LoopKind::Group(_));
    let mut loops = Vec::new();
    let mut next = only_loop(&kernel.body).filter(is_outer);
    while let Some(l) = next {
        loops.push(l);
        next = only_loop(&l.body).filter(is_outer);
    }
    loops
}

fn usage(kernel: &Kernel, buffer: BufferId) -> Option<Usage> {
    kernel.args.iter().find_map(|arg| match arg {
        Arg::Buffer(b, usage) if b.id == buffer => Some(*usage),
        _ => None,
    })
}

fn writes(kernel: &Kernel, buffer: BufferId) -> bool {
    matches!(usage(kernel, buffer), Some(Usage::Write | Usage::ReadWrite))
}

fn reads(kernel: &Kernel, buffer: BufferId) -> bool {
    matches!(usage(kernel, buffer), Some(Usage::Read | Usage::ReadWrite))
}

/// Where steps can be cut: these launches, over so many points that each has parts of these arrays to itself.
struct Cut {
    first: usize,
    last: usize,
    points: i128,
    arrays: BTreeSet<BufferId>,
    /// The variable of each kernel that counts the points.
    vars: BTreeMap<usize, Var>,
}

impl Cut {
    /// Where at least these arrays are cut.
    fn of(plan: &Plan, steps: &[Step], wanted: &BTreeSet<BufferId>, points: i128) -> Option<Cut> {
        let launched = |step: &Step| match step {
            Step::Launch(k) => plan.kernels.get(*k),
            Step::Loop { .. } | Step::Stop(_) => None,
        };
        let touches_any = |step: &Step, arrays: &BTreeSet<BufferId>| match launched(step) {
            Some(kernel) => arrays.iter().any(|id| usage(kernel, *id).is_some()),
            None => true,
        };
        let mut arrays = wanted.clone();
        let (first, last) = loop {
            // Steps that are no launches are taken to touch everything, and end it below.
            let first = steps.iter().position(|step| touches_any(step, &arrays))?;
            let last = steps.iter().rposition(|step| touches_any(step, &arrays))?;
            let within: Option<Vec<&Kernel>> =
                steps.get(first..=last)?.iter().map(launched).collect();
            let within = within?;
            let again = |id: BufferId| {
                within.iter().any(|k| writes(k, id)) && within.iter().any(|k| reads(k, id))
            };
            let before = arrays.len();
            for planned in &plan.buffers {
                match planned.role {
                    Role::Temporary if again(planned.buffer.id) => {
                        arrays.insert(planned.buffer.id);
                    }
                    // A result is whole, whoever reads it.
                    Role::Output { .. } if again(planned.buffer.id) => return None,
                    _ => {}
                }
            }
            if arrays.len() == before {
                break (first, last);
            }
        };
        let mut vars = BTreeMap::new();
        for (at, step) in steps.iter().enumerate() {
            let Step::Launch(k) = step else { continue };
            let is_within = (first..=last).contains(&at);
            let kernel = plan.kernels.get(*k)?;
            // One that is launched elsewhere too would have to be another kernel there.
            if vars.contains_key(k) {
                return None;
            }
            if !is_within {
                continue;
            }
            if arrays.iter().any(|id| usage(kernel, *id).is_some()) {
                vars.insert(*k, counting(kernel, &arrays, plan, points)?);
            } else if kernel.args.iter().any(|arg| matches!(arg, Arg::Buffer(_, Usage::ReadWrite)))
            {
                // It is done again for each batch.
                return None;
            }
        }
        Some(Cut { first, last, points, arrays, vars })
    }

    /// The plan where batches have so many points, which divide all.
    fn made(&self, plan: &Plan, around: &[Var], counter: &Var, each: i128) -> Plan {
        let mut made = plan.clone();
        let count = self.points / each.max(1);
        for planned in made.buffers.iter_mut().filter(|b| self.arrays.contains(&b.buffer.id)) {
            let length = planned.buffer.length.as_int().unwrap_or(0);
            planned.buffer.length = Nat::int(length / self.points * each);
        }
        for (k, var) in &self.vars {
            let Some(kernel) = made.kernels.get_mut(*k) else { continue };
            let own = kernel.ids.fresh(var.name());
            let at = Nat::var(counter) * Nat::int(each) + Nat::var(&own);
            let mut part = Part { var, own: &own, at: &at, each, arrays: &self.arrays };
            kernel.body = part.block(&kernel.body);
            kernel.facts.declare(counter, Range::below(Nat::int(count)));
            kernel.facts.declare_inside(&own, Range::below(Nat::int(each)));
            // What was known in terms of it still is.
            kernel.facts.assume_inside(var, Pred::Eq(Nat::var(var), at.clone()));
            let before = made.batches.get(k).copied().unwrap_or(1);
            made.batches.insert(*k, before * count);
        }
        let loop_of = |body: Vec<Step>| Step::Loop {
            count: Nat::int(count),
            counter: counter.clone(),
            body,
            swap: Vec::new(),
            taken: None,
        };
        edit_inside(&mut made.steps, around, &mut |steps| {
            let body: Vec<Step> = steps.drain(self.first..=self.last).collect();
            steps.insert(self.first, loop_of(body));
        });
        made.collect_arguments();
        made
    }
}

fn edit_inside(steps: &mut Vec<Step>, around: &[Var], edit: &mut dyn FnMut(&mut Vec<Step>)) {
    let Some((first, rest)) = around.split_first() else { return edit(steps) };
    for step in steps {
        if let Step::Loop { counter, body, .. } = step
            && counter == first
        {
            edit_inside(body, rest, edit);
        }
    }
}

/// The variable of an outer loop over so many points, each of which has a part of the arrays to itself.
fn counting(
    kernel: &Kernel,
    arrays: &BTreeSet<BufferId>,
    plan: &Plan,
    points: i128,
) -> Option<Var> {
    let touched = touches(&kernel.body);
    let own: Vec<&Access> =
        touched.iter().map(|t| t.access).filter(|a| arrays.contains(&a.buffer)).collect();
    let loops = outer_loops(kernel).into_iter().filter(|l| l.extent.as_int() == Some(points));
    let has_part = |access: &Access, var: &Var| {
        let Some(planned) = plan.buffer(access.buffer) else { return false };
        let (Some(length), true) = (planned.buffer.length.as_int(), planned.buffer.stages <= 1)
        else {
            return false;
        };
        if length % points != 0 {
            return false;
        }
        let part = Nat::int(length / points);
        let rest = access.index.substitute(&|v| (v == var).then_some(Nat::ZERO));
        let end = &rest + Nat::int(i128::from(access.width.max(1)));
        access.index == &rest + &part * Nat::var(var)
            && kernel.facts.at_most(&Nat::ZERO, &rest)
            && kernel.facts.at_most(&end, &part)
    };
    let mut fitting = loops.filter(|l| own.iter().all(|access| has_part(access, &l.var)));
    fitting.next().map(|l| l.var.clone())
}

/// A kernel does one batch: the points of a loop are those at `at`, and arrays that are cut have their parts from the first on.
struct Part<'p> {
    var: &'p Var,
    own: &'p Var,
    at: &'p Nat,
    each: i128,
    arrays: &'p BTreeSet<BufferId>,
}

impl Edit for Part<'_> {
    fn nat(&mut self, nat: &Nat) -> Nat {
        nat.substitute(&|v| (v == self.var).then(|| self.at.clone()))
    }

    fn pred(&mut self, pred: &Pred) -> Pred {
        pred.substitute(&|v| (v == self.var).then(|| self.at.clone()))
    }

    fn bound(&mut self, var: &Var) -> Var {
        if var == self.var { self.own.clone() } else { var.clone() }
    }

    fn access(&mut self, access: &Access) -> Access {
        if !self.arrays.contains(&access.buffer) {
            return self.access_parts(access);
        }
        let index = access.index.substitute(&|v| (v == self.var).then(|| Nat::var(self.own)));
        Access { index, ..self.access_parts(access) }
    }

    fn stmt(&mut self, stmt: &Stmt, made: &mut Vec<Stmt>) {
        let is_cut = matches!(stmt, Stmt::Loop(l) if l.var == *self.var);
        let mut stmt = self.stmt_parts(stmt);
        if let (true, Stmt::Loop(l)) = (is_cut, &mut stmt) {
            l.extent = Nat::int(self.each);
        }
        made.push(stmt);
    }
}
