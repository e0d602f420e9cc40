//! Index-set splitting: the interior of a grid, where boundaries do not matter, has code of its own.
//!
//! Before: `for (i = 0; i < N; ++i) r[i] = x[max(i - 1, 0)] + x[min(i + 1, N - 1)];`
//! After: a prologue and an epilogue as the loop was, and between them `r[i] = x[i - 1] + x[i + 1];`
//!
//! The borders are solved from the choices: `max(i - 1, 0)` turns at 1, `min(i + 1, N - 1)` at the last iteration. Only
//! the innermost loop of a nest is split, or the one around it where that has few iterations and none that chooses. Where choices depend on loops around it too, a branch stands around it: rows in the
//! interior of all of them have the split loop, the others the loop as it was. C compilers vectorise loops without choices.
//! Loops inside of a point are split, too, in the order of their turns, where it is their own variable that choices depend on.
//!
//! Threads are versioned instead ([`branch`]): those in the interior run code without choices, where that gains wide loads.

use lift_ir::{Facts, Nat, Pred, Range, Turn, Var};
use lift_kernel::{Buffer, Expr, Kernel, Loop, LoopKind, Mark, Stmt, only_loop};

use crate::cloning::{Comments, Copier};
use crate::effects::has_loop;
use crate::passes::vectorise_accesses;

pub(crate) fn split(kernel: &mut Kernel) {
    if has_loop(&kernel.body, &|k| matches!(k, LoopKind::Group(_))) {
        return;
    }
    let mut copier = Copier::of(kernel);
    let body = std::mem::take(&mut kernel.body);
    kernel.body = block(body, &mut Vec::new(), &mut copier);
}

fn block(stmts: Vec<Stmt>, around: &mut Vec<(Var, Nat)>, copier: &mut Copier) -> Vec<Stmt> {
    let mut made = Vec::new();
    for stmt in stmts {
        match stmt {
            Stmt::Loop(l) if has_few_columns(&l, &copier.facts) => {
                made.extend(interior(l, around, copier));
            }
            Stmt::Loop(l) if has_loop(&l.body, &|_| true) => {
                around.push((l.var.clone(), l.extent.clone()));
                let body = block(l.body, around, copier);
                around.pop();
                made.push(Stmt::Loop(Loop { body, ..l }));
            }
            Stmt::Loop(l) => made.extend(interior(l, around, copier)),
            other => made.push(other),
        }
    }
    made
}

/// Columns of a point, at most, where the loop around them is split as the innermost one is.
const FEW_COLUMNS: i128 = 64;

/// Whether a loop of the grid is one over points of a few columns each, and these choose by the point alone.
fn has_few_columns(l: &Loop, facts: &Facts) -> bool {
    let is_grid = |l: &Loop| matches!(l.kind, LoopKind::Global(_));
    only_loop(&l.body).is_some_and(|columns| {
        is_grid(l)
            && is_grid(columns)
            && columns.extent.as_int().is_some_and(|n| n <= FEW_COLUMNS)
            && !has_loop(&columns.body, &|_| true)
            && turns(&columns.body, &columns.var, facts).is_empty()
            && !turns(&columns.body, &l.var, facts).is_empty()
    })
}

/// Turns of a loop inside of a point that is split, at least, and statements of its body, at most: its text is there up to four times.
const LEAST_TURNS: i128 = 16;
const MOST_STATEMENTS: usize = 48;

/// Whether a loop may be split: one of the grid, or one inside of a point that is long and whose body is short.
fn is_split(l: &Loop) -> bool {
    match l.kind {
        LoopKind::Global(_) => true,
        LoopKind::Seq => {
            let (mut statements, mut stores) = (0, false);
            for stmt in &l.body {
                stmt.each(&mut |s| {
                    statements += 1;
                    stores |= matches!(s, Stmt::Store { .. });
                });
            }
            l.mark == Mark::None
                && l.extent.as_int().is_none_or(|n| n >= LEAST_TURNS)
                && statements <= MOST_STATEMENTS
                // Folds that store nothing are left to tiles.
                && stores
        }
        LoopKind::Group(_) | LoopKind::Local(_) | LoopKind::Unroll => false,
    }
}

/// An innermost loop, split where that decides all choices by its variable and those around.
fn interior(l: Loop, around: &[(Var, Nat)], copier: &mut Copier) -> Vec<Stmt> {
    if !is_split(&l) {
        return vec![Stmt::Loop(l)];
    }
    // That there is an interior says something about sizes, which holds nowhere else.
    let facts = copier.facts.clone();
    let made = split_loop(&l, around, copier);
    copier.facts = facts;
    made.unwrap_or_else(|| vec![Stmt::Loop(l)])
}

