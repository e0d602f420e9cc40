//! What the validator refuses: one kernel for each rule it breaks.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use lift_ir::{BinaryOp, Literal, Math, Scalar, Space, UnaryOp, Var};
use lift_kernel::{
    Access, Arg, Barrier, Buffer, BufferId, Expr, Fence, Ids, Kernel, Loop, LoopKind, Runs, Stmt,
    Usage, ValueType, Variable, target_name, validate,
};

#[track_caller]
fn refuses(kernel: &Kernel, because: &str) {
    let errors = validate(kernel).map(|_| ()).unwrap_err().join("\n");
    assert!(errors.contains(because), "no `{because}` in\n{errors}");
}

#[track_caller]
fn accepts(kernel: &Kernel) {
    if let Err(errors) = validate(kernel) {
        panic!("{}", errors.join("\n"));
    }
}

/// A kernel with a global buffer to read, one to write, and a size.
fn with(body: Vec<Stmt>) -> Kernel {
    let args = vec![
        global(0, "x", Scalar::F32, Usage::Read),
        global(1, "y", Scalar::F32, Usage::Write),
        size("N"),
    ];
    kernel("small", args, body)
}

fn with_value(value: Expr) -> Kernel {
    let var = var("v", value.ty());
    with(vec![declare(&var, value)])
}

fn x() -> Expr {
    load(Scalar::F32, at(0, int(0)))
}

fn set() -> Stmt {
    store(at(1, int(0)), x())
}

fn one() -> Expr {
    literal(Scalar::I32, 1)
}

#[test]
fn good_kernels_are_accepted() {
    for kernel in [saxpy(), saxpy_1024(), partial_sum(), held_rows(), statements()] {
        accepts(&kernel);
    }
    all_operations().iter().for_each(accepts);
}

#[test]
fn a_variable_is_bound_once() {
    let declared = || declare(&f32s("t"), f32_of(0.0));
    refuses(&with(vec![declared(), declared()]), "`t` is bound twice");
    let twice = || a_loop(LoopKind::Seq, "i", nat("N"), vec![]);
    refuses(&with(vec![twice(), twice()]), "`i` is bound twice");
    refuses(&with(vec![a_loop(LoopKind::Seq, "N", nat("N"), vec![])]), "`N` is bound twice");
}

/// Two variables of a name differ by number, and what is printed has names of its own for both.
#[test]
fn other_variables_may_have_the_same_name() {
    let ids = Ids::after(7);
    let own = || Variable { id: ids.fresh("x"), ty: ValueType::scalar(Scalar::F32) };
    let (outer, first, second) = (own(), own(), own());
    let block = |var: &Variable| {
        let again = Stmt::Assign { var: outer.clone(), value: Expr::Var(var.clone()) };
        let (value, i) = (f32_of(1.0), ids.fresh("i"));
        Stmt::Loop(Loop::new(i, LoopKind::Seq, int(2), vec![declare(var, value), again]))
    };
    let kernel = with(vec![declare(&outer, f32_of(0.0)), block(&first), block(&second)]);
    let text = in_c(&kernel);
    let wanted = "
  float x_2 = 0.0f;
  for (int64_t i = 0; i < 2; ++i) {
    float x_3 = 1.0f;
    x_2 = x_3;
  }
  for (int64_t i = 0; i < 2; ++i) {
    float x_3 = 1.0f;
    x_2 = x_3;
  }
";
    assert!(text.contains(wanted), "{text}");
}

/// Printers write names as targets take them; hosts know the one of the kernel, which is written as it is.
#[test]
fn the_name_of_a_kernel_is_one_that_targets_take() {
    for name in ["lift_min_i32", "lift_shared", "", "a b", "__x", "4x", "größe"] {
        refuses(&Kernel { name: name.to_owned(), ..with(vec![]) }, "not a name");
        accepts(&Kernel { name: target_name(name), ..with(vec![]) });
        if !name.is_empty() {
            accepts(&with(vec![declare(&f32s(name), f32_of(0.0))]));
        }
    }
}

#[test]
fn variables_are_declared_first() {
    let t = f32s("t");
    refuses(&with(vec![store(at(1, int(0)), value(&t))]), "`t` is used where it is not declared");
    refuses(&with(vec![assign(&t, x())]), "`t` is assigned where it is not declared");
    let inner = a_loop(LoopKind::Seq, "i", nat("N"), vec![declare(&t, x())]);
    refuses(&with(vec![inner, store(at(1, int(0)), value(&t))]), "`t` is used");
}

