//! Functional program to kernels: values become views, patterns become loops.
//!
//! Before: an expression in which every pattern says how it runs.
//! After: kernels with loops, loads and stores, cut where a result is needed by all work-groups.
//!
//! Two functions carry the translation. [`Translator::eval`] gives a view of a value to read,
//! storing it first where it must be computed; [`Translator::assign`] computes a value straight into
//! a place to write, so that a result is never stored twice. Layout patterns only change indices,
//! on either side.

mod assign;
mod by_index;
mod checks;
mod conditions;
mod control;
mod division;
mod elsewhere;
mod eval;
mod folds;
mod iterate;
mod lanes;
mod layout;
mod points;
mod quadratic;
mod ranges;
mod scalars;
mod storage;
mod until;
mod update;
mod view;
mod warps;
mod window;

pub(crate) use storage::constant_bytes;

use std::collections::BTreeMap;
use std::rc::Rc;

use lift_ir::{
    Context, Def, Facts, LaunchClause, Nat, Param, Pred, Prim, Range, Scalar, Space, Span, Type,
    Var,
};
use lift_kernel::{
    Buffer, BufferId, Expr, Ids, Kernel, Launch, LoopKind, Runs, Schedule, Stmt, ValueType,
    Variable, target_name,
};

use crate::plan::{Check, Condition, Plan, PlanBuffer, Requirement, Role, Step, Warps, Written};
use crate::{LowerError, Options};
use view::{View, Writer};

/// Bytes of a private array where the program does not say that it is private. Devices keep what is not in registers
/// in memory, for as many work-items as run at once, and have limits for each.
const MAX_PRIVATE_BYTES: i128 = 32 * 1024;

/// The same where one work-item does everything: more than what is worth registers may as well be global.
const MAX_ALONE_BYTES: i128 = 2 * 1024;

/// Requires: the host makes sure of what is `required` of the sizes.
pub(crate) fn translate(
    def: &Def,
    options: &Options,
    required: &[Requirement],
) -> Result<Plan, LowerError> {
    let mut t = Translator::new(def, options);
    for requirement in required {
        if let Condition::Holds(pred) = &requirement.condition {
            t.facts.assume(pred);
        }
    }
    let mut env = Env::default();
    for (index, param) in def.params.iter().enumerate() {
        let view = t.parameter(index, param)?;
        env = env.bind(param, view);
    }
    let output = t.output(&def.ret)?;
    t.assign(&def.body, &env, &output)?;
    Ok(t.finish(def))
}

/// The expressions that are translated at most. A kernel of so many keeps a C compiler busy for a minute.
const MOST_EVALUATED: u32 = 1 << 15;

fn too_long(span: Option<Span>) -> LowerError {
    let text = "the kernels of this program become too long: what is computed on reading is written out at each place that reads it; store a part of it (`|> id`), or write it as a loop (`iterate`, `reduceSeq`)";
    LowerError::at(span, text)
}

/// What variables stand for; closures keep the bindings of where they were made.
#[derive(Clone, Default)]
pub(crate) struct Env(Option<Rc<Bound>>);

struct Bound {
    param: u32,
    view: View,
    outer: Option<Rc<Bound>>,
}

impl Env {
    fn bind(&self, param: &Param, view: View) -> Env {
        Env(Some(Rc::new(Bound { param: param.id(), view, outer: self.0.clone() })))
    }

    fn get(&self, param: &Param) -> Option<&View> {
        let mut here = self.0.as_deref();
        while let Some(bound) = here {
            if bound.param == param.id() {
                return Some(&bound.view);
            }
            here = bound.outer.as_deref();
        }
        None
    }
}

/// A loop that statements are being put in.
#[derive(Clone)]
struct Open {
    var: Var,
    kind: LoopKind,
    extent: Nat,
    /// Each iteration is one work-item's; not so of a loop over warps.
    is_item: bool,
}

