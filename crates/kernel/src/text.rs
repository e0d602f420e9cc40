//! Kernels as text of their own: what there is between two passes, whichever target it is for.
//!
//! Every node of the language is written in one way. Names are chosen by scope, as where a kernel is printed for a
//! target.

use std::fmt::Write;
use std::sync::Arc;

use lift_ir::{Extern, LaunchClause, Nat, Pred, Space, Var};

use crate::written::Written;
use crate::{
    Access, Arg, Barrier, Buffer, BufferId, Expr, Fence, Kernel, Loop, LoopKind, Mark, Runs, Scope,
    Sharing, Stmt, Usage, ValueType, Variable,
};

/// The kernel as text.
pub fn text(kernel: &Kernel) -> String {
    let mut text = Text { written: Written::of(kernel), out: String::new(), depth: 0 };
    text.kernel(kernel);
    text.out
}

struct Text {
    written: Written,
    out: String,
    depth: usize,
}

impl Text {
    fn line(&mut self, line: &str) {
        // Writing to a string does not fail.
        writeln!(self.out, "{:1$}{line}", "", 2 * self.depth).ok();
    }

    fn block(&mut self, head: &str, block: &[Stmt]) {
        self.line(&format!("{head} {{"));
        self.inside(block);
        self.line("}");
    }

    fn inside(&mut self, block: &[Stmt]) {
        self.depth += 1;
        block.iter().for_each(|stmt| self.stmt(stmt));
        self.depth -= 1;
    }

    fn kernel(&mut self, kernel: &Kernel) {
        let args: Vec<String> = kernel.args.iter().map(|arg| self.arg(arg)).collect();
        self.line(&format!("kernel {}({})", kernel.name, args.join(", ")));
        self.depth += 1;
        let counts = |text: &Text, counts: &[Nat]| {
            counts.iter().map(|n| text.nat(n)).collect::<Vec<_>>().join(", ")
        };
        let local = counts(self, &kernel.launch.local);
        let global = counts(self, &kernel.launch.global);
        let runs = match kernel.runs {
            Runs::Loops => "loops",
            Runs::Threads => "threads",
        };
        let wide = if kernel.wide_indices { " wide" } else { "" };
        let chosen: String = kernel.schedule.clauses().map(clause).collect();
        self.line(&format!("launch local({local}) global({global}){chosen} {runs}{wide}"));
        for buffer in kernel.locals.iter().chain(&kernel.privates) {
            let line = self.buffer(buffer);
            self.line(&line);
        }
        for function in externs(&kernel.body) {
            let line = self.function(&function);
            self.line(&line);
        }
        self.depth -= 1;
        self.line("{");
        self.inside(&kernel.body);
        self.line("}");
    }

    fn arg(&self, arg: &Arg) -> String {
        match arg {
            Arg::Buffer(buffer, usage) => {
                let usage = match usage {
                    Usage::Read => "read",
                    Usage::Write => "write",
                    Usage::ReadWrite => "read_write",
                };
                format!("{usage} {}", self.buffer(buffer))
            }
            Arg::Scalar(var) => self.declared(var),
            Arg::Size(var) => format!("{}: size", self.var(var)),
        }
    }

    /// `local tile: f32[64] stages 2 items (4, 4) align 16 heap`
    fn buffer(&self, buffer: &Buffer) -> String {
        let space = match buffer.space {
            Space::Global => "global",
            Space::Local => "local",
            Space::Private => "private",
        };
        let (name, length) = (self.written.buffer(buffer.id), self.nat(&buffer.length));
        let mut line = format!("{space} {name}: {}[{length}]", buffer.scalar);
        if buffer.stages != 1 {
            line += &format!(" stages {}", buffer.stages);
        }
        if !buffer.items.is_empty() {
            line += &format!(" items ({})", self.nats(&buffer.items));
        }
        line += &format!(" align {}", buffer.align);
        if buffer.heap { line + " heap" } else { line }
    }

