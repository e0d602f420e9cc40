//! Kernels that differ in names alone are the same; others are not.

#![allow(clippy::unwrap_used)]

mod common;

use common::{held_rows, int, partial_sum, saxpy, saxpy_1024, statements, threaded};
use lift_ir::{Nat, Pred, Var};
use lift_kernel::{
    Access, Arg, Buffer, BufferId, Edit, Kernel, Runs, Stmt, Variable, canonical_names, opencl,
    same_up_to_names, validate,
};

/// Every name with its letters counted from the end of the alphabet, so that names that were in order are out
/// of order; every buffer with another number.
struct Mirror;

fn mirror(name: &str) -> String {
    let letter = |c: char| match c {
        'a'..='z' => char::from(b'a' + (b'z' - c as u8)),
        'A'..='Z' => char::from(b'A' + (b'Z' - c as u8)),
        other => other,
    };
    name.chars().map(letter).collect()
}

fn mirror_index(var: &Var) -> Var {
    Var::with_id(&mirror(var.name()), var.id())
}

fn mirror_id(id: BufferId) -> BufferId {
    BufferId(1000 - id.0)
}

impl Edit for Mirror {
    fn nat(&mut self, nat: &Nat) -> Nat {
        nat.substitute(&|v| Some(Nat::var(&mirror_index(v))))
    }

    fn pred(&mut self, pred: &Pred) -> Pred {
        pred.substitute(&|v| Some(Nat::var(&mirror_index(v))))
    }

    fn variable(&mut self, var: &Variable) -> Variable {
        Variable { id: mirror_index(&var.id), ..*var }
    }

    fn bound(&mut self, var: &Var) -> Var {
        mirror_index(var)
    }

    fn access(&mut self, access: &Access) -> Access {
        Access { buffer: mirror_id(access.buffer), ..self.access_parts(access) }
    }
}

fn mirrored_buffer(buffer: &Buffer) -> Buffer {
    Buffer {
        id: mirror_id(buffer.id),
        name: mirror(&buffer.name),
        length: Mirror.nat(&buffer.length),
        items: buffer.items.iter().map(|n| Mirror.nat(n)).collect(),
        ..*buffer
    }
}

fn mirrored(kernel: &Kernel) -> Kernel {
    let mut other = kernel.clone();
    other.name = mirror(&kernel.name);
    for arg in &mut other.args {
        *arg = match arg {
            Arg::Buffer(buffer, usage) => Arg::Buffer(mirrored_buffer(buffer), *usage),
            Arg::Scalar(var) => Arg::Scalar(Mirror.variable(var)),
            Arg::Size(var) => Arg::Size(mirror_index(var)),
        };
    }
    for buffer in other.locals.iter_mut().chain(&mut other.privates) {
        *buffer = mirrored_buffer(buffer);
    }
    for count in other.launch.global.iter_mut().chain(&mut other.launch.local) {
        *count = Mirror.nat(count);
    }
    other.body = Mirror.block(&kernel.body);
    other
}

/// Kernels in which work-items are loops, and the same in which they are threads.
fn kernels() -> Vec<Kernel> {
    let mut all = vec![saxpy(), saxpy_1024(), partial_sum(), held_rows(), statements()];
    all.extend(all.iter().map(threaded).collect::<Vec<_>>());
    all
}

fn text(kernel: &Kernel) -> String {
    let named = canonical_names(kernel);
    let valid = validate(&named).unwrap();
    match named.runs {
        Runs::Loops => common::in_c(&named),
        Runs::Threads => opencl(&valid),
    }
}

#[test]
fn names_do_not_count() {
    for kernel in kernels() {
        let other = mirrored(&kernel);
        assert_ne!(kernel.body, other.body, "{}", kernel.name);
        assert!(same_up_to_names(&kernel, &other), "{}\n{}", text(&kernel), text(&other));
        assert_eq!(text(&kernel), text(&other));
    }
}

#[test]
fn names_are_numbered_in_order() {
    let text = text(&saxpy());
    assert!(text.contains("k(const float* restrict b_1, float* restrict b_2, float v_1"), "{text}");
    assert!(text.contains("b_2[i_1] = v_1 * b_1[i_1] + b_2[i_1];"), "{text}");
}

#[test]
fn different_kernels_differ() {
    let kernels = kernels();
    for (i, a) in kernels.iter().enumerate() {
        for b in kernels.iter().skip(i + 1) {
            assert!(!same_up_to_names(a, b), "{}\n{}", text(a), text(b));
        }
    }
}

/// The same names in other roles.
#[test]
fn roles_count() {
    let change = |change: &dyn Fn(&mut Kernel)| {
        let mut other = saxpy();
        change(&mut other);
        !same_up_to_names(&saxpy(), &other)
    };
    assert!(!change(&|_| {}));
    assert!(change(&|k| k.args.swap(0, 1)));
    assert!(change(&|k| k.launch.local = vec![int(64)]));
    assert!(change(&|k| k.wide_indices = true));
    assert!(change(&|k| k.body.insert(0, Stmt::Comment("y".to_owned()))));
    assert!(change(&|k| k.body = Exchange(0, 1).block(&k.body)));
}

/// Two buffers, each in the place of the other.
struct Exchange(u32, u32);

impl Edit for Exchange {
    fn access(&mut self, access: &Access) -> Access {
        let buffer = match access.buffer {
            BufferId(id) if id == self.0 => BufferId(self.1),
            BufferId(id) if id == self.1 => BufferId(self.0),
            other => other,
        };
        Access { buffer, ..access.clone() }
    }
}

#[test]
fn renaming_again_changes_nothing() {
    for kernel in kernels() {
        let once = canonical_names(&kernel);
        assert_eq!(once.body, canonical_names(&once).body);
    }
}
