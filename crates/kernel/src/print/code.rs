//! Statements, and what a printer keeps while it prints.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;

use lift_ir::{Nat, Over, Pred, Scalar, Space, Var};

use super::dialect::Dialect;
use super::pieces::Pieces;
use super::text::{Level, Text};
use crate::written::Written;
use crate::{Access, Arg, Buffer, BufferId, Kernel, Loop, LoopKind, Mark, Stmt, Usage, ValueType};

pub(super) struct Code<'k, D> {
    pub kernel: &'k Kernel,
    /// Types and functions that the kernel needs, in order.
    helpers: Vec<String>,
    /// Headers that the kernel needs.
    pub headers: BTreeSet<&'static str>,
    /// Scalar types that were named.
    pub scalars: BTreeSet<Scalar>,
    written: Written,
    /// Index variables that are known to be something else.
    pub known: BTreeMap<Var, Nat>,
    buffers: BTreeMap<BufferId, (&'k Buffer, Usage)>,
    /// Functions that add up what an index is a sum of.
    sums: RefCell<Vec<String>>,
    /// Vectors larger than any register of the smallest processor are used.
    pub wide_vectors: bool,
    lines: String,
    depth: usize,
    dialect: PhantomData<D>,
}

impl<'k, D: Dialect> Code<'k, D> {
    pub fn new(kernel: &'k Kernel) -> Code<'k, D> {
        let mut buffers = BTreeMap::new();
        for arg in &kernel.args {
            match arg {
                Arg::Buffer(buffer, usage) => {
                    buffers.insert(buffer.id, (buffer, *usage));
                }
                Arg::Scalar(_) | Arg::Size(_) => {}
            }
        }
        for buffer in kernel.locals.iter().chain(&kernel.privates) {
            buffers.insert(buffer.id, (buffer, Usage::ReadWrite));
        }
        Code {
            kernel,
            helpers: Vec::new(),
            headers: BTreeSet::new(),
            scalars: BTreeSet::new(),
            written: Written::of(kernel),
            known: BTreeMap::new(),
            buffers,
            sums: RefCell::default(),
            wide_vectors: false,
            lines: String::new(),
            depth: 0,
            dialect: PhantomData,
        }
    }

    pub fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.lines.push_str("  ");
        }
        self.lines.push_str(text);
        self.lines.push('\n');
    }

    /// `head {`, the body, and the brace that closes it.
    pub fn block(&mut self, head: &str, body: impl FnOnce(&mut Self)) {
        self.line(&format!("{head}{{"));
        self.indented(body);
        self.line("}");
    }

    pub fn indented(&mut self, body: impl FnOnce(&mut Self)) {
        self.depth += 1;
        body(self);
        self.depth -= 1;
    }

    /// A type or function that is printed once, before the kernel.
    pub fn helper(&mut self, text: String) {
        if !self.helpers.contains(&text) {
            self.helpers.push(text);
        }
    }

    /// The whole text: the first lines, helpers, the kernel.
    pub fn finish(self, head: impl FnOnce(&Self) -> String) -> String {
        self.pieces(head).joined()
    }

    pub fn pieces(mut self, head: impl FnOnce(&Self) -> String) -> Pieces {
        self.index_helpers();
        let head = head(&self);
        Pieces { head, helpers: self.helpers, function: self.lines }
    }

    /// Indices print logarithms, powers and sums as calls.
    fn index_helpers(&mut self) {
        let (index, _) = D::index(self.kernel.wide_indices);
        let f = D::FUNCTION;
        if self.lines.contains("lift_log2(") {
            self.helper(format!(
                "{f}{index} lift_log2({index} x) {{\n  {index} k = 0;\n  while (x > 1) {{\n    x >>= 1;\n    ++k;\n  }}\n  return k;\n}}"
            ));
        }
        if self.lines.contains("lift_pow(") {
            self.helper(format!(
                "{f}{index} lift_pow({index} x, {index} k) {{\n  {index} r = 1;\n  for (; k > 0; --k) r *= x;\n  return r;\n}}"
            ));
        }
        for sum in self.sums.take() {
            self.helper(sum);
        }
    }

    pub fn scalar(&mut self, scalar: Scalar) -> &'static str {
        self.scalars.insert(scalar);
        D::scalar(scalar)
    }

    /// The type of a scalar in memory, where there is no `bool`.
    pub fn memory(&mut self, scalar: Scalar) -> &'static str {
        self.scalar(if scalar == Scalar::Bool { Scalar::U8 } else { scalar })
    }

    pub fn ty(&mut self, ty: ValueType) -> String {
        if ty.width == 1 {
            return self.scalar(ty.scalar).to_owned();
        }
        self.scalars.insert(ty.scalar);
        D::vector(self, ty.scalar, ty.width)
    }

    pub fn index_type(&self) -> &'static str {
        D::index(self.kernel.wide_indices).0
    }

    pub fn buffer(&self, id: BufferId) -> (&'k Buffer, Usage) {
        match self.buffers.get(&id) {
            Some(found) => *found,
            None => panic!("a valid kernel accesses only buffers it has"),
        }
    }

    /// What a variable is called.
    pub fn name(&self, var: &Var) -> String {
        self.written.variable(var).to_owned()
    }

    /// What an array is called.
    pub fn array(&self, id: BufferId) -> String {
        self.written.buffer(id).to_owned()
    }

    /// What a function that is target code is called.
    pub fn function(&self, name: &str) -> String {
        self.written.function(name).to_owned()
    }

    fn settled(&self, nat: &Nat) -> Nat {
        if self.known.is_empty() {
            return nat.clone();
        }
        nat.substitute(&|v| self.known.get(v).cloned())
    }

    /// The number one as an index.
    fn one(&self) -> String {
        match D::index(self.kernel.wide_indices) {
            (_, Scalar::I32) => "1".to_owned(),
            (ty, _) => format!("({ty})1"),
        }
    }

    fn add_sum(&self, sum: &Over) {
        let text = sum.to_c(D::FUNCTION, D::CONSTANT, self.index_type(), &self.one());
        let mut sums = self.sums.borrow_mut();
        if !sums.contains(&text) {
            sums.push(text);
        }
    }

    pub fn nat(&self, nat: &Nat) -> Text {
        let settled = self.settled(nat);
        settled.each_sum(&mut |sum| self.add_sum(sum));
        let text = settled.to_c_of(&|v| self.name(v), &self.one());
        let simple = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let choice = text.contains(['?', '<', '=']);
        let level = match (simple, choice) {
            (true, _) => Level::Primary,
            (false, true) => Level::Choice,
            (false, false) if text.contains(['+', '-', '(']) => Level::Sum,
            (false, false) => Level::Product,
        };
        Text::new(level, text)
    }

    pub fn pred(&self, pred: &Pred) -> Text {
        let settled = pred.substitute(&|v| self.known.get(v).cloned());
        match &settled {
            Pred::And(all) if all.is_empty() => Text::primary("1"),
            _ => {
                settled.each_sum(&mut |sum| self.add_sum(sum));
                let text = settled.to_c_of(&|v| self.name(v), &self.one());
                let level = if text.contains("&&") { Level::And } else { Level::Comparison };
                Text::new(level, text)
            }
        }
    }

    /// The position of an access in its buffer, in scalars.
    pub fn address(&self, access: &Access) -> Text {
        let (buffer, _) = self.buffer(access.buffer);
        self.nat(&access.address(buffer))
    }

    /// A pointer to where an access begins.
    pub fn pointer(&self, access: &Access) -> Text {
        let (buffer, _) = self.buffer(access.buffer);
        let address = self.address(access);
        if address.text == "0" {
            return Text::primary(self.array(buffer.id));
        }
        let text = format!("{} + {}", self.array(buffer.id), address.at(Level::Sum));
        Text::new(Level::Sum, text)
    }

    /// `name[address]`
    pub fn element(&self, access: &Access) -> String {
        let (buffer, _) = self.buffer(access.buffer);
        format!("{}[{}]", self.array(buffer.id), self.address(access).text)
    }

    pub fn is_constant(&self, access: &Access) -> bool {
        let (buffer, usage) = self.buffer(access.buffer);
        buffer.space == Space::Global && usage == Usage::Read
    }

    pub fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Comment(text) => {
                for line in text.lines() {
                    // A backslash would take the next line into the comment.
                    self.line(format!("// {}", line.trim_end_matches(['\\', ' '])).trim_end());
                }
            }
            Stmt::Declare { var, value } => {
                let (ty, name) = (self.ty(var.ty), self.name(&var.id));
                match value {
                    None => self.line(&format!("{ty} {name};")),
                    Some(value) => {
                        let value = self.expr(value).text;
                        self.line(&format!("{ty} {name} = {value};"));
                    }
                }
            }
            Stmt::Assign { var, value } => {
                let value = self.expr(value).text;
                self.line(&format!("{} = {value};", self.name(&var.id)));
            }
            Stmt::Index { var, value } => {
                let (ty, scalar) = D::index(self.kernel.wide_indices);
                // Indices are of the index type already.
                let cast = value.ty().scalar != scalar && !matches!(value, crate::Expr::Index(..));
                let by_condition = is_condition(value);
                let value = match value {
                    crate::Expr::Index(index, _) => self.nat(index),
                    value => self.expr(value),
                };
                let value = if cast { Text::cast(ty, &value) } else { value };
                let value = if by_condition { D::opaque(self, value) } else { value };
                self.line(&format!("const {ty} {} = {};", self.name(var), value.text));
            }
            Stmt::ThreadId { var, kind, .. } => {
                let (ty, number) =
                    (self.index_type(), D::thread_id(*kind, self.kernel.wide_indices));
                self.line(&format!("const {ty} {} = {number};", self.name(var)));
            }
            Stmt::Store { access, value } => {
                let text = D::store(self, access, value);
                self.line(&format!("{text};"));
            }
            Stmt::Atomic { op, access, value } => {
                let text = D::atomic(self, *op, access, value);
                self.line(&format!("{text};"));
            }
            Stmt::Loop(l) => self.a_loop(l),
            Stmt::If { condition, then, otherwise } => self.branch(condition, then, otherwise),
            Stmt::Stop(condition) => {
                let condition = self.expr(condition).text;
                self.line(&format!("if ({condition}) break;"));
            }
            Stmt::Barrier(barrier) => {
                if let Some(text) = D::barrier(*barrier) {
                    self.line(text);
                }
            }
        }
    }

    fn branch(&mut self, condition: &crate::Expr, then: &[Stmt], otherwise: &[Stmt]) {
        let condition = self.expr(condition).text;
        self.line(&format!("if ({condition}) {{"));
        self.indented(|code| code.stmts(then));
        if !otherwise.is_empty() {
            self.line("} else {");
            self.indented(|code| code.stmts(otherwise));
        }
        self.line("}");
    }

    fn a_loop(&mut self, l: &Loop) {
        match l.kind {
            LoopKind::Global(_) | LoopKind::Group(_) | LoopKind::Local(_) => D::parallel(self, l),
            LoopKind::Seq | LoopKind::Unroll => {
                if l.mark == Mark::Lanes
                    && l.extent != Nat::ONE
                    && let Some(line) = D::LANES
                {
                    self.line(line);
                }
                self.counted(l, "0", "++");
            }
        }
    }

    /// A loop of one thread; the body alone where there is one iteration.
    pub fn counted(&mut self, l: &Loop, from: &str, step: &str) {
        if l.extent == Nat::ONE && from == "0" && !l.stops() {
            return self.with_known(&l.var, Nat::ZERO, |code| code.stmts(&l.body));
        }
        if l.kind == LoopKind::Unroll
            && let Some(extent) = l.extent.as_int()
            && let Some(text) = D::unroll(extent)
        {
            self.line(&text);
        }
        let (ty, v) = (self.index_type(), self.name(&l.var));
        let step = match step {
            "++" => format!("++{v}"),
            by => format!("{v} += {by}"),
        };
        let extent = self.nat(&l.extent).at(Level::Sum);
        let head = format!("for ({ty} {v} = {from}; {v} < {extent}; {step}) ");
        self.block(&head, |code| code.stmts(&l.body));
    }

    pub fn with_known(&mut self, var: &Var, value: Nat, body: impl FnOnce(&mut Self)) {
        self.known.insert(var.clone(), value);
        body(self);
        self.known.remove(var);
    }
}

/// Whether a number is a condition made one.
fn is_condition(value: &crate::Expr) -> bool {
    match value {
        crate::Expr::Cast(_, inner) => inner.ty().scalar == Scalar::Bool || is_condition(inner),
        _ => false,
    }
}
