//! The low-level programs of the thesis and of the reduction paper: their kernels use memory, vectors and
//! work-items as Table 4.2 of the thesis and the listings say.
//!
//! Judged is what a program asks for, on kernels in which work-items are loops: for threads the compiler
//! goes on to merge accesses and to keep arrays in registers by itself.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lift_ir::{Def, Math, Nat, Type, Var};
use lift_kernel::{Access, BufferId, Expr, Kernel, Loop, LoopKind, Stmt};
use lift_lower::{Options, Plan, Simplify, Target, lower};

/// What a table says of a program.
struct Row {
    program: &'static str,
    def: &'static str,
    local: Local,
    private: Private,
    vectors: Vectors,
    /// Dimensions of the iteration space.
    dimensions: usize,
    kernels: usize,
}

/// Arrays in local memory.
#[derive(PartialEq, Eq, Debug)]
enum Local {
    Used,
    None,
}

/// Data from other memory that is copied to private memory and read in a loop after that. Sums, which
/// every work-item keeps, are no such data.
#[derive(PartialEq, Eq, Debug)]
enum Private {
    Used,
    None,
}

/// Accesses to several scalars at once.
#[derive(PartialEq, Eq, Debug)]
enum Vectors {
    /// By `as_vector`, in a program on scalars.
    Chosen,
    /// The program's data are vectors.
    OfTheData,
    None,
}

#[rustfmt::skip]
const fn row(
    program: &'static str, def: &'static str,
    local: Local, private: Private, vectors: Vectors, dimensions: usize, kernels: usize,
) -> Row {
    Row { program, def, local, private, vectors, dimensions, kernels }
}

/// Table 4.2. Where its ticks for vectors and the section around it differ, the section is followed: it
/// says that the second nbody and both multiplications use them. Positions are vectors in md as in nbody,
/// which the table does not tick.
#[rustfmt::skip]
const TABLE: [Row; 16] = [
    //  program              def                         local        private        vectors       dimensions, kernels
    row("nbody_local",       "nbody_local",              Local::Used, Private::Used, Vectors::OfTheData, 1, 1),
    row("nbody_vector",      "nbody_vector",             Local::None, Private::Used, Vectors::OfTheData, 1, 1),
    row("md_private",        "md_private",               Local::None, Private::Used, Vectors::OfTheData, 1, 1),
    row("kmeans_global",     "kmeans_global",            Local::None, Private::None, Vectors::None,      1, 1),
    row("nn_global",         "nn_global",                Local::None, Private::None, Vectors::None,      1, 1),
    row("mriq_private",      "phi_mag_global",           Local::None, Private::None, Vectors::None,      1, 1),
    row("mriq_private",      "q_private",                Local::None, Private::Used, Vectors::None,      1, 1),
    row("convolution_tiled", "convolution_row_tiled",    Local::Used, Private::None, Vectors::None,      2, 1),
    row("convolution_tiled", "convolution_column_tiled", Local::Used, Private::None, Vectors::None,      2, 1),
    row("atax_local",        "atax_local",               Local::Used, Private::None, Vectors::None,      1, 2),
    row("gemv_coalesced",    "gemv_coalesced",           Local::Used, Private::None, Vectors::None,      1, 1),
    row("gemv_coalesced",    "gemv_t_coalesced",         Local::Used, Private::None, Vectors::None,      1, 1),
    row("gesummv_local",     "gesummv_local",            Local::Used, Private::None, Vectors::None,      1, 1),
    row("mm_register",       "mm_register",              Local::None, Private::Used, Vectors::Chosen,    2, 1),
    row("mm_local",          "mm_local",                 Local::Used, Private::Used, Vectors::Chosen,    2, 1),
    // Not in the table: what kmeans becomes when its features are kept.
    row("kmeans_private",    "kmeans_private",           Local::None, Private::Used, Vectors::None,      1, 1),
];

/// Listings 2.4, 4.4, 4.13, 5.3 and 5.24.
#[rustfmt::skip]
const LISTINGS: [Row; 5] = [
    row("partial_dot",       "partial_dot",              Local::Used, Private::None, Vectors::None,      1, 1),
    row("transpose_gather",  "transpose_gather",         Local::None, Private::None, Vectors::None,      1, 1),
    row("reverse_coalesced", "reverse_coalesced",        Local::Used, Private::None, Vectors::None,      1, 1),
    row("mm_vectorised",     "mm_vectorised",            Local::None, Private::Used, Vectors::Chosen,    2, 1),
    row("mm_mali",           "mm_mali",                  Local::None, Private::None, Vectors::Chosen,    2, 1),
];