fn split_loop(l: &Loop, around: &[(Var, Nat)], copier: &mut Copier) -> Option<Vec<Stmt>> {
    let outer = Interior::of(around, &l.body, &copier.facts)?;
    let own = Border::of(&l.body, &l.var, &l.extent, &copier.facts);
    // What depends on loops around alone keeps no loop inside of a point from being fast: a branch would, as folds in tiles have none.
    let needs_own = outer.borders.is_empty() || l.kind == LoopKind::Seq;
    if needs_own && own.low + own.high == 0 || !own.leaves_most() {
        return None;
    }
    let body = outer.inside(&l.body, copier)?;
    let split = parts(l, &body, &own, copier)?;
    match outer.condition() {
        None => Some(split),
        Some(condition) => {
            Some(vec![Stmt::If { condition, then: split, otherwise: vec![Stmt::Loop(l.clone())] }])
        }
    }
}

/// The iterations of a loop before the interior, those in it, and those after.
fn parts(l: &Loop, body: &[Stmt], border: &Border, copier: &mut Copier) -> Option<Vec<Stmt>> {
    let (n, facts) = (&l.extent, copier.facts.clone());
    let mut part = |length: Nat, start: &Nat, comments: Comments| {
        let var = copier.ids.fresh(l.var.name());
        let length = copier.facts.simplify(&length);
        copier.facts.declare(&var, Range::below(length.clone()));
        let value = |v: &Var| (*v == l.var).then(|| Nat::var(&var) + start);
        let body = copier.copy(body, &value, comments);
        let decided = turns(&body, &var, &copier.facts).is_empty();
        copier.facts = facts.clone();
        (Stmt::Loop(Loop::new(var, l.kind, length, body)), decided)
    };
    let (low, high) = (Nat::int(border.low), Nat::int(border.high));
    let (middle, decided) = part(n - &low - &high, &low, Comments::Keep);
    if !decided {
        return None;
    }
    let mut made = Vec::new();
    if border.low > 0 {
        made.push(part(Nat::min(&low, n), &Nat::ZERO, Comments::Drop).0);
    }
    made.push(middle);
    if border.high > 0 {
        let after = Nat::max(&low, &(n - &high));
        made.push(part(n - &after, &after, Comments::Drop).0);
    }
    Some(made)
}

/// What is left of a variable's values without those at which choices turn.
struct Border {
    var: Var,
    extent: Nat,
    /// How many values are cut off at the start and at the end.
    low: i128,
    high: i128,
}

impl Border {
    /// The border that the choices of a block by a variable ask for; `low` and `high` are 0 where there are none.
    fn of(block: &[Stmt], var: &Var, extent: &Nat, facts: &Facts) -> Border {
        let (mut low, mut high) = (0, 0);
        for turn in turns(block, var, facts).into_iter().flatten() {
            // The nearer end, where both are near.
            match (turn.at_most(facts), turn.below(extent, facts)) {
                (Some(start), Some(end)) if start > end => high = high.max(end),
                (Some(start), _) => low = low.max(start),
                (None, Some(end)) => high = high.max(end),
                (None, None) => {}
            }
        }
        Border { var: var.clone(), extent: extent.clone(), low, high }
    }

    /// Whether more is left than cut off, as far as that is known.
    fn leaves_most(&self) -> bool {
        let cut = self.low.saturating_add(self.high);
        self.extent.as_int().is_none_or(|n| n > cut.saturating_mul(2))
    }
}

/// The borders of variables that choices depend on.
struct Interior {
    borders: Vec<Border>,
}

impl Interior {
    fn of(vars: &[(Var, Nat)], block: &[Stmt], facts: &Facts) -> Option<Interior> {
        let choosing = vars.iter().filter(|(var, _)| !turns(block, var, facts).is_empty());
        let borders: Vec<Border> =
            choosing.map(|(var, extent)| Border::of(block, var, extent, facts)).collect();
        borders.iter().all(Border::leaves_most).then_some(Interior { borders })
    }