#[test]
fn indices_are_declared_first() {
    refuses(&with(vec![store(at(1, nat("i")), x())]), "`i` is used in an index");
    let over = a_loop(LoopKind::Seq, "i", nat("N"), vec![]);
    refuses(&with(vec![over, store(at(1, nat("i")), x())]), "`i` is used in an index");
    refuses(&with(vec![a_loop(LoopKind::Seq, "i", nat("M"), vec![])]), "`M` is used in an index");
    let index = Stmt::Index { var: Var::named("j"), value: x() };
    refuses(&with(vec![index]), "the index `j` is no integer");
}

#[test]
fn buffers_exist() {
    refuses(&with(vec![store(at(7, int(0)), x())]), "there is no buffer 7");
}

#[test]
fn buffers_are_as_declared() {
    let mut kernel = with(vec![]);
    kernel.locals = vec![buffer(2, "tile", Scalar::F32, int(4), Space::Private)];
    refuses(&kernel, "`tile` is declared as Local");
    kernel.locals = vec![buffer(0, "tile", Scalar::F32, int(4), Space::Local)];
    refuses(&kernel, "`tile` has the id of another buffer");
    kernel.locals[0] = Buffer { align: 2, ..buffer(2, "tile", Scalar::F32, int(4), Space::Local) };
    refuses(&kernel, "`tile` cannot be aligned to 2 bytes");
    kernel.locals[0] =
        Buffer { items: vec![int(2)], ..buffer(2, "tile", Scalar::F32, int(4), Space::Local) };
    refuses(&kernel, "`tile` is not private");
    kernel.locals = vec![buffer(2, "tile", Scalar::F32, nat("M"), Space::Local)];
    refuses(&kernel, "`M` is used in an index");
}

#[test]
fn accesses_fit_their_buffers() {
    let five = load(Scalar::F32, vector_at(0, int(0), 5, false));
    refuses(&with_value(Expr::Lane(Box::new(five), 0)), "an access to `x` is 5 wide");
    let held = Access { items: vec![int(0)], ..at(0, int(0)) };
    refuses(&with_value(load(Scalar::F32, held)), "an access names 1");
    refuses(&with_value(load(Scalar::I32, at(0, int(0)))), "`x` holds f32, and i32 is loaded");
    refuses(&with_value(load(Scalar::F32, at(1, int(0)))), "`y` is only written");
    refuses(&with(vec![store(at(0, int(0)), x())]), "`x` is only read");
    refuses(&with(vec![store(at(1, int(0)), one())]), "`y` takes f32, and i32 is stored");
    let wide = Expr::Splat(4, Box::new(x()));
    refuses(&with(vec![store(at(1, int(0)), wide)]), "`y` takes f32, and f32x4 is stored");
}

#[test]
fn types_agree() {
    let four = || Expr::Splat(4, Box::new(x()));
    let two = || Expr::Splat(2, Box::new(x()));
    refuses(&with_value(add(x(), one())), "`+` of f32 and i32");
    refuses(&with_value(add(four(), two())), "`+` of f32x4 and f32x2");
    accepts(&with_value(add(four(), x())));
    refuses(&with_value(binary(BinaryOp::And, one(), one())), "`&&` of i32");
    refuses(&with_value(unary(UnaryOp::Not, x())), "`!` of f32");
    refuses(&with_value(unary(UnaryOp::Neg, Expr::Literal(Literal::Bool(true)))), "`-` of bool");
    refuses(&with_value(math(Math::Sqrt, &[one()])), "Sqrt of i32");
    refuses(&with_value(math(Math::Min, &[x()])), "Min of f32");
    refuses(&with_value(math(Math::Dot, &[x(), x()])), "Dot of f32, f32");
    refuses(&with_value(math(Math::Select, &[x(), x(), x()])), "Select of f32, f32, f32");
    refuses(&with_value(cast(ValueType::vector(Scalar::F32, 2), x())), "f32 is cast to f32x2");
    let choose = |c, a, b| Expr::Select(Box::new(c), Box::new(a), Box::new(b));
    let yes = || Expr::Literal(Literal::Bool(true));
    refuses(&with_value(choose(x(), x(), x())), "a choice is made by f32");
    refuses(&with_value(choose(yes(), x(), one())), "a choice is between f32 and i32");
    refuses(&with_value(Expr::Vector(Scalar::F32, vec![x(), one()])), "a lane of f32 is i32");
    refuses(&with_value(Expr::Lane(Box::new(two()), 2)), "f32x2 has no lane 2");
    refuses(&with_value(Expr::Literal(Literal::Int(Scalar::I8, 200))), "200 is no i8");
    refuses(&with_value(Expr::Index(nat("N"), Scalar::F32)), "an index is no f32");
    refuses(&with(vec![declare(&f32s("t"), one())]), "t is f32, and its value i32");
    let branch = Stmt::If { condition: x(), then: vec![], otherwise: vec![] };
    refuses(&with(vec![branch]), "a condition is bool, and its value f32");
}