#[test]
fn table_4_2() {
    TABLE.iter().for_each(Row::holds);
}

#[test]
fn listings() {
    LISTINGS.iter().for_each(Row::holds);
}

/// Neighbouring work-items read and write neighbouring elements in all of Table 4.2, save what md looks up,
/// and in Listing 4.13.
#[test]
fn global_memory_is_accessed_in_order() {
    let reverse = LISTINGS.iter().filter(|r| r.program == "reverse_coalesced");
    for row in TABLE.iter().chain(reverse) {
        for kernel in &row.plan(Target::Loops).kernels {
            assert_eq!(scattered(kernel), Vec::<String>::new(), "{}", kernel.name);
        }
    }
}

/// Listing 4.4 without a copy in local memory cannot have both sides in order.
#[test]
fn a_transpose_reads_out_of_order() {
    let plan = plan("thesis/transpose_gather.lift", "transpose_gather", Target::Loops);
    assert_eq!(scattered(plan.kernels.first().unwrap()).len(), 1);
}

/// Listing 5.3: tiles are loaded as vectors of four, and the 2x2 results stored as vectors of two.
#[test]
fn listing_5_3_changes_the_width() {
    let plan = plan("thesis/mm_vectorised.lift", "mm_vectorised", Target::Loops);
    let kernel = plan.kernels.first().unwrap();
    let (mut loaded, mut stored) = (BTreeSet::new(), BTreeSet::new());
    for (access, is_store) in global_accesses(kernel) {
        if is_store { &mut stored } else { &mut loaded }.insert(access.width);
    }
    assert_eq!((loaded, stored), (BTreeSet::from([4]), BTreeSet::from([2])));
}

/// Listing 5.24: the built-in dot product of vectors of four, straight from global memory.
#[test]
fn listing_5_24_uses_dot() {
    let plan = plan("thesis/mm_mali.lift", "mm_mali", Target::Loops);
    let mut dots = 0;
    each_expr(plan.kernels.first().unwrap(), &mut |e| {
        dots += usize::from(matches!(e, Expr::Math(Math::Dot, _)));
    });
    assert_eq!(dots, 1);
}

/// LLP1, LLP2 and LLP3: what a work-item combines while loading, and how far apart neighbouring work-items
/// read local memory. In LLP1 they combine neighbours, later the two halves.
#[test]
fn derived_reductions() {
    for (program, combined, apart) in [("llp1", 1, 2), ("llp2", 2, 1), ("llp3", 8, 1)] {
        for suffix in ["", "_asum", "_dot", "_min", "_argmin"] {
            let def = format!("{program}{suffix}");
            let plan = plan(&format!("reduce/{program}.lift"), &def, Target::Loops);
            let kernel = plan.kernels.first().unwrap();
            assert!(!kernel.locals.is_empty(), "{def}: in local memory");
            assert_eq!(dimensions(kernel), BTreeSet::from([0]), "{def}");
            assert_eq!(scattered(kernel), Vec::<String>::new(), "{def}");
            assert_eq!(elements_loaded(kernel), combined, "{def}: elements a work-item loads");
            assert_eq!(first_local_stride(kernel), apart, "{def}: distance of work-items");
        }
    }
}

impl Row {
    fn plan(&self, target: Target) -> Plan {
        plan(&format!("thesis/{}.lift", self.program), self.def, target)
    }

    fn holds(&self) {
        let plan = self.plan(Target::Loops);
        assert_eq!(plan.kernels.len(), self.kernels, "{}: kernels", self.def);
        for kernel in &plan.kernels {
            assert_eq!(private(kernel), self.private, "{}: private memory", kernel.name);
            assert_eq!(
                vectors(kernel, &self.definition()),
                self.vectors,
                "{}: vectors",
                kernel.name
            );
        }
        for kernel in plan.kernels.iter().chain(&self.plan(Target::Threads).kernels) {
            assert_eq!(local(kernel), self.local, "{}: local memory", kernel.name);
            let space = (0..self.dimensions as u8).collect();
            assert_eq!(dimensions(kernel), space, "{}: iteration space", kernel.name);
            assert_eq!(kernel.launch.local.len(), self.dimensions, "{}: launch", kernel.name);
        }
    }

    fn definition(&self) -> Def {
        definition(&format!("thesis/{}.lift", self.program), self.def)
    }
}

fn definition(program: &str, def: &str) -> Def {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs").join(program);
    let checked = lift_syntax::check_file(&path).unwrap();
    assert!(!checked.has_errors(), "{}", checked.render(false));
    checked.program.def(def).unwrap().clone()
}

