//! Programs as files: the kernels, and `plan.json`, which is all that a host of any kind needs to run them.
//! `docs/plan.md` says what is in it.

use std::cell::RefCell;

use lift_execute::{Error, KernelText, compile_text};
use lift_ir::{Def, Nat, Over, Pred, Scalar, Var};
use lift_kernel::{Arg, Kernel, Usage};
use lift_lower::{Condition, Memory, Options, Plan, PlanBuffer, Requirement, Role, Step};
use lift_runtime::Language;
use serde_json::{Value, json};

/// Names and texts of files: one a kernel, then `plan.json`. Where they are written in this order and the plan is there,
/// everything that it names is.
pub fn compile_files(
    def: &Def,
    options: &Options,
    language: Language,
) -> Result<Vec<(String, String)>, Error> {
    let (plan, kernels) = compile_text(def, options, language)?;
    let json = json(def, &plan, &kernels, options, language);
    let named = |kernel: KernelText| (file_name(&kernel.name, language), kernel.text);
    let mut files: Vec<(String, String)> = kernels.into_iter().map(named).collect();
    files.push(("plan.json".to_string(), format!("{json:#}\n")));
    Ok(files)
}

fn file_name(kernel: &str, language: Language) -> String {
    format!("{kernel}.{}", extension(language))
}

/// How the files of a language end.
fn extension(language: Language) -> &'static str {
    match language {
        Language::C => "c",
        Language::OpenCl => "cl",
        Language::Cuda => "cu",
    }
}

/// The plan, with sizes as C expressions in the sizes of the definition.
fn json(
    def: &Def,
    plan: &Plan,
    texts: &[KernelText],
    fixed: &Options,
    language: Language,
) -> Value {
    let kernels = plan.kernels.iter().zip(texts);
    let memory = plan.memory();
    let slots = memory.bytes.iter().enumerate();
    let open = def.sizes.iter().filter(|v| !fixed.sizes.contains_key(v.name()));
    let c = &Expressions::default();
    let kernels = kernels.map(|(k, text)| kernel(def, plan, k, text, language, c));
    let mut json = json!({
        "name": plan.name,
        "kernels": kernels.collect::<Value>(),
        "buffers": plan.buffers.iter().map(|b| buffer(def, b, &memory, c)).collect::<Value>(),
        "memory": slots.map(|(id, n)| json!({ "id": id, "bytes": c.size(n) })).collect::<Value>(),
        "steps": steps(&plan.steps, c),
        "sizes": open.map(|v| v.name()).collect::<Value>(),
        "requires": requires(def, plan, c),
    });
    let functions = c.functions.take();
    if !functions.is_empty() {
        json["functions"] = functions.into();
    }
    json
}

/// Sizes and conditions in C, and the functions that they call.
#[derive(Default)]
struct Expressions {
    functions: RefCell<Vec<String>>,
}

impl Expressions {
    fn size(&self, size: &Nat) -> String {
        size.each_sum(&mut |sum| self.call(sum));
        size.to_c(&|var| var.to_string())
    }

    fn holds(&self, pred: &Pred) -> String {
        pred.each_sum(&mut |sum| self.call(sum));
        pred.to_c(&|var| var.to_string())
    }

    /// A function is behind those that it calls.
    fn call(&self, sum: &Over) {
        let text = sum.to_c("static ", "static const ", "int64_t", "(int64_t)1");
        let mut functions = self.functions.borrow_mut();
        if !functions.contains(&text) {
            functions.push(text);
        }
    }
}

/// What a host makes sure of before it launches anything: conditions on the sizes, and functions that go through
/// the indices of an array in another order.
fn requires(def: &Def, plan: &Plan, c: &Expressions) -> Value {
    let mut index = "i".to_owned();
    while def.sizes.iter().any(|v| v.name() == index) {
        index.push('i');
    }
    let row = |requirement: &Requirement| match &requirement.condition {
        Condition::Holds(pred) => json!({ "holds": c.holds(pred), "else": requirement.reason }),
        Condition::Permutes { by, length } => json!({
            "permutes": c.size(&by.apply(&Nat::var(&Var::named(&index)), length)),
            "index": index,
            "length": c.size(length),
            "else": requirement.reason,
        }),
    };
    plan.requirements.iter().map(row).collect()
}

