//! Kernels that count what they do.
//!
//! Every access, branch, loop body, barrier and operation calls a function that counts it. A kernel of threads
//! becomes one that is a single thread, whose place the functions know: what is left is sequential C.

use std::sync::Arc;

use lift_ir::{Extern, Math, Nat, Scalar, Space, Type, Var};
use lift_kernel::{
    Access, Arg, Buffer, Edit, Expr, Ids, Kernel, Loop, LoopKind, Mark, Replace, Runs, Stmt,
    ValueType, Variable,
};

/// One of what is counted, in the units of the counters: divisible by the width of any vector.
pub const UNIT: i128 = 48;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum What {
    GlobalLoads,
    GlobalStores,
    LocalLoads,
    LocalStores,
    PrivateAccesses,
    Barriers,
    Ifs,
    Selects,
    LoopBodies,
    Flops,
}

/// The counters and the names of the features they check.
pub const COUNTERS: [(What, &str); 10] = [
    (What::GlobalLoads, "global_loads"),
    (What::GlobalStores, "global_stores"),
    (What::LocalLoads, "local_loads"),
    (What::LocalStores, "local_stores"),
    (What::PrivateAccesses, "private_accesses"),
    (What::Barriers, "barriers"),
    (What::Ifs, "ifs"),
    (What::Selects, "selects"),
    (What::LoopBodies, "loop_bodies"),
    (What::Flops, "flops"),
];

/// The kernel with counters. `threads` are the threads that share a loop of a kind.
pub fn instrument(kernel: &Kernel, threads: &dyn Fn(LoopKind) -> i128) -> Kernel {
    let mut edit = Instrument { ids: kernel.ids.clone(), kernel, threads };
    let body = edit.block(&kernel.body);
    Kernel { body, runs: Runs::Loops, ..kernel.clone() }
}

struct Instrument<'k> {
    kernel: &'k Kernel,
    ids: Ids,
    threads: &'k dyn Fn(LoopKind) -> i128,
}

impl Instrument<'_> {
    fn buffer(&self, access: &Access) -> &Buffer {
        let own = self.kernel.locals.iter().chain(&self.kernel.privates);
        let args = self.kernel.args.iter().filter_map(|arg| match arg {
            Arg::Buffer(buffer, _) => Some(buffer),
            Arg::Scalar(_) | Arg::Size(_) => None,
        });
        own.chain(args).find(|b| b.id == access.buffer).unwrap()
    }

    /// A statement that counts.
    fn tick(&mut self, what: What) -> Stmt {
        let name = format!("tick_{}", what as usize);
        let code = format!("lift_count[{}] += {UNIT}; return 0;", what as usize);
        let ty = ValueType::scalar(Scalar::I32);
        let value = call(&name, Vec::new(), &code, ty);
        let var = Variable { id: self.ids.fresh("ticked"), ty };
        Stmt::Declare { var, value: Some(value) }
    }

    fn load(&self, access: &Access, ty: ValueType, units: i128) -> Expr {
        let what = match self.buffer(access).space {
            Space::Global => What::GlobalLoads,
            Space::Local => What::LocalLoads,
            Space::Private => What::PrivateAccesses,
        };
        counted(Expr::Load(access.clone(), ty), what, units)
    }

    /// The place of the thread in a dimension.
    fn place(&self, kind: LoopKind) -> Expr {
        let (name, row, d) = match kind {
            LoopKind::Global(d) => ("global", 0, d),
            LoopKind::Group(d) => ("group", 1, d),
            LoopKind::Local(d) => ("local", 2, d),
            LoopKind::Seq | LoopKind::Unroll => panic!("no place in a loop of one thread"),
        };
        let code = format!("return lift_place[{row}][{d}];");
        call(&format!("place_{name}_{d}"), Vec::new(), &code, ValueType::scalar(Scalar::I64))
    }

    /// A loop with a stride as one without: `place, place + threads ..` are `place + threads * round`.
    fn rounds(&mut self, l: &Loop, made: &mut Vec<Stmt>) {
        let place = self.ids.fresh("at_place");
        made.push(Stmt::Index { var: place.clone(), value: self.place(l.kind) });
        let round = self.ids.fresh("in_round");
        let threads = Nat::int((self.threads)(l.kind));
        let at = Nat::var(&place) + &threads * Nat::var(&round);
        let value = |v: &Var| (*v == l.var).then(|| at.clone());
        let body = Replace { value: &value, simplify: &Nat::clone }.block(&l.body);
        let body = self.counted_body(&body);
        let left = &l.extent + &threads - Nat::ONE - Nat::var(&place);
        let extent = left.div(&threads);
        made.push(Stmt::Loop(Loop::new(round, LoopKind::Seq, extent, body)));
    }

    fn counted_body(&mut self, body: &[Stmt]) -> Vec<Stmt> {
        let mut counted = vec![self.tick(What::LoopBodies)];
        counted.extend(self.block(body));
        counted
    }

    fn a_loop(&mut self, l: &Loop, made: &mut Vec<Stmt>) {
        let shared = !matches!(l.kind, LoopKind::Seq | LoopKind::Unroll);
        if shared && self.kernel.runs == Runs::Threads {
            return self.rounds(l, made);
        }
        // A loop of one iteration is printed as its body; one that is written out is none.
        let body = match l.kind == LoopKind::Unroll || l.extent == Nat::ONE {
            true => self.block(&l.body),
            false => self.counted_body(&l.body),
        };
        // One thread counts.
        made.push(Stmt::Loop(Loop { body, mark: Mark::None, ..l.clone() }));
    }
}