#[test]
fn parallel_loops_stand_outermost() {
    let group = |var: &str, body| a_loop(LoopKind::Group(0), var, nat("N"), body);
    let global = |var: &str, body| a_loop(LoopKind::Global(0), var, nat("N"), body);
    let local = |var: &str, body| a_loop(LoopKind::Local(0), var, int(4), body);
    let seq = |var: &str, body| a_loop(LoopKind::Seq, var, int(4), body);
    refuses(&with(vec![group("g", vec![set()]), global("i", vec![set()])]), "over groups and over");
    refuses(&with(vec![seq("s", vec![group("g", vec![set()])])]), "`g` is not outermost");
    refuses(&with(vec![seq("s", vec![global("i", vec![set()])])]), "`i` is not outermost");
    refuses(&with(vec![local("l", vec![set()])]), "`l` is over work-items of no group");
    refuses(&with(vec![global("i", vec![local("l", vec![set()])])]), "work-items of no group");
    refuses(
        &with(vec![group("g", vec![local("l", vec![local("m", vec![set()])])])]),
        "`m` is inside another of its kind and dimension",
    );
    refuses(&with(vec![a_loop(LoopKind::Group(3), "g", nat("N"), vec![])]), "dimension 3");
}

#[test]
fn registers_are_assigned_by_their_work_item() {
    let t = f32s("t");
    let local = a_loop(LoopKind::Local(0), "l", int(4), vec![assign(&t, x())]);
    let group = a_loop(LoopKind::Group(0), "g", nat("N"), vec![declare(&t, x()), local]);
    refuses(&with(vec![group]), "`t` is assigned in a parallel loop");
}

#[test]
fn barriers_are_reached_by_all_or_none() {
    let barrier = || Stmt::Barrier(Barrier::group(Fence::Local));
    let group = |body| with(vec![a_loop(LoopKind::Group(0), "g", nat("N"), body)]);
    let test = || Expr::Test(lift_ir::Pred::Lt(nat("g"), int(3)));
    let branch = |condition| Stmt::If { condition, then: vec![barrier()], otherwise: vec![] };
    accepts(&group(vec![barrier()]));
    accepts(&group(vec![Stmt::Barrier(Barrier::warp(Fence::Local))]));
    accepts(&group(vec![branch(test())]));
    accepts(&group(vec![a_loop(LoopKind::Seq, "s", int(4), vec![branch(test())])]));
    let in_local = a_loop(LoopKind::Local(0), "l", int(4), vec![barrier()]);
    refuses(&group(vec![in_local]), "inside a loop over work-items of a group");
    let in_global = a_loop(LoopKind::Global(0), "i", nat("N"), vec![barrier()]);
    refuses(&with(vec![in_global]), "inside a loop over global work-items");
    let held = Access { items: vec![int(0)], ..at(2, int(0)) };
    let mine = binary(BinaryOp::Lt, load(Scalar::F32, held), f32_of(0.0));
    let mut divergent = group(vec![branch(mine)]);
    divergent.privates = vec![Buffer {
        items: vec![int(4)],
        ..buffer(2, "held", Scalar::F32, int(1), Space::Private)
    }];
    refuses(&divergent, "in a branch that not all work-items take");
}