fn kernel(
    def: &Def,
    plan: &Plan,
    kernel: &Kernel,
    text: &KernelText,
    language: Language,
    c: &Expressions,
) -> Value {
    let local = &kernel.launch.local;
    // Whole groups are launched; kernels guard against work-items beyond the end.
    let one = Nat::int(1);
    let whole = |(d, global): (usize, &Nat)| {
        let local = local.get(d).unwrap_or(&one);
        if global.rem(local) == Nat::ZERO {
            c.size(global)
        } else {
            c.size(&(global.ceil_div(local) * local))
        }
    };
    let global: Vec<String> = kernel.launch.global.iter().enumerate().map(whole).collect();
    let mut row = json!({
        "name": kernel.name,
        "file": file_name(&kernel.name, language),
        "global": global,
        "local": local.iter().map(|n| c.size(n)).collect::<Value>(),
        "args": kernel.args.iter().map(|a| arg(def, plan, kernel, a, language)).collect::<Value>(),
    });
    if let Some(bytes) = &text.dynamic_local_bytes {
        row["shared_bytes"] = c.size(bytes).into();
    }
    row
}

fn arg(def: &Def, plan: &Plan, kernel: &Kernel, arg: &Arg, language: Language) -> Value {
    match arg {
        Arg::Buffer(buffer, usage) => {
            let access = match usage {
                Usage::Read => "read",
                Usage::Write => "write",
                Usage::ReadWrite => "read_write",
            };
            json!({ "kind": "buffer", "buffer": buffer.id.0, "access": access })
        }
        Arg::Scalar(var) => {
            let param = plan.scalars.iter().find(|(_, v)| v == var).map(|(index, _)| *index);
            let name = param.and_then(|p| def.params.get(p)).map(|p| p.name());
            let name = name.unwrap_or(var.id.name());
            json!({ "kind": "scalar", "name": name, "type": var.ty.scalar.name() })
        }
        Arg::Size(var) => {
            let wide = language == Language::C || kernel.wide_indices;
            let scalar = if wide { Scalar::I64 } else { Scalar::I32 };
            json!({ "kind": "size", "name": var.to_string(), "type": scalar.name() })
        }
    }
}

fn buffer(def: &Def, planned: &PlanBuffer, memory: &Memory, c: &Expressions) -> Value {
    let PlanBuffer { buffer, role } = planned;
    let bytes = &buffer.total() * &Nat::int(buffer.scalar.bytes() as i128);
    let mut row = json!({
        "id": buffer.id.0,
        "name": buffer.name,
        "type": buffer.scalar.name(),
        "length": c.size(&buffer.total()),
        "bytes": c.size(&bytes),
    });
    match role {
        Role::Input { param, leaf } => {
            row["role"] = "input".into();
            row["param"] = def.params.get(*param).map(|p| p.name()).into();
            row["component"] = (*leaf).into();
        }
        Role::Output { leaf } => {
            row["role"] = "output".into();
            row["component"] = (*leaf).into();
        }
        Role::Temporary => {
            row["role"] = "temporary".into();
            row["memory"] = memory.slot(buffer.id).into();
        }
        // Zero before the first kernel; not zero afterwards where an index was out of range.
        Role::Status => row["role"] = "status".into(),
    }
    row
}

fn steps(all: &[Step], c: &Expressions) -> Value {
    let one = |step: &Step| match step {
        Step::Launch(index) => json!({ "launch": index }),
        Step::Stop(flag) => json!({ "stop": flag.0 }),
        Step::Loop { count, counter, body, swap, taken } => {
            let swap: Vec<[u32; 2]> = swap.iter().map(|(a, b)| [a.0, b.0]).collect();
            let (count, counter) = (c.size(count), counter.to_string());
            let mut row = json!({ "count": count, "counter": counter, "steps": steps(body, c), "swap": swap });
            if let Some(taken) = taken {
                row["taken"] = taken.to_string().into();
            }
            json!({ "loop": row })
        }
    };
    all.iter().map(one).collect()
}