pub(crate) struct Translator {
    name: String,
    /// Rebuilds expressions whose parts were computed apart.
    cx: Context,
    facts: Facts,
    /// The sizes of the program, which hosts know by their names.
    sizes: Vec<Var>,
    ids: Ids,
    next_buffer: u32,
    buffers: Vec<PlanBuffer>,
    scalars: Vec<(usize, Variable)>,
    kernels: Vec<Kernel>,
    /// The steps being put together; more than one list inside loops of the host.
    steps: Vec<Vec<Step>>,
    /// The kernel being put together, if one is.
    open: Option<OpenKernel>,
    launches: Vec<lift_ir::Launch>,
    checks: Vec<Check>,
    /// What is known where the current place is reached.
    reached: conditions::Reached,
    written: Written,
    /// Where in the source stands what is being translated, and what made the arrays so far.
    here: Option<Span>,
    spans: BTreeMap<BufferId, Span>,
    warps: Warps,
    /// What the next intermediate value is called.
    naming: String,
    /// How many expressions were translated so far, those that are written out again counted again.
    evaluated: u32,
    options: Options,
}

#[derive(Default)]
struct OpenKernel {
    locals: Vec<Buffer>,
    privates: Vec<Buffer>,
    /// The blocks being filled, innermost last.
    blocks: Vec<Vec<Stmt>>,
    /// The parallel loops around the current place, outermost first.
    parallel: Vec<Open>,
    /// How many other loops are around it.
    sequential: usize,
    /// Elements added to the rows of the next arrays in local memory; the last number is for all that follow.
    paddings: Vec<u32>,
    /// What is known outside of its loops, and of variables inside.
    facts: Facts,
}

impl OpenKernel {
    /// Of the next array in local memory that has rows.
    fn next_padding(&mut self) -> u32 {
        match self.paddings.as_slice() {
            [] => 0,
            [last] => *last,
            _ => self.paddings.remove(0),
        }
    }
}

impl Translator {
    fn new(def: &Def, options: &Options) -> Translator {
        Translator {
            name: def.name.clone(),
            cx: def.context(),
            facts: def.facts(),
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
            reached: conditions::Reached::default(),
            written: Written::default(),
            here: None,
            spans: BTreeMap::new(),
            warps: Warps::default(),
            naming: "tmp".to_string(),
            evaluated: 0,
            options: options.clone(),
        }
    }

    fn finish(mut self, def: &Def) -> Plan {
        Plan {
            name: def.name.clone(),
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
        }
    }

    pub(crate) fn simplify(&self, size: &Nat) -> Nat {
        self.facts.simplify(size)
    }

    /// As [`Translator::simplify`], of an index rather than a length.
    pub(crate) fn index(&self, index: &Nat) -> Nat {
        if self.options.simplify.accesses { self.simplify(index) } else { index.clone() }
    }

    /// What a layout makes of an index, below a length. Where indices are not simplified it has a name in the kernel, so
    /// that the next layout starts from it as it is.
    pub(crate) fn composed(&mut self, index: Nat, length: &Nat) -> Nat {
        match self.options.simplify.accesses || !self.in_kernel() {
            true => index,
            false => self.named_index(index, length),
        }
    }

