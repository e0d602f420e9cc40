//! Random programs.

use lift_ir::{
    Clause, Context, Def, Expr, Facts, Launch, LaunchClause, MapKind, Nat, Parameter, Pred, Prim,
    Type, Var, check_low_level,
};

use crate::config::{Config, Floats};
use crate::generator::Generator;
use crate::random::Random;

/// A program, the sizes to run it at, and how its inputs are to be filled.
#[derive(Clone, Debug)]
pub struct Program {
    pub def: Def,
    pub sizes: Vec<(Var, i128)>,
    pub floats: Floats,
}

/// Why an attempt gave no case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Discard {
    /// No expression of the type was found.
    Stuck,
    /// A size that the program needs is not the one it was made for.
    Bounds(String),
    /// More than a person would write, and the interpreter would be done with today: operators on tuples repeat their
    /// arguments, those inside them again.
    Long,
    /// The program breaks a rule of low-level programs.
    Rules(String),
    /// The interpreter gives no result.
    NoResult(String),
    /// Results depend on how floats are rounded.
    Rounding,
}

/// The parts a program has at most.
const LONGEST: usize = 1000;

/// A size variable of a program.
struct Declared {
    var: Var,
    value: i128,
    clause: Option<Pred>,
    /// Found in no input.
    parameter: bool,
}

/// The program of a seed.
pub fn program(seed: u64, config: &Config) -> Result<Program, Discard> {
    let mut random = Random::new(seed);
    let floats = random.pick(&[Floats::Exact, Floats::Smooth]).unwrap_or(Floats::Exact);
    let config = Config { floats, ..config.clone() };
    let sizes = declare_sizes(&mut random);
    let cx = Context::new(facts_of(&sizes));
    let mut g = Generator::new(&cx, random.bits(), config);
    sizes.iter().for_each(|size| g.add_size(&size.var, size.value));
    let found: Vec<&Declared> = sizes.iter().filter(|size| !size.parameter).collect();
    for size in &found {
        let element = g.register_type();
        g.input(&Type::array(element, &size.var));
    }
    let ty = result_type(&mut g);
    let body = g.expression(&ty).ok_or(Discard::Stuck)?;
    if body.places().len() > LONGEST {
        return Err(Discard::Long);
    }
    if let Some(violation) = check_low_level(&body).into_iter().next() {
        return Err(Discard::Rules(violation.message));
    }
    let implied = cx.required();
    for pred in &implied {
        let value = |v: &Var| sizes.iter().find(|s| s.var == *v).map(|s| s.value);
        if pred.eval(&value) != Ok(true) {
            return Err(Discard::Bounds(pred.to_string()));
        }
    }
    let bases = found.len();
    let used = g.inputs.iter().enumerate().filter(|(i, p)| *i < bases || body.mentions(p));
    let params = used.map(|(_, p)| p.clone()).collect();
    let launches = launches(&mut random, &body);
    let def = Def {
        name: "program".to_string(),
        span: None,
        sizes: found.iter().map(|size| size.var.clone()).collect(),
        parameters: sizes
            .iter()
            .filter(|size| size.parameter)
            .map(|s| Parameter { var: s.var.clone(), default: Some(Nat::int(s.value)) })
            .collect(),
        params,
        ret: body.ty().clone(),
        wheres: sizes
            .iter()
            .filter_map(|size| size.clause.clone())
            .map(|pred| Clause { pred, span: None })
            .collect(),
        implied,
        launches,
        body,
        next_number: cx.next_number(),
        said: lift_ir::Said::default(),
    };
    let sizes = sizes.into_iter().map(|size| (size.var, size.value)).collect();
    Ok(Program { def, sizes, floats })
}

fn declare_sizes(random: &mut Random) -> Vec<Declared> {
    let count = random.weighted(&[(45, 0), (35, 1), (20, 2)]).unwrap_or(0);
    ["N", "M"].iter().take(count).map(|name| declare_size(random, name)).collect()
}

fn declare_size(random: &mut Random, name: &str) -> Declared {
    let var = Var::named(name);
    let divisor = random.weighted(&[(3, 1), (4, 2), (4, 4), (1, 3)]).unwrap_or(1);
    let value = divisor * i128::from(random.between(1, 3));
    let clause = if divisor > 1 {
        Some(Pred::divides(Nat::int(divisor), Nat::var(&var)))
    } else {
        random.chance(30).then(|| Pred::Le(Nat::int(value), Nat::var(&var)))
    };
    Declared { var, value, clause, parameter: random.chance(15) }
}

fn facts_of(sizes: &[Declared]) -> Facts {
    let mut facts = Facts::new();
    sizes.iter().for_each(|size| facts.size(&size.var));
    sizes.iter().filter_map(|size| size.clause.as_ref()).for_each(|pred| facts.assume(pred));
    facts
}

/// Mostly arrays: programs that return a scalar have little to do in parallel.
fn result_type(g: &mut Generator) -> Type {
    match g.random.below(10) {
        0 => g.register_type(),
        1 => {
            let (first, second) = (g.length(), g.length());
            Type::tuple([
                Type::array(g.register_type(), first),
                Type::array(g.register_type(), second),
            ])
        }
        _ => {
            let dimensions = g.random.weighted(&[(3, 0), (5, 1), (2, 2)]).unwrap_or(1);
            let mut ty = g.register_type();
            for _ in 0..=dimensions {
                let length = g.length();
                let larger = Type::array(ty.clone(), length);
                if g.fits(&larger) {
                    ty = larger;
                }
            }
            ty
        }
    }
}

/// Thread counts of the first kernels, sometimes: results do not depend on them.
fn launches(random: &mut Random, body: &Expr) -> Vec<Launch> {
    let kernels = random.weighted(&[(55, 0), (25, 1), (10, 2), (10, 3)]).unwrap_or(0);
    let warps = body
        .places()
        .iter()
        .any(|(_, e)| e.as_call().is_some_and(|call| call.prim == Prim::Map(MapKind::Warp(0))));
    (0..kernels).map(|_| launch(random, warps)).collect()
}

fn launch(random: &mut Random, warps: bool) -> Launch {
    let count = random.between(1, 3);
    let local: Vec<i128> = (0..count)
        .map(|d| if warps && d == 0 { 32 } else { i128::from(random.between(1, 4)) })
        .collect();
    let global = local.iter().map(|n| Nat::int(n * i128::from(random.between(1, 3)))).collect();
    let mut launch = Launch::default()
        .with(LaunchClause::Local, local.iter().map(|n| Nat::int(*n)).collect())
        .with(LaunchClause::Global, global);
    let schedule =
        [LaunchClause::Padding, LaunchClause::Stages, LaunchClause::Rows, LaunchClause::Unroll];
    for clause in schedule {
        let number = random.between(0, 3);
        if number > 0 {
            launch = launch.with(clause, vec![Nat::int(number.into())]);
        }
    }
    launch
}