    /// `extern half(a: f32) -> f32 for "c,opencl" = "return a / 2;"`
    fn function(&self, function: &Extern) -> String {
        let params: Vec<String> =
            function.params.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        let name = self.written.function(&function.name);
        let (params, targets) = (params.join(", "), function.targets.join(","));
        format!(
            "extern {name}({params}) -> {} for {} = {}",
            function.ret,
            quoted(&targets),
            quoted(&function.code)
        )
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Comment(text) => text.lines().for_each(|l| self.line(&format!("// {l}"))),
            Stmt::Declare { var, value: None } => {
                let line = format!("var {}", self.declared(var));
                self.line(&line);
            }
            Stmt::Declare { var, value: Some(value) } => {
                let line = format!("var {} = {}", self.declared(var), self.expr(value));
                self.line(&line);
            }
            Stmt::Assign { var, value } => {
                let line = format!("{} = {}", self.var(&var.id), self.expr(value));
                self.line(&line);
            }
            Stmt::Index { var, value } => {
                let line = format!("index {} = {}", self.var(var), self.expr(value));
                self.line(&line);
            }
            Stmt::ThreadId { var, kind, extent } => {
                let (var, extent) = (self.var(var), self.nat(extent));
                self.line(&format!("thread {var} = {} below {extent}", on(*kind)));
            }
            Stmt::Store { access, value } => {
                let line = format!("{} = {}", self.access(access), self.expr(value));
                self.line(&line);
            }
            Stmt::Atomic { op, access, value } => {
                let (access, value) = (self.access(access), self.expr(value));
                self.line(&format!("atomic {} {access} = {value}", op.name()));
            }
            Stmt::Loop(Loop { var, kind, extent, body, mark }) => {
                let mark = match mark {
                    Mark::None => String::new(),
                    Mark::Shared { inside, sharing: Sharing::Static } => {
                        format!("shared({inside}) ")
                    }
                    Mark::Shared { inside, sharing: Sharing::Dynamic } => {
                        format!("shared({inside}) dynamic ")
                    }
                    Mark::Independent => "independent ".to_owned(),
                    Mark::Lanes => "lanes ".to_owned(),
                };
                let (var, extent) = (self.var(var), self.nat(extent));
                let head = format!("{mark}for {var} < {extent} {}", on(*kind));
                self.block(&head, body);
            }
            Stmt::If { condition, then, otherwise } => {
                let head = format!("if {} {{", self.expr(condition));
                self.line(&head);
                self.inside(then);
                if !otherwise.is_empty() {
                    self.line("} else {");
                    self.inside(otherwise);
                }
                self.line("}");
            }
            Stmt::Barrier(Barrier { fence, scope }) => {
                let fence = match fence {
                    Fence::Local => "local",
                    Fence::Global => "global",
                    Fence::Both => "both",
                };
                let scope = match scope {
                    Scope::Group => "group",
                    Scope::Warp => "warp",
                };
                self.line(&format!("barrier {scope} {fence}"));
            }
            Stmt::Stop(condition) => {
                let line = format!("stop {}", self.expr(condition));
                self.line(&line);
            }
        }
    }

    fn var(&self, var: &Var) -> String {
        self.written.variable(var).to_owned()
    }

    fn declared(&self, var: &Variable) -> String {
        format!("{}: {}", self.var(&var.id), ty(var.ty))
    }

    fn named(&self, var: &Var) -> Option<Nat> {
        Some(Nat::var(&Var::named(self.written.variable(var))))
    }

    fn nat(&self, nat: &Nat) -> String {
        nat.substitute(&|v| self.named(v)).to_string()
    }

    fn nats(&self, nats: &[Nat]) -> String {
        nats.iter().map(|n| self.nat(n)).collect::<Vec<_>>().join(", ")
    }

    fn pred(&self, pred: &Pred) -> String {
        pred.substitute(&|v| self.named(v)).to_string()
    }

    /// `tile[4*i; stage k; items (l0); 4 aligned]`
    fn access(&self, access: &Access) -> String {
        let mut inside = self.nat(&access.index);
        if access.stage != Nat::ZERO {
            inside += &format!("; stage {}", self.nat(&access.stage));
        }
        if !access.items.is_empty() {
            inside += &format!("; items ({})", self.nats(&access.items));
        }
        if access.width != 1 || access.aligned {
            let aligned = if access.aligned { " aligned" } else { "" };
            inside += &format!("; {}{aligned}", access.width);
        }
        format!("{}[{inside}]", self.array(access.buffer))
    }

    fn array(&self, id: BufferId) -> &str {
        self.written.buffer(id)
    }

    fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Literal(literal) => literal.to_string(),
            Expr::Var(var) => self.var(&var.id),
            Expr::Index(nat, scalar) => format!("index({}: {scalar})", self.nat(nat)),
            Expr::Test(pred) => format!("test({})", self.pred(pred)),
            Expr::Load(access, _) => self.access(access),
            Expr::Unary(op, a) => format!("({}{})", op.symbol(), self.expr(a)),
            Expr::Binary(op, a, b) => {
                format!("({} {} {})", self.expr(a), op.symbol(), self.expr(b))
            }
            Expr::Math(math, args) => format!("{}({})", math.name(), self.exprs(args)),
            Expr::Cast(to, a) => format!("({} as {})", self.expr(a), ty(*to)),
            Expr::Select(a, b, c) => {
                format!("(if {} then {} else {})", self.expr(a), self.expr(b), self.expr(c))
            }
            Expr::Vector(scalar, args) => format!("vector({scalar}: {})", self.exprs(args)),
            Expr::Splat(width, a) => format!("splat({width}: {})", self.expr(a)),
            Expr::Lane(a, lane) => format!("{}.{lane}", self.expr(a)),
            Expr::Extern(function, args) => {
                let name = self.written.function(&function.name);
                format!("extern {name}({})", self.exprs(args))
            }
            Expr::Shuffle(bit, a) => format!("shuffle({bit}: {})", self.expr(a)),
        }
    }

    fn exprs(&self, exprs: &[Expr]) -> String {
        exprs.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ")
    }
}

/// The functions in target code that are called.
fn externs(block: &[Stmt]) -> Vec<Arc<Extern>> {
    let mut found: Vec<Arc<Extern>> = Vec::new();
    let mut add = |e: &Expr| {
        if let Expr::Extern(function, _) = e
            && found.iter().all(|known| known.name != function.name)
        {
            found.push(function.clone());
        }
    };
    let mut values = |s: &Stmt| s.values().for_each(|value| value.each(&mut |e| add(e)));
    block.iter().for_each(|stmt| stmt.each(&mut values));
    found
}

/// A text on one line, in quotes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '"' | '\\' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out + "\""
}

/// `f32`, `f32x4`
fn ty(ty: ValueType) -> String {
    match ty.width {
        1 => ty.scalar.to_string(),
        width => format!("{}x{width}", ty.scalar),
    }
}

/// Who runs the iterations of a loop.
fn on(kind: LoopKind) -> String {
    match kind {
        LoopKind::Global(d) => format!("global({d})"),
        LoopKind::Group(d) => format!("group({d})"),
        LoopKind::Local(d) => format!("local({d})"),
        LoopKind::Seq => "seq".to_owned(),
        LoopKind::Unroll => "unroll".to_owned(),
    }
}

/// ` rows(4)`
fn clause((clause, numbers): (LaunchClause, Vec<u32>)) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!(" {}({})", clause.name(), numbers.join(", "))
}
