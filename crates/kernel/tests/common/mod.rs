//! Kernels built by hand, and the compiler of the system.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use lift_ir::{
    AtomicOp, BinaryOp, Extern, Facts, Literal, Math, Nat, Pred, Scalar, Space, Type, UnaryOp, Var,
};
use lift_kernel::{
    Access, Arg, Barrier, Buffer, BufferId, Expr, Fence, Ids, Kernel, Launch, Loop, LoopKind, Runs,
    Schedule, Stmt, Usage, ValueType, Variable,
};

pub fn int(v: i128) -> Nat {
    Nat::int(v)
}

pub fn nat(name: &str) -> Nat {
    Nat::var(&Var::named(name))
}

pub fn var(name: &str, ty: ValueType) -> Variable {
    Variable { id: Var::named(name), ty }
}

pub fn f32s(name: &str) -> Variable {
    var(name, ValueType::scalar(Scalar::F32))
}

pub fn value(var: &Variable) -> Expr {
    Expr::Var(var.clone())
}

pub fn f32_of(v: f32) -> Expr {
    Expr::Literal(Literal::f32(v))
}

pub fn literal(scalar: Scalar, v: i128) -> Expr {
    match scalar {
        Scalar::Bool => Expr::Literal(Literal::Bool(v != 0)),
        _ => Expr::Literal(Literal::float(scalar, v as f64).or(Literal::int(scalar, v)).unwrap()),
    }
}

pub fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

pub fn add(a: Expr, b: Expr) -> Expr {
    binary(BinaryOp::Add, a, b)
}

pub fn mul(a: Expr, b: Expr) -> Expr {
    binary(BinaryOp::Mul, a, b)
}

pub fn unary(op: UnaryOp, a: Expr) -> Expr {
    Expr::Unary(op, Box::new(a))
}

pub fn math(math: Math, args: &[Expr]) -> Expr {
    Expr::Math(math, args.to_vec())
}

pub fn cast(ty: ValueType, a: Expr) -> Expr {
    Expr::Cast(ty, Box::new(a))
}

/// The text of a kernel for a processor.
pub fn in_c(kernel: &Kernel) -> String {
    let mut kernel = kernel.clone();
    lift_lower::for_processor(&mut kernel);
    match lift_kernel::validate(&kernel) {
        Ok(valid) => lift_kernel::c(&valid),
        Err(errors) => panic!("{}", errors.join("\n")),
    }
}

pub fn buffer(id: u32, name: &str, scalar: Scalar, length: Nat, space: Space) -> Buffer {
    Buffer {
        id: BufferId(id),
        name: name.to_owned(),
        scalar,
        length,
        stages: 1,
        space,
        items: Vec::new(),
        align: if space == Space::Private { scalar.bytes() as u32 } else { 64 },
        heap: false,
    }
}

pub fn global(id: u32, name: &str, scalar: Scalar, usage: Usage) -> Arg {
    Arg::Buffer(buffer(id, name, scalar, nat("N"), Space::Global), usage)
}

pub fn at(id: u32, index: Nat) -> Access {
    vector_at(id, index, 1, false)
}

pub fn vector_at(id: u32, index: Nat, width: u32, aligned: bool) -> Access {
    Access { buffer: BufferId(id), index, items: Vec::new(), stage: Nat::ZERO, width, aligned }
}

pub fn load(scalar: Scalar, access: Access) -> Expr {
    let ty = ValueType::vector(scalar, access.width);
    Expr::Load(access, ty)
}

pub fn store(access: Access, value: Expr) -> Stmt {
    Stmt::Store { access, value }
}

pub fn declare(var: &Variable, value: Expr) -> Stmt {
    Stmt::Declare { var: var.clone(), value: Some(value) }
}

pub fn assign(var: &Variable, value: Expr) -> Stmt {
    Stmt::Assign { var: var.clone(), value }
}

