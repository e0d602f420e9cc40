//! Matrix multiplication as the language's first page writes it, 256 cubed.

use lift_interp::{Sizes, Value, run};
use lift_ir::{Build, Context, Def, Facts, Kind, Type, TypeError, Var};

fn main() {
    divan::main();
}

/// `A |> map(\row -> transpose(B) |> map(\col -> zip(row, col) |> map((*)) |> reduce(0.0, (+))))`
fn mm() -> Result<Def, TypeError> {
    let [m, k, n] = ["M", "K", "N"].map(Var::named);
    let mut facts = Facts::new();
    [&m, &k, &n].into_iter().for_each(|v| facts.size(v));
    let cx = Context::new(facts);
    let b = Build::new(&cx);
    let left = b.param("A", Type::array(Type::array(Type::F32, &k), &m));
    let right = b.param("B", Type::array(Type::array(Type::F32, &n), &k));
    let dot = |row: &lift_ir::Expr, col: lift_ir::Expr| {
        let pairs = b.zip([row, &col]);
        let products = b.map(|p| b.mul(b.field(&p, 0), b.field(&p, 1)), pairs);
        b.reduce(b.f32(0.0), |acc, x| b.add(acc, x), products)
    };
    let body = b.map(|row| b.map(|col| dot(&row, col), b.transpose(&right)), &left)?;
    let params = [&left, &right].into_iter().filter_map(|e| match e.kind() {
        Kind::Var(param) => Some(param.clone()),
        _ => None,
    });
    Ok(Def {
        name: "mm".to_string(),
        span: None,
        sizes: vec![m, k, n],
        parameters: Vec::new(),
        params: params.collect(),
        ret: body.ty().clone(),
        wheres: Vec::new(),
        implied: Vec::new(),
        launches: Vec::new(),
        body,
        next_number: cx.next_number(),
        said: lift_ir::Said::default(),
    })
}

fn matrix(rows: usize, columns: usize) -> Value {
    let elements = (0..rows * columns).map(|i| (i % 7) as f32).collect();
    Value::shaped::<f32>(elements, &[rows, columns]).expect("as many elements as there are places")
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn mm_256(bencher: divan::Bencher) {
    let def = mm().expect("the program is well typed");
    let args = [matrix(256, 256), matrix(256, 256)];
    bencher.bench(|| run(&def, &args, &Sizes::new()));
}