fn plan(program: &str, def: &str, target: Target) -> Plan {
    // On loops as the program has them, before short ones are written out.
    let simplify = Simplify { control: target == Target::Threads, ..Simplify::default() };
    let options = Options { target, simplify, ..Options::default() };
    lower(&definition(program, def), &options).unwrap()
}

fn local(kernel: &Kernel) -> Local {
    if kernel.locals.is_empty() { Local::None } else { Local::Used }
}

/// The dimensions in which work is shared.
fn dimensions(kernel: &Kernel) -> BTreeSet<u8> {
    let mut found = BTreeSet::new();
    each_stmt(&kernel.body, &mut |s| {
        let kind = match s {
            Stmt::Loop(l) => l.kind,
            Stmt::ThreadId { kind, .. } => *kind,
            _ => return,
        };
        if let LoopKind::Global(d) | LoopKind::Group(d) | LoopKind::Local(d) = kind {
            found.insert(d);
        }
    });
    found
}

fn vectors(kernel: &Kernel, def: &Def) -> Vectors {
    if global_accesses(kernel).iter().all(|(access, _)| access.width == 1) {
        Vectors::None
    } else if def.params.iter().any(|p| holds_vectors(p.ty())) {
        Vectors::OfTheData
    } else {
        Vectors::Chosen
    }
}

fn holds_vectors(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) => false,
        Type::Vector(..) => true,
        Type::Tuple(parts) => parts.iter().any(holds_vectors),
        Type::Array(element, _) => holds_vectors(element),
    }
}

/// Whether data are loaded to a variable or a private array and read in a loop that does not load them.
fn private(kernel: &Kernel) -> Private {
    let mut pass = Copies { kernel, loops: Vec::new(), made: BTreeMap::new(), reused: false };
    pass.block(&kernel.body);
    if pass.reused { Private::Used } else { Private::None }
}

/// What holds a copy.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Holder {
    Variable(String),
    Array(BufferId),
}

struct Copies<'k> {
    kernel: &'k Kernel,
    /// The sequential loops around.
    loops: Vec<Var>,
    /// The sequential loops around each copy.
    made: BTreeMap<Holder, Vec<Var>>,
    reused: bool,
}

impl Copies<'_> {
    fn block(&mut self, block: &[Stmt]) {
        block.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        for value in stmt.values() {
            value.each(&mut |e| self.read(e));
        }
        let holder = match stmt {
            Stmt::Declare { var, value: Some(Expr::Load(from, _)) }
            | Stmt::Assign { var, value: Expr::Load(from, _) }
                if !self.is_private(from) =>
            {
                Some(Holder::Variable(var.id.to_string()))
            }
            Stmt::Store { access, value: Expr::Load(from, _) }
                if self.is_private(access) && !self.is_private(from) =>
            {
                Some(Holder::Array(access.buffer))
            }
            _ => None,
        };
        if let Some(holder) = holder {
            self.made.insert(holder, self.loops.clone());
        }
        let sequential = match stmt {
            Stmt::Loop(Loop { var, kind: LoopKind::Seq | LoopKind::Unroll, .. }) => Some(var),
            _ => None,
        };
        self.loops.extend(sequential.cloned());
        stmt.blocks().into_iter().for_each(|block| self.block(block));
        self.loops.truncate(self.loops.len() - usize::from(sequential.is_some()));
    }

    fn read(&mut self, expr: &Expr) {
        let holder = match expr {
            Expr::Var(var) => Holder::Variable(var.id.to_string()),
            Expr::Load(access, _) => Holder::Array(access.buffer),
            _ => return,
        };
        if let Some(around) = self.made.get(&holder) {
            self.reused |= self.loops.iter().any(|l| !around.contains(l));
        }
    }

    fn is_private(&self, access: &Access) -> bool {
        self.kernel.privates.iter().any(|b| b.id == access.buffer)
    }
}

fn is_global(kernel: &Kernel, access: &Access) -> bool {
    kernel.locals.iter().chain(&kernel.privates).all(|b| b.id != access.buffer)
}

/// Loads and stores of global memory; true with stores.
fn global_accesses(kernel: &Kernel) -> Vec<(Access, bool)> {
    let mut found = Vec::new();
    each_stmt(&kernel.body, &mut |s| found.extend(accesses(s)));
    found.retain(|(access, _)| is_global(kernel, access));
    found
}