/// Where work-items are threads, what a branch depends on is followed through variables and private arrays.
#[test]
fn branches_are_taken_alike_where_all_that_was_given_is_alike() {
    let barrier = || Stmt::Barrier(Barrier::group(Fence::Local));
    let branch = |condition| Stmt::If { condition, then: vec![barrier()], otherwise: vec![] };
    let (t, u) = (f32s("t"), f32s("u"));
    let negative = |v| binary(BinaryOp::Lt, v, f32_of(0.0));
    let by_group = || load(Scalar::F32, at(0, nat("g")));
    let by_item = || load(Scalar::F32, at(0, nat("l")));
    let own = || load(Scalar::F32, at(2, int(0)));
    let place = |var: &str, kind| Stmt::ThreadId { var: Var::named(var), kind, extent: int(4) };
    let places = || vec![place("g", LoopKind::Group(0)), place("l", LoopKind::Local(0))];
    let threads = |rest: Vec<Stmt>| {
        let mut made = with(places().into_iter().chain(rest).collect());
        made.runs = Runs::Threads;
        made.privates = vec![buffer(2, "own", Scalar::F32, int(1), Space::Private)];
        made
    };
    let said = "in a branch that not all work-items take";
    let through = |given: Expr| vec![declare(&t, given), declare(&u, value(&t))];
    let tested = |mut before: Vec<Stmt>, condition: Expr| {
        before.push(branch(condition));
        threads(before)
    };
    accepts(&tested(through(by_group()), negative(value(&u))));
    refuses(&tested(through(by_item()), negative(value(&u))), said);
    accepts(&tested(vec![store(at(2, int(0)), by_group())], negative(own())));
    refuses(&tested(vec![store(at(2, int(0)), by_item())], negative(own())), said);
    // Given the same, but not by all.
    let some = Expr::Test(lift_ir::Pred::Lt(nat("l"), int(2)));
    let given = Stmt::If { condition: some, then: vec![assign(&t, by_group())], otherwise: vec![] };
    refuses(&tested(vec![declare(&t, f32_of(0.0)), given], negative(value(&t))), said);
    // Given later, in a loop that comes back.
    let around = vec![branch(negative(value(&t))), assign(&t, by_item())];
    let around = a_loop(LoopKind::Seq, "s", int(4), around);
    refuses(&threads(vec![declare(&t, f32_of(0.0)), around]), said);
}

/// A kernel of which 64 work-items in a row are a group.
fn of_warps(launch: &str, around: &str) -> Result<(), String> {
    let text = format!(
        "kernel k(read global x: f32[N] align 16, write global r: f32[N] align 16, N: size)
           {launch}
         {{
           {around}
         }}"
    );
    let kernels = lift_kernel::read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    validate(&kernels[0]).map(|_| ()).map_err(|errors| errors.join("; "))
}

#[test]
fn shuffles_are_reached_by_whole_warps() {
    let loops = |count: &str, body: &str| {
        let around =
            format!("for wg0 < N group(0) {{\nfor l0 < {count} local(0) {{\n{body}\n}}\n}}");
        of_warps("launch local() global() loops", &around)
    };
    let threads = |local: &str, body: &str| {
        let around = format!("thread l0 = local(0) below 64\nthread l1 = local(1) below 2\n{body}");
        of_warps(&format!("launch local({local}) global(64, 2) threads"), &around)
    };
    let shuffle = "var a: f32 = x[l0]\nvar b: f32 = shuffle(16: a)";
    let within = |head: &str| format!("{head} {{\n{shuffle}\n}}");
    let apart = Err("a shuffle is where not all work-items of a warp come by".to_string());
    assert_eq!(loops("64", shuffle), Ok(()));
    assert_eq!(loops("40", shuffle), apart);
    assert_eq!(loops("64", &within("for i < N seq")), Ok(()));
    assert_eq!(loops("64", &within("for i < l0 seq")), apart);
    let stops = |by: &str| format!("for i < N seq {{\nstop ({by} > 0.0)\n{shuffle}\n}}");
    assert_eq!(threads("64, 2", &stops("x[0]")), Ok(()));
    assert_eq!(threads("64, 2", &stops("x[l0]")), apart);
    assert_eq!(threads("64, 2", shuffle), Ok(()));
    assert_eq!(threads("64, 2", &within("if test(l0 < 32)")), Ok(()));
    assert_eq!(threads("64, 2", &within("if test(l0 < 40)")), apart);
    assert_eq!(threads("64, 2", &within("if test(l1 == 0)")), Ok(()));
    assert_eq!(threads("64, 2", &within("if test(l0 == 0)")), apart);
    assert_eq!(threads("64, 2", &within("if (x[l0] > 0.0)")), apart);
    assert_eq!(threads("64, 2", &within("if (x[0] > 0.0)")), Ok(()));
    assert_eq!(threads("64, 2", &within("for l0_2 < 96 local(0)")), Ok(()));
    assert_eq!(threads("64, 2", &within("for l0_2 < N local(0)")), apart);
    let said = Err("a shuffle is in groups that are no whole warps".to_string());
    assert_eq!(threads("80, 2", shuffle), said);
}