pub fn a_loop(kind: LoopKind, var: &str, extent: Nat, body: Vec<Stmt>) -> Stmt {
    Stmt::Loop(Loop::new(Var::named(var), kind, extent, body))
}

pub fn kernel(name: &str, args: Vec<Arg>, body: Vec<Stmt>) -> Kernel {
    Kernel {
        name: name.to_owned(),
        args,
        locals: Vec::new(),
        privates: Vec::new(),
        body,
        launch: Launch::default(),
        schedule: Schedule::default(),
        wide_indices: false,
        facts: Facts::new(),
        runs: Runs::Loops,
        ids: Ids::default(),
    }
}

/// The kernel for devices where work-items are threads; every argument that is a size is one.
pub fn threaded(kernel: &Kernel) -> Kernel {
    let mut kernel = kernel.clone();
    for arg in &kernel.args {
        if let Arg::Size(var) = arg {
            kernel.facts.size(var);
        }
    }
    lift_lower::for_threads(&mut kernel, true);
    kernel
}

pub fn size(name: &str) -> Arg {
    Arg::Size(Var::named(name))
}

/// `y = alpha * x + y`, one element a work-item.
pub fn saxpy() -> Kernel {
    let alpha = f32s("alpha");
    let x = load(Scalar::F32, at(0, nat("i")));
    let y = load(Scalar::F32, at(1, nat("i")));
    let body = vec![store(at(1, nat("i")), add(mul(value(&alpha), x), y))];
    let mut kernel = kernel(
        "saxpy",
        vec![
            global(0, "x", Scalar::F32, Usage::Read),
            global(1, "y", Scalar::F32, Usage::ReadWrite),
            Arg::Scalar(alpha),
            size("N"),
        ],
        vec![
            Stmt::Comment("alpha * x + y".to_owned()),
            a_loop(LoopKind::Global(0), "i", nat("N"), body),
        ],
    );
    kernel.launch = Launch { global: vec![nat("N")], local: vec![int(128)] };
    kernel
}

/// The same where the size is known.
pub fn saxpy_1024() -> Kernel {
    let mut kernel = saxpy();
    kernel.name = "saxpy_1024".to_owned();
    kernel.launch.global = vec![int(1024)];
    if let Some(Stmt::Loop(l)) = kernel.body.last_mut() {
        l.extent = int(1024);
    }
    kernel
}

/// Sums chunks of 128 in a tree in local memory, 64 work-items a group.
pub fn partial_sum() -> Kernel {
    let acc = f32s("acc");
    let item = |id, at_index| load(Scalar::F32, at(id, at_index));
    let first = vec![
        declare(&acc, f32_of(0.0)),
        a_loop(
            LoopKind::Unroll,
            "k",
            int(2),
            vec![assign(
                &acc,
                add(value(&acc), item(0, nat("w") * int(128) + nat("l") * int(2) + nat("k"))),
            )],
        ),
        store(at(2, nat("l")), value(&acc)),
    ];
    let step = vec![Stmt::If {
        condition: Expr::Test(Pred::Lt(nat("m"), int(32))),
        then: vec![store(at(2, nat("m")), add(item(2, nat("m")), item(2, nat("m") + int(32))))],
        otherwise: Vec::new(),
    }];
    let last = vec![store(at(1, nat("w")), item(2, nat("o")))];
    let body = vec![
        a_loop(LoopKind::Local(0), "l", int(64), first),
        Stmt::Barrier(Barrier::group(Fence::Local)),
        a_loop(LoopKind::Local(0), "m", int(64), step),
        Stmt::Barrier(Barrier::group(Fence::Local)),
        a_loop(LoopKind::Local(0), "o", int(1), last),
    ];
    let mut kernel = kernel(
        "partial_sum",
        vec![
            global(0, "x", Scalar::F32, Usage::Read),
            global(1, "sums", Scalar::F32, Usage::Write),
            size("N"),
        ],
        vec![a_loop(LoopKind::Group(0), "w", nat("N").div(&int(128)), body)],
    );
    kernel.locals = vec![buffer(2, "tile", Scalar::F32, int(64), Space::Local)];
    kernel.launch = Launch { global: vec![nat("N").div(&int(2))], local: vec![int(64)] };
    kernel
}