    /// A block for variables in the interior, if nothing in it depends on how far inside they are.
    fn inside(&self, block: &[Stmt], copier: &mut Copier) -> Option<Vec<Stmt>> {
        let mut inside = Vec::new();
        for Border { var, extent, low, high } in &self.borders {
            let own = copier.ids.fresh(var.name());
            let last = extent - Nat::int(*high) - Nat::ONE;
            copier.facts.declare(&own, Range::between(Nat::int(*low), last));
            inside.push((var, own));
        }
        let known = |v: &Var| inside.iter().find(|(o, _)| *o == v).map(|(_, own)| Nat::var(own));
        let body = copier.copy(block, &known, Comments::Keep);
        if inside.iter().any(|(_, own)| !turns(&body, own, &copier.facts).is_empty()) {
            return None;
        }
        let back = |v: &Var| inside.iter().find(|(_, own)| own == v).map(|(o, _)| Nat::var(o));
        Some(copier.copy(&body, &back, Comments::Keep))
    }

    /// That all variables are in the interior, where that says something.
    fn condition(&self) -> Option<Expr> {
        let mut all = Vec::new();
        for Border { var, extent, low, high } in &self.borders {
            let var = Nat::var(var);
            if *low > 0 {
                all.push(Pred::Le(Nat::int(*low), var.clone()));
            }
            if *high > 0 {
                all.push(Pred::Lt(var, extent - Nat::int(*high)));
            }
        }
        (!all.is_empty()).then_some(Expr::Test(Pred::And(all)))
    }
}

/// Branches of a kernel for threads.
pub(crate) fn branch(kernel: &mut Kernel, globals: &[Buffer]) {
    let wide = vectorise_accesses::counter(kernel, globals);
    let mut threads = Threads { wide: &wide, copier: Copier::of(kernel) };
    let body = std::mem::take(&mut kernel.body);
    kernel.body = threads.block(body, &mut Vec::new());
}

struct Threads<'k> {
    /// Counts the loads that can be wide.
    wide: &'k dyn Fn(&[Stmt]) -> usize,
    copier: Copier,
}

impl Threads<'_> {
    /// What a thread does comes after its places, in all branches and loops that choose them.
    fn block(&mut self, mut stmts: Vec<Stmt>, around: &mut Vec<(Var, Nat)>) -> Vec<Stmt> {
        let head =
            stmts.iter().take_while(|s| matches!(s, Stmt::Comment(_) | Stmt::ThreadId { .. }));
        let head = head.count();
        for stmt in &stmts[..head] {
            if let Stmt::ThreadId { var, kind: LoopKind::Global(_), extent } = stmt {
                around.push((var.clone(), extent.clone()));
            }
        }
        let rest = stmts.split_off(head);
        let rest = match <[Stmt; 1]>::try_from(rest) {
            Ok([Stmt::If { condition, then, otherwise }]) if otherwise.is_empty() => {
                let then = self.block(then, around);
                vec![Stmt::If { condition, then, otherwise }]
            }
            Ok([Stmt::Loop(l)]) if matches!(l.kind, LoopKind::Global(_)) => {
                around.push((l.var.clone(), l.extent.clone()));
                let body = self.block(l.body, around);
                vec![Stmt::Loop(Loop { body, ..l })]
            }
            Ok(other) => self.work(other.into(), around),
            Err(many) => self.work(many, around),
        };
        stmts.extend(rest);
        stmts
    }

    fn work(&mut self, work: Vec<Stmt>, around: &[(Var, Nat)]) -> Vec<Stmt> {
        let facts = self.copier.facts.clone();
        let inside = Interior::of(around, &work, &facts).and_then(|interior| {
            Some((interior.condition()?, interior.inside(&work, &mut self.copier)?))
        });
        self.copier.facts = facts;
        match inside {
            Some((condition, then)) if (self.wide)(&then) > (self.wide)(&work) => {
                vec![Stmt::If { condition, then, otherwise: work }]
            }
            _ => work,
        }
    }
}

/// The choices of a block by a variable: where they turn, as far as that is known.
fn turns(block: &[Stmt], var: &Var, facts: &Facts) -> Vec<Option<Turn>> {
    let mut found = Vec::new();
    let mut note = |turn| found.push(turn);
    for stmt in block {
        stmt.each_access(&mut |access, _| access.index.turns_by(var, facts, &mut note));
        stmt.each(&mut |s| {
            for value in s.values() {
                value.each(&mut |e| match e {
                    Expr::Index(n, _) => n.turns_by(var, facts, &mut note),
                    Expr::Test(pred) => pred.turns_by(var, &mut note),
                    _ => {}
                });
            }
        });
    }
    found
}
