//! The parallel loops of a C kernel, and the arrays that each of their threads has.

use lift_ir::{Nat, Space, Var};

use super::c::C;
use super::code::Code;
use super::text::Level;
use crate::uses::buffers;
use crate::{Buffer, Loop, LoopKind, Stmt, Variable};

/// Arrays that are larger together than this are allocated.
const MAX_STACK_BYTES: i128 = 256 * 1024;

/// Allocated arrays are aligned to this many bytes at least.
const HEAP_ALIGN: u32 = 64;

/// A loop over groups or global work-items and those directly inside it, as one parallel loop.
pub(super) fn outermost(code: &mut Code<'_, C>, l: &Loop) {
    let mut nest: Vec<&Loop> = vec![l];
    let mut body = &l.body;
    while let Some(inner) = only_loop(body)
        && matches!(inner.kind, LoopKind::Group(_) | LoopKind::Global(_))
        && nest.iter().all(|outer| !inner.extent.mentions(&outer.var))
    {
        nest.push(inner);
        body = &inner.body;
    }
    // The innermost loop over work-items is one to be made vector code of.
    let holds_loop = body.iter().any(|s| s.blocks().iter().any(|b| !b.is_empty()));
    if nest.len() > 1
        && matches!(l.kind, LoopKind::Global(_))
        && !holds_loop
        && let Some(inner) = nest.pop()
    {
        body = nest.last().map_or(&inner.body, |outer| &outer.body);
    }
    // A loop of one iteration is none.
    let (once, many): (Vec<&Loop>, Vec<&Loop>) =
        nest.into_iter().partition(|l| l.extent == Nat::ONE);
    for l in &once {
        code.known.insert(l.var.clone(), Nat::ZERO);
    }
    let arrays = Arrays::of(code, body);
    if many.is_empty() {
        code.block("", |code| {
            arrays.allocate(code);
            arrays.declare(code);
            code.stmts(body);
            arrays.free(code);
        });
    } else if arrays.heap.is_empty() {
        nested(code, &arrays, "#pragma omp parallel for", &many, body);
    } else {
        code.line("#pragma omp parallel");
        code.block("", |code| {
            arrays.allocate(code);
            nested(code, &arrays, "#pragma omp for", &many, body);
            arrays.free(code);
        });
    }
    for l in &once {
        code.known.remove(&l.var);
    }
}

/// Whether a loop is to be marked: no iteration reads what another wrote, but there are so many stores that GCC, which
/// forgets in parallel loops which pointers are `restrict`, does not find out.
pub(super) fn is_independent(code: &Code<'_, C>, l: &Loop) -> bool {
    let mut own: Vec<&Variable> = Vec::new();
    let mut stores = 0;
    let is_independent = l.body.iter().all(|stmt| match stmt {
        Stmt::Comment(_) | Stmt::Index { .. } => true,
        Stmt::Declare { var, .. } => {
            own.push(var);
            true
        }
        Stmt::Assign { var, .. } => own.contains(&var),
        Stmt::Store { access, .. } => {
            stores += 1;
            code.buffer(access.buffer).0.space == Space::Global
        }
        Stmt::Place { .. } | Stmt::Loop(_) | Stmt::If { .. } | Stmt::Barrier(_) | Stmt::Stop(_) => {
            false
        }
    });
    // A loop of one iteration is none.
    let is_loop = matches!(l.kind, LoopKind::Global(_)) && l.extent != Nat::ONE;
    is_loop && is_independent && stores > 1
}

/// The loop that a block is, beside what is said about it.
fn only_loop(block: &[Stmt]) -> Option<&Loop> {
    let mut stmts = block.iter().filter(|stmt| !matches!(stmt, Stmt::Comment(_)));
    match (stmts.next(), stmts.next()) {
        (Some(Stmt::Loop(l)), None) => Some(l),
        _ => None,
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
    let collapse = match loops.len() {
        1 => String::new(),
        n => format!(" collapse({n})"),
    };
    code.line(&format!("{pragma}{collapse}"));
    let vars: Vec<(&Var, &Nat)> = loops.iter().map(|l| (&l.var, &l.extent)).collect();
    nest(code, &vars, &mut |code| {
        arrays.declare(code);
        code.stmts(body);
    });
}

fn nest(code: &mut Code<'_, C>, loops: &[(&Var, &Nat)], body: &mut dyn FnMut(&mut Code<'_, C>)) {
    let Some(((v, extent), inner)) = loops.split_first() else { return body(code) };
    let extent = code.nat(extent).at(Level::Sum);
    let (ty, v) = (code.index_type(), code.name(v));
    let head = format!("for ({ty} {v} = 0; {v} < {extent}; ++{v}) ");
    code.block(&head, |code| nest(code, inner, body));
}

/// The local and private arrays that a piece of a kernel uses.
struct Arrays<'k> {
    stack: Vec<(&'k Buffer, i128)>,
    heap: Vec<(&'k Buffer, Nat)>,
}

impl<'k> Arrays<'k> {
    fn of(code: &Code<'k, C>, body: &[Stmt]) -> Arrays<'k> {
        let used = buffers(body);
        let kernel = code.kernel;
        let mut arrays = Arrays { stack: Vec::new(), heap: Vec::new() };
        let mut room = MAX_STACK_BYTES;
        for buffer in kernel.locals.iter().chain(&kernel.privates) {
            if !used.contains(&buffer.id) {
                continue;
            }
            let length = buffer.items.iter().fold(buffer.total(), |n, m| n * m);
            let bytes = |n: i128| n.checked_mul(buffer.scalar.bytes() as i128);
            match length.as_int().and_then(|n| Some((n, bytes(n)?))) {
                Some((n, bytes)) if bytes <= room => {
                    room -= bytes;
                    arrays.stack.push((buffer, n));
                }
                _ => arrays.heap.push((buffer, length)),
            }
        }
        arrays
    }

    fn declare(&self, code: &mut Code<'_, C>) {
        for (buffer, length) in &self.stack {
            let ty = code.memory(buffer.scalar);
            let align = match buffer.align as usize > buffer.scalar.bytes() {
                true => format!(" __attribute__((aligned({})))", buffer.align),
                false => String::new(),
            };
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
