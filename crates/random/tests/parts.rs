//! Expressions, functions and operators on their own, and cases made smaller.

#![allow(clippy::unwrap_used)]

use lift_interp::laws::check_reduce;
use lift_ir::{Build, Context, Facts, FoldKind, Nat, Pred, Prim, Scalar, Type, Var};
use lift_random::{Case, Config, Generator, Law, features, shrink};

fn types(n: &Var) -> Vec<Type> {
    vec![
        Type::I32,
        Type::vector(Scalar::F32, 4u32),
        Type::tuple([Type::BOOL, Type::F32]),
        Type::array(Type::I32, n),
        Type::array(Type::array(Type::F32, 4u32), n),
    ]
}

fn context() -> (Context, Var) {
    let n = Var::named("N");
    let mut facts = Facts::new();
    facts.size(&n);
    facts.assume(&Pred::divides(Nat::int(2), Nat::var(&n)));
    (Context::new(facts), n)
}

#[test]
fn expressions_and_functions_have_the_type_that_is_asked_for() {
    for seed in 0..40 {
        let (cx, n) = context();
        let known = cx.fresh("known", Type::array(Type::F32, &n));
        let config = Config { inputs: 0, low_level: seed % 2 == 0, ..Config::default() };
        let mut g = Generator::new(&cx, seed, config);
        g.add_size(&n, 8);
        g.add_variable(&known);
        for ty in types(&n) {
            let expr = g.expression(&ty).unwrap();
            assert!(cx.same_type(expr.ty(), &ty), "{ty}: {expr}");
            assert!(expr.free_variables().iter().all(|id| *id == known.id()), "{expr}");
            for from in types(&n) {
                let f = g.function(&[from.clone(), Type::I32], &ty).unwrap();
                assert!(cx.same_type(f.body.ty(), &ty), "{from} to {ty}: {}", f.body);
                assert_eq!(f.params.len(), 2);
            }
        }
        assert!(g.inputs().is_empty());
    }
}

/// Where nothing low-level is asked for, nothing says how it runs.
#[test]
fn high_level_expressions_leave_everything_open() {
    for seed in 0..100 {
        let (cx, n) = context();
        let mut g = Generator::new(&cx, seed, Config { low_level: false, ..Config::default() });
        g.add_size(&n, 8);
        let expr = g.expression(&Type::array(Type::array(Type::I32, 4u32), &n)).unwrap();
        let found = features(&expr);
        let low = ["mapGlb", "mapWrg", "mapLcl", "mapSeq", "reduceSeq", "toLocal", "toPrivate"];
        assert!(low.iter().all(|name| !found.contains(*name)), "{expr}");
    }
}

/// Sampled by the interpreter, operators obey their laws.
#[test]
fn operators_obey_their_laws() {
    for seed in 0..60 {
        let (cx, _) = context();
        let b = Build::new(&cx);
        let mut g = Generator::new(&cx, seed, Config::default());
        for ty in [
            Type::I32,
            Type::BOOL,
            Type::Scalar(Scalar::U8),
            Type::tuple([Type::I32, Type::I32]),
            Type::vector(Scalar::I32, 2u32),
        ] {
            for (law, prim) in [
                (Law::Commutative, Prim::Reduce(FoldKind::Any)),
                (Law::Associative, Prim::Scan(FoldKind::Any)),
                (Law::Ordered, Prim::Scan(FoldKind::Any)),
            ] {
                let Some((z, f)) = g.operator(&ty, law) else {
                    assert_eq!(law, Law::Ordered, "{ty}");
                    continue;
                };
                let xs = b.param("xs", Type::array(ty.clone(), 4u32));
                let fold = cx.call(prim, vec![], vec![f], vec![z, xs]).unwrap();
                assert_eq!(check_reduce(&fold), [], "{fold}");
                let reduced = fold.as_call().map(|call| {
                    cx.call(
                        Prim::Reduce(FoldKind::Any),
                        vec![],
                        call.functions.clone(),
                        call.args.clone(),
                    )
                });
                let commutes = check_reduce(&reduced.unwrap().unwrap()).is_empty();
                assert!(law != Law::Ordered || !commutes, "it commutes: {fold}");
            }
        }
    }
}

/// What is left of a program when all that matters is that one pattern occurs.
#[test]
fn shrinking_leaves_what_matters() {
    let mut tried = 0;
    for (seed, wanted) in
        [(5, "mapLcl"), (0, "scatter"), (0, "mapSeqSlide"), (0, "toLocal"), (0, "iterate")]
    {
        let holds = |case: &Case| features(&case.def.body).contains(wanted);
        let case = (seed..)
            .filter_map(|seed| Case::new(seed, &Config::default()).ok())
            .find(|case| holds(case) && case.def.body.weight() > 20)
            .unwrap();
        let small = shrink(case.clone(), usize::MAX, &mut |candidate| {
            tried += 1;
            holds(candidate)
        });
        assert!(holds(&small));
        assert!(small.def.body.weight() <= 7, "{case}\nis left as\n{small}");
        assert!(small.def.launches.is_empty() && small.def.sizes.is_empty(), "{small}");
        let result = lift_interp::run(&small.def, &small.args, &small.given());
        assert_eq!(result.unwrap(), small.expected);
    }
    assert!(tried > 20, "only {tried} candidates");
}