/// What a statement loads and stores itself; true with the store.
fn accesses(stmt: &Stmt) -> Vec<(Access, bool)> {
    let mut found = Vec::new();
    if let Stmt::Store { access, .. } = stmt {
        found.push((access.clone(), true));
    }
    for value in stmt.values() {
        value.each(&mut |e| {
            if let Expr::Load(access, _) = e {
                found.push((access.clone(), false));
            }
        });
    }
    found
}

/// Accesses to global memory by which 16 neighbouring work-items touch more than 16 neighbouring elements.
/// Those at indices found in memory do not count.
fn scattered(kernel: &Kernel) -> Vec<String> {
    let looked_up = looked_up(kernel);
    let mut found = Vec::new();
    each_access(kernel, &mut |access, around| {
        let Some(lane) = around.iter().rev().find(|l| is_lane(l)) else { return };
        if !is_global(kernel, access) || looked_up.iter().any(|v| access.index.mentions(v)) {
            return;
        }
        let lanes = lane.extent.as_int().map_or(16, |n| n.min(16));
        let places: Vec<i128> =
            (0..lanes).map(|at| index_at(access, around, &lane.var, at)).collect();
        let (first, last) = (places.iter().min().unwrap(), places.iter().max().unwrap());
        if last - first >= lanes * i128::from(access.width) {
            found.push(access.index.to_string());
        }
    });
    found
}

fn is_lane(l: &Loop) -> bool {
    matches!(l.kind, LoopKind::Local(0) | LoopKind::Global(0))
}

/// Indices that are run-time values.
fn looked_up(kernel: &Kernel) -> Vec<Var> {
    let mut found = Vec::new();
    each_stmt(&kernel.body, &mut |s| {
        if let Stmt::Index { var, .. } = s {
            found.push(var.clone());
        }
    });
    found
}

/// An index where one loop variable has a value, all others are 0 and all sizes are large.
fn index_at(access: &Access, around: &[&Loop], var: &Var, at: i128) -> i128 {
    let value = |v: &Var| match around.iter().any(|l| l.var == *v) {
        true => Some(if v == var { at } else { 0 }),
        false => Some(8192),
    };
    access.index.eval(&value).unwrap()
}

/// How many elements of an array a work-item loads from global memory.
fn elements_loaded(kernel: &Kernel) -> i128 {
    let mut found = BTreeSet::new();
    each_access(kernel, &mut |access, around| {
        if is_global(kernel, access) {
            let own = around.iter().filter(|l| !is_shared(l)).map(|l| l.extent.clone());
            found.insert(own.fold(Nat::int(1), |a, b| a * b).as_int().unwrap());
        }
    });
    // Results are stored once, however much was loaded.
    *found.last().unwrap()
}

fn is_shared(l: &Loop) -> bool {
    matches!(l.kind, LoopKind::Global(_) | LoopKind::Group(_) | LoopKind::Local(_))
}

/// How far apart two neighbouring work-items read local memory for the first time.
fn first_local_stride(kernel: &Kernel) -> i128 {
    let mut found = None;
    each_access(kernel, &mut |access, around| {
        let in_local = kernel.locals.iter().any(|b| b.id == access.buffer);
        let Some(lane) = around.iter().rev().find(|l| is_lane(l)) else { return };
        let combines = around.last().is_some_and(|l| !is_shared(l));
        if found.is_none() && in_local && combines {
            let at = |n| index_at(access, around, &lane.var, n);
            found = Some(at(1) - at(0));
        }
    });
    found.unwrap()
}

fn each_stmt(block: &[Stmt], visit: &mut dyn FnMut(&Stmt)) {
    block.iter().for_each(|stmt| stmt.each(visit));
}

fn each_expr(kernel: &Kernel, visit: &mut dyn FnMut(&Expr)) {
    each_stmt(&kernel.body, &mut |s| s.values().for_each(|v| v.each(visit)));
}

/// Calls `visit` on every access with the loops around it, outermost first.
fn each_access(kernel: &Kernel, visit: &mut dyn FnMut(&Access, &[&Loop])) {
    fn go<'k>(
        block: &'k [Stmt],
        around: &mut Vec<&'k Loop>,
        visit: &mut dyn FnMut(&Access, &[&Loop]),
    ) {
        for stmt in block {
            accesses(stmt).iter().for_each(|(access, _)| visit(access, around));
            let entered = if let Stmt::Loop(l) = stmt { Some(l) } else { None };
            around.extend(entered);
            stmt.blocks().into_iter().for_each(|inner| go(inner, around, visit));
            around.truncate(around.len() - usize::from(entered.is_some()));
        }
    }
    go(&kernel.body, &mut Vec::new(), visit);
}
