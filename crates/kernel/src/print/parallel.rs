//! The parallel loops of a C kernel, and the arrays that each of their threads has.

use lift_ir::{Nat, Var};

use super::c::C;
use super::code::Code;
use super::text::Level;
use crate::uses::buffers_in;
use crate::walk::only_loop;
use crate::{Buffer, Loop, Sharing, Stmt};

/// Allocated arrays are aligned to this many bytes at least.
const HEAP_ALIGN: u32 = 64;

/// How often threads take iterations of a loop of which a thread takes a few at a time.
const TURNS: i128 = 1024;

/// A loop that threads share, with so many right inside it, as one parallel loop.
pub(super) fn shared(code: &mut Code<'_, C>, l: &Loop, inside: u8, sharing: Sharing) {
    let mut nest: Vec<&Loop> = vec![l];
    let mut body = &l.body;
    for _ in 0..inside {
        let Some(inner) = only_loop(body) else { break };
        nest.push(inner);
        body = &inner.body;
    }
    // A loop of one iteration is none.
    let (once, many): (Vec<&Loop>, Vec<&Loop>) =
        nest.into_iter().partition(|l| l.extent == Nat::ONE);
    for l in &once {
        code.known.insert(l.var.clone(), Nat::ZERO);
    }
    let arrays = Arrays::of(code, body);
    let clauses = clauses(code, &many, sharing);
    if many.is_empty() {
        code.block("", |code| {
            arrays.allocate(code);
            arrays.declare(code);
            code.stmts(body);
            arrays.free(code);
        });
    } else if arrays.heap.is_empty() {
        nested(code, &arrays, &format!("#pragma omp parallel for{clauses}"), &many, body);
    } else {
        code.line("#pragma omp parallel");
        code.block("", |code| {
            arrays.allocate(code);
            nested(code, &arrays, &format!("#pragma omp for{clauses}"), &many, body);
            arrays.free(code);
        });
    }
    for l in &once {
        code.known.remove(&l.var);
    }
}

/// The body of a kernel without parallel loops.
pub(super) fn sequential(code: &mut Code<'_, C>, body: &[Stmt]) {
    let arrays = Arrays::of(code, body);
    arrays.allocate(code);
    arrays.declare(code);
    code.stmts(body);
    arrays.free(code);
}

fn nested(
    code: &mut Code<'_, C>,
    arrays: &Arrays<'_>,
    pragma: &str,
    loops: &[&Loop],
    body: &[Stmt],
) {
    code.line(pragma);
    let vars: Vec<(&Var, &Nat)> = loops.iter().map(|l| (&l.var, &l.extent)).collect();
    nest(code, &vars, &mut |code| {
        arrays.declare(code);
        code.stmts(body);
    });
}

/// What a pragma says of the loops that threads share.
fn clauses(code: &Code<'_, C>, loops: &[&Loop], sharing: Sharing) -> String {
    let collapse = match loops.len() {
        0 | 1 => String::new(),
        n => format!(" collapse({n})"),
    };
    match sharing {
        Sharing::Static => collapse,
        Sharing::Dynamic => {
            let all = loops.iter().fold(Nat::ONE, |all, l| all * &l.extent);
            let at_once = all.div(&Nat::int(TURNS)) + Nat::ONE;
            format!("{collapse} schedule(dynamic, {})", code.nat(&at_once).text)
        }
    }
}

fn nest(code: &mut Code<'_, C>, loops: &[(&Var, &Nat)], body: &mut dyn FnMut(&mut Code<'_, C>)) {
    let Some(((v, extent), inner)) = loops.split_first() else { return body(code) };
    let extent = code.nat(extent).at(Level::Sum);
    let (ty, v) = (code.index_type(), code.name(v));
    let head = format!("for ({ty} {v} = 0; {v} < {extent}; ++{v}) ");
    code.block(&head, |code| nest(code, inner, body));
}

/// The local and private arrays that a piece of a kernel uses, with their lengths.
struct Arrays<'k> {
    stack: Vec<(&'k Buffer, Nat)>,
    heap: Vec<(&'k Buffer, Nat)>,
}

impl<'k> Arrays<'k> {
    fn of(code: &Code<'k, C>, body: &[Stmt]) -> Arrays<'k> {
        let used = buffers_in(body);
        let own = code.kernel.locals.iter().chain(&code.kernel.privates);
        let own = own.filter(|buffer| used.contains(&buffer.id));
        let length =
            |buffer: &'k Buffer| (buffer, buffer.items.iter().fold(buffer.total(), |n, m| n * m));
        let (heap, stack) = own.map(length).partition(|(buffer, _)| buffer.heap);
        Arrays { stack, heap }
    }

    fn declare(&self, code: &mut Code<'_, C>) {
        for (buffer, length) in &self.stack {
            let ty = code.memory(buffer.scalar);
            let align = match buffer.align as usize > buffer.scalar.bytes() {
                true => format!(" __attribute__((aligned({})))", buffer.align),
                false => String::new(),
            };
            let length = code.nat(length).text;
            code.line(&format!("{ty} {}[{length}]{align};", code.array(buffer.id)));
        }
    }

    fn allocate(&self, code: &mut Code<'_, C>) {
        for (buffer, length) in &self.heap {
            code.headers.insert("stdlib.h");
            code.helper(ALLOCATE.to_owned());
            let ty = code.memory(buffer.scalar);
            let align = buffer.align.max(HEAP_ALIGN);
            let bytes = code.nat(&(length.clone() * Nat::int(buffer.scalar.bytes() as i128))).text;
            code.line(&format!(
                "{ty}* restrict {} = lift_allocate({align}, {bytes});",
                code.array(buffer.id)
            ));
        }
    }

    fn free(&self, code: &mut Code<'_, C>) {
        for (buffer, _) in &self.heap {
            code.line(&format!("free({});", code.array(buffer.id)));
        }
    }
}

const ALLOCATE: &str = "static inline void* lift_allocate(int64_t align, int64_t bytes) {
  void* p = aligned_alloc(align, (bytes + align - 1) / align * align);
  if (!p) abort();
  return p;
}";
