//! The interpreter from outside: what each pattern and operation computes.

mod compare;
mod display;
mod folds;
mod inputs;
mod laws;
mod layout;
mod limits;
mod npy;
mod properties;
mod scalars;
mod sizes;
mod tuples_and_vectors;
mod work;

use lift_interp::{RunError, Sizes, Value, run};
use lift_ir::{Build, Built, Context, Def, Expr, Facts, Kind};

/// The value of an expression over arguments, whose types are those of the values.
fn apply(
    args: &[Value],
    body: impl FnOnce(&Context, Build, &[Expr]) -> Built,
) -> Result<Value, RunError> {
    let cx = Context::new(Facts::new());
    let b = Build::new(&cx);
    let vars: Vec<Expr> = args.iter().map(|a| b.param("x", a.ty())).collect();
    let body = body(&cx, b, &vars).expect("the program of the test is well typed");
    run(&def_of(&cx, &vars, body), args, &Sizes::new())
}

/// As [`apply`], where it works.
fn value(args: &[Value], body: impl FnOnce(&Context, Build, &[Expr]) -> Built) -> Value {
    apply(args, body).expect("the program of the test has a value")
}

/// As [`apply`], where it must not work: the message.
fn error(args: &[Value], body: impl FnOnce(&Context, Build, &[Expr]) -> Built) -> String {
    apply(args, body).expect_err("the program of the test has no value").message
}

fn def_of(cx: &Context, vars: &[Expr], body: Expr) -> Def {
    let params = vars.iter().filter_map(|e| match e.kind() {
        Kind::Var(param) => Some(param.clone()),
        _ => None,
    });
    Def {
        name: "test".to_string(),
        span: None,
        sizes: Vec::new(),
        parameters: Vec::new(),
        params: params.collect(),
        ret: body.ty().clone(),
        wheres: Vec::new(),
        implied: Vec::new(),
        launches: Vec::new(),
        body,
        next_number: cx.next_number(),
        said: lift_ir::Said::default(),
    }
}

fn floats(elements: &[f32]) -> Value {
    Value::from(elements.to_vec())
}

fn ints(elements: &[i32]) -> Value {
    Value::from(elements.to_vec())
}

fn rows(rows: &[&[i32]]) -> Value {
    Value::array(rows.iter().map(|r| ints(r)).collect()).expect("rows of one length")
}

fn tuple(components: &[Value]) -> Value {
    Value::tuple(components.to_vec())
}