/// Scales a matrix by vectors of four; every work-item holds two of four rows across a barrier.
pub fn held_rows() -> Kernel {
    let v = ValueType::vector(Scalar::F32, 4);
    let row = var("row", v);
    let held = |p: &str| Access { items: vec![nat(p)], ..vector_at(2, int(0), 4, true) };
    let place = |p: &str| nat("g") * int(16) + nat(p) * int(4);
    let read = vec![
        declare(&row, load(Scalar::F32, vector_at(0, place("p"), 4, true))),
        store(held("p"), mul(value(&row), f32_of(0.5))),
    ];
    let write = vec![store(
        vector_at(1, place("q"), 4, false),
        add(load(Scalar::F32, held("q")), load(Scalar::F32, vector_at(1, place("q"), 4, true))),
    )];
    let body = vec![
        a_loop(LoopKind::Local(0), "p", int(4), read),
        Stmt::Barrier(Barrier::group(Fence::Both)),
        a_loop(LoopKind::Local(0), "q", int(4), write),
    ];
    let mut kernel = kernel(
        "held_rows",
        vec![
            global(0, "x", Scalar::F32, Usage::Read),
            global(1, "y", Scalar::F32, Usage::ReadWrite),
            size("N"),
        ],
        vec![a_loop(
            LoopKind::Group(1),
            "h",
            int(1),
            vec![a_loop(LoopKind::Group(0), "g", nat("N").div(&int(16)), body)],
        )],
    );
    kernel.privates = vec![Buffer {
        items: vec![int(4)],
        ..buffer(2, "rows", Scalar::F32, int(4), Space::Private)
    }];
    kernel.launch = Launch { global: vec![int(64)], local: vec![int(2)] };
    kernel
}

/// `r[k] = f(x[k], y[k])` for every value that `f` makes of a scalar type at these widths.
pub fn elementwise(
    name: &str,
    scalar: Scalar,
    widths: &[u32],
    f: &dyn Fn(Expr, Expr, u32) -> Vec<Expr>,
) -> Kernel {
    let mut args = vec![global(0, "x", scalar, Usage::Read), global(1, "y", scalar, Usage::Read)];
    let mut body = Vec::new();
    let mut id = 2;
    for &width in widths {
        let place = |id, aligned| vector_at(id, nat("i") * int(width.into()), width, aligned);
        let x = load(scalar, place(0, true));
        let y = load(scalar, place(1, false));
        for result in f(x, y, width) {
            let ty = result.ty();
            args.push(global(id, &format!("r{id}"), ty.scalar, Usage::Write));
            let place = vector_at(id, nat("i") * int(ty.width.into()), ty.width, true);
            body.push(store(place, result));
            id += 1;
        }
    }
    args.push(size("N"));
    kernel(name, args, vec![a_loop(LoopKind::Global(0), "i", nat("N"), body)])
}