impl Edit for Instrument<'_> {
    fn expr(&mut self, expr: &Expr) -> Expr {
        match expr {
            Expr::Load(access, ty) => self.load(access, *ty, UNIT),
            Expr::Lane(vector, lane) => match vector.as_ref() {
                Expr::Load(access, ty) => {
                    let units = UNIT / i128::from(ty.width);
                    Expr::Lane(Box::new(self.load(access, *ty, units)), *lane)
                }
                _ => self.expr_parts(expr),
            },
            Expr::Select(..) => counted(self.expr_parts(expr), What::Selects, UNIT),
            Expr::Unary(_, a) if a.ty().scalar.is_float() => {
                let lanes = i128::from(a.ty().width);
                counted(self.expr_parts(expr), What::Flops, UNIT * lanes)
            }
            Expr::Binary(_, a, b) if a.ty().scalar.is_float() => {
                let lanes = a.ty().width.max(b.ty().width);
                counted(self.expr_parts(expr), What::Flops, UNIT * i128::from(lanes))
            }
            Expr::Math(math, args) if expr.ty().scalar.is_float() => {
                let lanes = args.iter().map(|a| a.ty().width).max().unwrap();
                let each = match math {
                    Math::Fma | Math::Clamp => 2 * lanes,
                    Math::Dot => 2 * lanes - 1,
                    Math::Select => panic!("programs here have no `select`"),
                    _ => lanes,
                };
                counted(self.expr_parts(expr), What::Flops, UNIT * i128::from(each))
            }
            _ => self.expr_parts(expr),
        }
    }

    fn stmt(&mut self, stmt: &Stmt, made: &mut Vec<Stmt>) {
        match stmt {
            Stmt::Loop(l) => return self.a_loop(l, made),
            Stmt::ThreadId { var, kind, .. } => {
                made.push(Stmt::Index { var: var.clone(), value: self.place(*kind) });
                return;
            }
            Stmt::Barrier(_) => {
                if self.kernel.runs == Runs::Threads {
                    let tick = self.tick(What::Barriers);
                    made.push(tick);
                }
                return;
            }
            Stmt::If { .. } | Stmt::Stop(_) => {
                let tick = self.tick(What::Ifs);
                made.push(tick);
            }
            Stmt::Store { access, .. } => {
                let what = match self.buffer(access).space {
                    Space::Global => What::GlobalStores,
                    Space::Local => What::LocalStores,
                    Space::Private => What::PrivateAccesses,
                };
                let tick = self.tick(what);
                made.push(tick);
            }
            // A load and a store.
            Stmt::Atomic { access, .. } => {
                let whats = match self.buffer(access).space {
                    Space::Global => [What::GlobalLoads, What::GlobalStores],
                    Space::Local => [What::LocalLoads, What::LocalStores],
                    Space::Private => [What::PrivateAccesses; 2],
                };
                let ticks = whats.map(|what| self.tick(what));
                made.extend(ticks);
            }
            Stmt::Comment(_) | Stmt::Declare { .. } | Stmt::Assign { .. } | Stmt::Index { .. } => {}
        }
        let stmt = self.stmt_parts(stmt);
        made.push(stmt);
    }
}

/// A value that is counted when it is computed.
fn counted(value: Expr, what: What, units: i128) -> Expr {
    let ty = value.ty();
    let name = format!("count_{}_{units}_{}x{}", what as usize, ty.scalar, ty.width);
    let code = format!("lift_count[{}] += {units}; return x;", what as usize);
    call(&name, vec![value], &code, ty)
}

fn call(name: &str, args: Vec<Expr>, code: &str, ret: ValueType) -> Expr {
    let function = Extern {
        name: name.to_owned(),
        targets: Vec::new(),
        params: args.iter().map(|a| ("x".to_owned(), as_type(a.ty()))).collect(),
        ret: as_type(ret),
        code: code.to_owned(),
    };
    Expr::Extern(Arc::new(function), args)
}

fn as_type(ty: ValueType) -> Type {
    match ty.width {
        1 => Type::Scalar(ty.scalar),
        width => Type::Vector(ty.scalar, Nat::int(width.into())),
    }
}