    /// The quotient of an index below a length and what remains, simplified.
    pub(crate) fn divided(&mut self, index: &Nat, by: &Nat, length: &Nat) -> (Nat, Nat) {
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
    pub(crate) fn named_index(&mut self, index: Nat, length: &Nat) -> Nat {
        if index.as_int().is_some() || index.as_var().is_some() {
            return index;
        }
        let var = self.fresh_index("from", Range::below(length.clone()));
        self.emit(Stmt::Index { var: var.clone(), value: Expr::Index(index, Scalar::I64) });
        Nat::var(&var)
    }

    pub(crate) fn divides(&self, divisor: &Nat, of: &Nat) -> bool {
        self.facts.divides(divisor, of)
    }

    fn proves(&self, pred: &Pred) -> bool {
        self.facts.proves(pred)
    }

    fn fresh_index(&mut self, wanted: &str, range: Range) -> Var {
        let var = self.ids.fresh(wanted);
        if let Some(kernel) = &mut self.open {
            kernel.facts.declare_inside(&var, range.clone());
        }
        self.facts.declare(&var, range);
        var
    }

    /// What holds of a variable of the kernel from here to the end of its block.
    fn assume_of(&mut self, var: &Var, pred: &Pred) {
        if let Some(kernel) = &mut self.open {
            kernel.facts.assume_inside(var, pred.clone());
        }
        self.facts.assume(pred);
    }

    /// A size that the host gives values to. It knows sizes by how they are written, so no size of the program is
    /// written like it.
    fn fresh_size(&mut self, wanted: &str, range: Range) -> Var {
        loop {
            let var = self.ids.fresh(wanted);
            let text = var.to_string();
            if self.sizes.iter().all(|size| size.to_string() != text) {
                self.facts.declare(&var, range);
                return var;
            }
        }
    }

    fn fresh_variable(&mut self, wanted: &str, ty: ValueType) -> Variable {
        Variable { id: self.ids.fresh(wanted), ty }
    }

    /// The wanted name for a buffer of the host's, with a number where another has it.
    fn buffer_name(&self, wanted: &str) -> String {
        let is_free = |name: &String| self.buffers.iter().all(|b| b.buffer.name != *name);
        let numbered = (2u32..).map(|n| format!("{wanted}_{n}"));
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        names.find(is_free).unwrap_or_else(|| wanted.to_owned())
    }

    fn fresh_buffer(&mut self) -> BufferId {
        self.next_buffer += 1;
        BufferId(self.next_buffer - 1)
    }

    /// The buffers or variable of an argument of the program.
    fn parameter(&mut self, index: usize, param: &Param) -> Result<View, LowerError> {
        match param.ty() {
            Type::Scalar(scalar) => {
                let ty = ValueType::scalar(*scalar);
                let var = self.fresh_variable(param.name(), ty);
                self.scalars.push((index, var.clone()));
                Ok(View::Value(lift_kernel::Expr::Var(var)))
            }
            ty => {
                let role = |leaf| Role::Input { param: index, leaf };
                let storage = self.global(param.name(), ty, role)?;
                Ok(storage.view())
            }
        }
    }

    fn output(&mut self, ty: &Type) -> Result<Writer, LowerError> {
        let storage = self.global("result", ty, |leaf| Role::Output { leaf })?;
        Ok(storage.writer())
    }

    /// Translates an expression; an error in it that names no place is at the expression's.
    fn at_span<T>(
        &mut self,
        span: Option<Span>,
        translate: impl FnOnce(&mut Translator) -> Result<T, LowerError>,
    ) -> Result<T, LowerError> {
        self.evaluated += 1;
        if self.evaluated > MOST_EVALUATED {
            return Err(too_long(span));
        }
        let around = self.here;
        self.here = span.or(around);
        let result = translate(self);
        self.here = around;
        result.map_err(|e| LowerError { span: e.span.or(span), ..e })
    }

    /// Whether statements go to a kernel.
    fn in_kernel(&self) -> bool {
        self.open.is_some()
    }

    /// Whether a single work-item runs what is put here.
    fn in_item(&self) -> bool {
        self.open.as_ref().is_some_and(|k| {
            let grouped = k.parallel.iter().any(|o| matches!(o.kind, LoopKind::Group(_)));
            !grouped || k.parallel.iter().any(|o| o.is_item)
        })
    }

    /// Whether a warp runs what is put here.
    fn in_warp(&self) -> bool {
        self.warp_around().is_some()
    }

    /// The loop over warps around.
    fn warp_around(&self) -> Option<&Open> {
        let around = self.open.as_ref().map(|k| k.parallel.as_slice()).unwrap_or_default();
        around.iter().find(|o| matches!(o.kind, LoopKind::Local(_)) && !o.is_item)
    }

    fn emit(&mut self, stmt: Stmt) {
        if let Some(block) = self.open.as_mut().and_then(|k| k.blocks.last_mut()) {
            block.push(stmt);
        }
    }

    /// A line for the reader before the loop that a pattern becomes.
    fn comment(&mut self, pattern: &Prim) {
        let name = lift_ir::table::name_of(pattern).unwrap_or("map");
        let dimension = match pattern {
            Prim::Map(kind) => kind.dimension(),
            _ => None,
        };
        let dimension = dimension.map(|d| format!("({d})")).unwrap_or_default();
        self.emit(Stmt::Comment(format!("{name}{dimension}")));
    }

    /// Runs `fill` with statements going to a new kernel, launched here.
    fn kernel(
        &mut self,
        fill: impl FnOnce(&mut Translator) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        if self.in_kernel() {
            return fill(self);
        }
        let paddings = self.paddings(self.kernels.len())?;
        // What is known in its body is known there only.
        let outside = self.facts.clone();
        let (blocks, facts) = (vec![Vec::new()], outside.clone());
        self.open = Some(OpenKernel { blocks, paddings, facts, ..OpenKernel::default() });
        let result = fill(self);
        self.facts = outside;
        let Some(open) = self.open.take() else { return result };
        result?;
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

    /// What is added to the rows of local arrays of the kernel with this number: what the options say, else what
    /// the program does.
    fn paddings(&self, kernel: usize) -> Result<Vec<u32>, LowerError> {
        let asked = self.launches.get(kernel).map(|launch| launch.get(LaunchClause::Padding));
        match asked.filter(|_| self.options.local_padding == 0) {
            Some(asked) => asked.iter().map(|n| number(LaunchClause::Padding, n, 0)).collect(),
            None => Ok(vec![self.options.local_padding]),
        }
    }

    /// A loop of the host whose kernels are given the number of the iteration.
    fn host_loop(
        &mut self,
        count: &Nat,
        swap: Vec<(BufferId, BufferId)>,
        taken: Option<Var>,
        body: impl FnOnce(&mut Translator, &Nat) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        if self.simplify(count) == Nat::ZERO {
            return Ok(());
        }
        let outside = self.facts.clone();
        let counter = self.fresh_size("step", Range::below(count.clone()));
        self.steps.push(Vec::new());
        let result = body(self, &Nat::var(&counter));
        let body = self.steps.pop().unwrap_or_default();
        self.facts = outside;
        self.step(Step::Loop { count: count.clone(), counter, body, swap, taken });
        result
    }

    fn step(&mut self, step: Step) {
        if let Some(steps) = self.steps.last_mut() {
            steps.push(step);
        }
    }

    fn buffer(&self, id: BufferId) -> Option<&Buffer> {
        let global = self.buffers.iter().map(|b| &b.buffer);
        let open = self.open.iter().flat_map(|k| k.locals.iter().chain(&k.privates));
        global.chain(open).find(|b| b.id == id)
    }

    /// The memory of an array that is computed and read, where the program does not say. What a work-item can hold is
    /// its own; more than that, in global memory, has room for every work-item.
    fn default_space(&self, ty: &Type) -> Space {
        let alone = self.open.as_ref().is_some_and(|k| k.parallel.is_empty());
        let most = if alone { MAX_ALONE_BYTES } else { MAX_PRIVATE_BYTES };
        let fits = storage::constant_bytes(ty).is_some_and(|bytes| bytes <= most);
        if self.in_item() && fits { Space::Private } else { Space::Global }
    }
}

/// The lanes of a vector type; sizes of vectors are fixed by now.
fn lanes(width: &Nat) -> Result<u32, LowerError> {
    let known = width.as_int().and_then(|w| u32::try_from(w).ok());
    known.ok_or_else(|| LowerError::at(None, format!("the vector width `{width}` is not a number")))
}

fn value_type(scalar: Scalar, width: &Nat) -> Result<ValueType, LowerError> {
    Ok(ValueType::vector(scalar, lanes(width)?))
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