pub fn operations(x: Expr, y: Expr, width: u32) -> Vec<Expr> {
    let scalar = x.ty().scalar;
    let mut all = Vec::new();
    for &op in BinaryOp::ALL {
        let applies = match op {
            _ if op.is_comparison() => true,
            _ if op.is_logical() => scalar == Scalar::Bool,
            _ if op.is_bitwise() => scalar.is_integer(),
            _ => scalar.is_number(),
        };
        if !applies {
            continue;
        }
        all.push(binary(op, x.clone(), y.clone()));
        // A scalar beside a vector, on either side.
        all.push(binary(op, x.clone(), literal(scalar, 1)));
        all.push(binary(op, literal(scalar, 1), y.clone()));
        all.push(binary(op, binary(op, x.clone(), y.clone()), binary(op, y.clone(), x.clone())));
        if op.is_comparison() {
            all.pop();
        }
    }
    let op = if scalar == Scalar::Bool { UnaryOp::Not } else { UnaryOp::Neg };
    all.push(unary(op, unary(op, x.clone())));
    if scalar != Scalar::Bool {
        all.push(unary(op, literal(scalar, i128::from(!scalar.is_signed_integer()))));
    }
    for to in Scalar::ALL {
        all.push(cast(ValueType::vector(to, width), x.clone()));
    }
    let less = binary(BinaryOp::Lt, x.clone(), y.clone());
    all.push(math(Math::Select, &[less.clone(), x.clone(), literal(scalar, 0)]));
    all.push(math(Math::Select, &[Expr::Literal(Literal::Bool(true)), x.clone(), y.clone()]));
    if width == 1 {
        all.push(Expr::Select(Box::new(less), Box::new(x.clone()), Box::new(y.clone())));
        for width in [2, 3, 4, 8, 16] {
            all.push(Expr::Splat(width, Box::new(x.clone())));
            all.push(Expr::Vector(scalar, vec![x.clone(); width as usize]));
        }
    } else {
        all.push(Expr::Lane(Box::new(x.clone()), width - 1));
        all.push(Expr::Lane(Box::new(binary(BinaryOp::Eq, x.clone(), y.clone())), 1));
    }
    if scalar == Scalar::Bool {
        return all;
    }
    for &function in Math::ALL {
        let others = matches!(function, Math::Select | Math::Dot | Math::Clamp);
        if !others && function.operands().take(scalar) {
            let args = [x.clone(), y.clone(), literal(scalar, 2)];
            all.push(math(function, &args[..function.arity()]));
        }
    }
    if scalar.is_integer() {
        all.push(unary(UnaryOp::BitNot, unary(UnaryOp::BitNot, x.clone())));
        all.push(binary(BinaryOp::Shl, x.clone(), literal(scalar, 3)));
    }
    all.push(math(Math::Min, &[x.clone(), y.clone()]));
    all.push(math(Math::Max, &[literal(scalar, 3), y.clone()]));
    all.push(math(Math::Clamp, &[x.clone(), literal(scalar, 0), y.clone()]));
    if width > 1 {
        all.push(math(Math::Dot, &[x.clone(), y.clone()]));
    }
    if scalar.is_float() {
        for special in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0, 1e-5, -1.5, 65504.0] {
            all.push(Expr::Literal(Literal::float(scalar, special).unwrap()));
        }
    }
    if let Some((low, high)) = scalar.integer_range() {
        all.push(literal(scalar, low));
        all.push(literal(scalar, high));
    }
    all
}

/// Index values, branches, loops that are none, externs, both ways to have arrays.
pub fn statements() -> Kernel {
    let i32s = ValueType::scalar(Scalar::I32);
    let function = Arc::new(Extern {
        name: "twice".to_owned(),
        targets: vec!["c".to_owned()],
        params: vec![("v".to_owned(), Type::Scalar(Scalar::I32))],
        ret: Type::Scalar(Scalar::I32),
        code: "return 2 * v;".to_owned(),
    });
    let t = var("t", i32s);
    let flag = var("flag", ValueType::scalar(Scalar::Bool));
    let body = vec![
        Stmt::Index { var: Var::named("j"), value: load(Scalar::I32, at(0, nat("g"))) },
        Stmt::Declare { var: t.clone(), value: None },
        Stmt::If {
            condition: binary(
                BinaryOp::Or,
                value(&flag),
                Expr::Test(Pred::And(vec![
                    Pred::Le(int(0), nat("j")),
                    Pred::Lt(nat("j"), Nat::min(&nat("N"), &int(100))),
                ])),
            ),
            then: vec![assign(
                &t,
                Expr::Extern(function, vec![load(Scalar::I32, at(0, nat("j")))]),
            )],
            otherwise: vec![assign(&t, Expr::Index(nat("g") + nat("N").log2(), Scalar::I32))],
        },
        a_loop(LoopKind::Seq, "once", int(1), vec![store(at(2, nat("once")), value(&t))]),
        a_loop(
            LoopKind::Local(0),
            "l",
            int(4),
            vec![a_loop(LoopKind::Seq, "s", nat("N"), vec![store(at(3, nat("s")), value(&t))])],
        ),
        Stmt::Barrier(Barrier::group(Fence::Global)),
        a_loop(
            LoopKind::Local(0),
            "m",
            int(1),
            vec![store(
                at(1, nat("g")),
                add(load(Scalar::I32, at(3, nat("g"))), load(Scalar::I32, at(2, int(0)))),
            )],
        ),
    ];
    let mut kernel = kernel(
        "statements",
        vec![
            global(0, "x", Scalar::I32, Usage::Read),
            global(1, "r", Scalar::I32, Usage::Write),
            Arg::Scalar(flag),
            size("N"),
        ],
        vec![a_loop(LoopKind::Group(0), "g", nat("N"), body)],
    );
    kernel.privates = vec![buffer(2, "own", Scalar::I32, int(4), Space::Private)];
    kernel.locals = vec![buffer(3, "shared_row", Scalar::I32, int(100_000), Space::Local)];
    kernel
}

