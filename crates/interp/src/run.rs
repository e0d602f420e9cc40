//! Running definitions and closed expressions.

use lift_ir::{Def, Expr};
use lift_nat::Var;

use crate::code::Binding;
use crate::compile::Compiler;
use crate::error::{Eval, RunError};
use crate::eval::Machine;
use crate::meter::Meter;
use crate::sizes::{Sizes, solve_sizes};
use crate::value::Value;

/// The value of a definition's body: sizes are read off the arguments, checked, and fixed.
pub fn run(def: &Def, args: &[Value], given: &Sizes) -> Result<Value, RunError> {
    let types: Vec<_> = args.iter().map(Value::ty).collect();
    let sizes = solve_sizes(def, &types, given)?;
    let value_of = |var: &Var| {
        let declared = def.sizes.iter().chain(def.parameters.iter().map(|p| &p.var));
        declared.into_iter().find(|v| *v == var).and_then(|v| sizes.get(v.name()))
    };
    let mut compiler = Compiler::new(&value_of);
    let bindings: Vec<Binding> = def.params.iter().map(|p| compiler.bind_whole(p)).collect();
    let code = compiler.program(&def.body).map_err(unbound)?;
    let mut machine = Machine::new(compiler.slots(), &value_of, Meter::default());
    for (binding, arg) in bindings.iter().zip(args) {
        machine.bind(binding, arg.clone());
    }
    machine.eval(&code).map_err(|e| *e)
}

/// The value of an expression without free variables and sizes.
pub fn eval_closed(expr: &Expr) -> Result<Value, RunError> {
    eval_metered(expr, Meter::default()).map_err(|e| *e)
}

pub(crate) fn eval_metered(expr: &Expr, meter: Meter) -> Eval<Value> {
    let no_sizes = |_: &Var| None;
    let mut compiler = Compiler::new(&no_sizes);
    let code = compiler.program(expr).map_err(|name| Box::new(unbound(name)))?;
    Machine::new(compiler.slots(), &no_sizes, meter).eval(&code)
}

fn unbound(name: String) -> RunError {
    RunError::new(format!("`{name}` has no value here"))
}