#[test]
fn shuffles_are_declarations_of_numbers() {
    let of = |body: &str| {
        let around = format!("for wg0 < N group(0) {{\nfor l0 < 64 local(0) {{\n{body}\n}}\n}}");
        of_warps("launch local() global() loops", &around).unwrap_err()
    };
    let part = of("var a: f32 = (1.0 + shuffle(1: x[l0]))");
    assert!(part.contains("not the value of a declaration"), "{part}");
    let given = of("var a: f32 = x[l0]\na = shuffle(1: a)");
    assert!(given.contains("not the value of a declaration"), "{given}");
    for bit in [0, 3, 32] {
        let beyond = of(&format!("var a: f32 = shuffle({bit}: x[l0])"));
        assert!(beyond.contains(&format!("have no bit {bit}")), "{beyond}");
    }
    for (ty, value) in [("bool", "true"), ("i8", "1i8"), ("f32x4", "splat(4: 1.0)")] {
        let small = of(&format!("var a: {ty} = shuffle(1: {value})"));
        assert!(small.contains(&format!("work-items give each other {ty}")), "{small}");
    }
}

/// Four scalars at a multiple of four are aligned in a second stage only where the first is as long as some fours.
#[test]
fn stages_begin_where_wide_accesses_do() {
    let of = |length: i128| {
        let four = load(Scalar::F32, Access { stage: int(1), ..vector_at(2, int(4), 4, true) });
        let mut kernel = with_value(four);
        kernel.locals =
            vec![Buffer { stages: 2, ..buffer(2, "tile", Scalar::F32, int(length), Space::Local) }];
        kernel
    };
    accepts(&of(36));
    refuses(&of(33), "the stages of `tile` do not begin aligned");
    let mut kernel = of(33);
    kernel.locals[0].set_stages(3);
    assert_eq!(kernel.locals[0].total(), int(144));
    accepts(&kernel);
}

#[test]
fn all_errors_are_reported() {
    let kernel = with(vec![store(at(7, nat("i")), x()), store(at(0, int(0)), one())]);
    assert_eq!(validate(&kernel).map(|_| ()).unwrap_err().len(), 4);
    assert_eq!(BufferId(7).0, 7);
    assert!(matches!(&kernel.args[2], Arg::Size(_)));
}

/// What a kernel with this in a loop over the grid is refused for.
fn changed(mark: &str, change: &str) -> Result<(), String> {
    let of = |usage: &str, name: &str, ty: &str| format!("{usage} global {name}: {ty}[N] align 16");
    let args = [
        of("read", "x", "i32"),
        of("read_write", "r", "i32"),
        of("read_write", "f", "f32"),
        of("read_write", "h", "i16"),
        of("write", "w", "i32"),
    ];
    let text = format!(
        "kernel k({}, N: size)
           launch local() global() loops
           private own: i32[4] align 4
         {{
           {mark}for g0 < N global(0) {{
             {change}
           }}
         }}",
        args.join(", ")
    );
    let kernels = lift_kernel::read(&text).unwrap();
    validate(&kernels[0]).map(|_| ()).map_err(|errors| errors.join("\n"))
}

#[test]
fn words_that_others_see_are_changed_as_one_step() {
    let said = |change: &str| changed("", change).unwrap_err();
    assert_eq!(changed("", "atomic xor r[0] = x[g0]"), Ok(()));
    assert_eq!(changed("", "atomic min f[0] = 1.0"), Ok(()));
    assert!(said("atomic add own[0] = 1").contains("`own` is private"));
    assert!(said("atomic add x[0] = 1").contains("`x` is changed in place, but not both"));
    assert!(said("atomic add w[0] = 1").contains("`w` is changed in place, but not both"));
    assert!(said("atomic add h[0] = 1i16").contains("by `add`, which i16 is not as one step"));
    assert!(said("atomic or f[0] = 1.0").contains("by `or`, which f32 is not as one step"));
    assert!(said("atomic add r[0; 2] = vector(i32: 1, 2)").contains("i32x2 is not as one step"));
    assert!(said("atomic add r[0] = 1.0").contains("`r` is of i32, and changed by f32"));
    assert!(said("atomic add r[0] = (x[g0] + r[g0])").contains("changed by what is read from it"));
}

/// One thread does all changes: no other comes between.
#[test]
fn threads_of_a_processor_do_not_share_what_is_changed_as_one_step() {
    for mark in ["shared(0) ", "independent "] {
        let said = changed(mark, "atomic add r[0] = 1").unwrap_err();
        assert!(said.contains("is shared, and changes elements"), "{said}");
        assert_eq!(changed(mark, "r[g0] = 1"), Ok(()));
    }
}