/// The types of which elements are changed as one step.
pub const CHANGED: [Scalar; 6] =
    [Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64, Scalar::F32, Scalar::F64];

/// Every change as one step of every type, by 3.
pub fn changes() -> Kernel {
    let mut args = Vec::new();
    let mut body = Vec::new();
    for (id, scalar) in (0..).zip(CHANGED) {
        args.push(global(id, &format!("{scalar}s"), scalar, Usage::ReadWrite));
        for (at_op, op) in (0..).zip(AtomicOp::ALL).filter(|(_, op)| op.takes(scalar)) {
            let access = at(id, nat("g") + int(at_op));
            body.push(Stmt::Atomic { op, access, value: literal(scalar, 3) });
        }
    }
    args.push(size("N"));
    kernel("changes", args, vec![a_loop(LoopKind::Global(0), "g", nat("N") - int(5), body)])
}

/// Every operation of every scalar type: as scalars, and of every width of vectors for some types.
pub fn all_operations() -> Vec<Kernel> {
    let kernel = |scalar: Scalar| {
        let widths: &[u32] = match scalar {
            Scalar::F32 | Scalar::I32 => &[1, 2, 3, 4, 8, 16],
            Scalar::F64 | Scalar::Bool => &[1, 3, 16],
            _ => &[1, 3, 4],
        };
        elementwise(&format!("all_{scalar}"), scalar, widths, &operations)
    };
    Scalar::ALL.map(kernel).to_vec()
}

/// A folder of this test, made anew.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

const FLAGS: [&str; 6] = ["-std=gnu11", "-O2", "-Wall", "-Werror", "-fopenmp", "-fwrapv"];

/// Compiles C text to a shared library, which has to work without a warning.
pub fn compile_library(folder: &Path, name: &str, text: &str) {
    let source = folder.join(format!("{name}.c"));
    std::fs::write(&source, text).unwrap();
    let mut command = Command::new("cc");
    command.args(FLAGS).args(["-shared", "-fPIC", "-o"]);
    command.arg(folder.join(format!("{name}.so"))).arg(&source).arg("-lm");
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}\n{text}");
}

/// Compiles kernels with a `main` and gives what it prints.
pub fn run(folder: &Path, name: &str, text: &str) -> String {
    let source = folder.join(format!("{name}.c"));
    std::fs::write(&source, text).unwrap();
    let program = folder.join(name);
    let mut command = Command::new("cc");
    command.args(FLAGS).arg("-o").arg(&program).arg(&source).arg("-lm");
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}\n{text}");
    let output = Command::new(&program).output().unwrap();
    assert!(output.status.success(), "{name} ended with {}\n{text}", output.status);
    String::from_utf8(output.stdout).unwrap()
}
