//! Kernels for some sizes, with names that no other form of the library has.

use std::collections::BTreeMap;

use lift_execute::{Error, lower_for};
use lift_ir::{Def, Nat, Var, check_permutations};
use lift_kernel::{Pieces, c_pieces, cuda, dynamic_shared_bytes, opencl, validate};
use lift_lower::{Memory, Plan, Step};
use lift_runtime::Language;

use crate::Library;

pub struct Form {
    /// What tells its names from those of other forms: `at0`, `open`.
    pub label: String,
    /// The sizes that it is for.
    pub sizes: BTreeMap<String, i128>,
    pub plan: Plan,
    pub memory: Memory,
    /// One a kernel of the plan.
    pub texts: Vec<Text>,
    /// Counters of the plan's loops and what they count, in order.
    pub counters: Vec<Var>,
    /// Whether a size is left that a call gives.
    pub is_open: bool,
}

pub enum Text {
    /// A function of the library.
    Function(Pieces),
    /// What a driver compiles, and how much dynamic local memory a launch asks for.
    Source(String, Option<Nat>),
}

impl Form {
    pub fn new(
        def: &Def,
        sizes: &BTreeMap<String, i128>,
        label: &str,
        library: &Library<'_>,
    ) -> Result<Form, Error> {
        let mut options = library.options.clone();
        options.sizes.extend(sizes.clone());
        let mut plan = lower_for(def, &options, library.language, &mut |_, _| {})?;
        let is_open = def.sizes.iter().any(|size| !options.sizes.contains_key(size.name()));
        if !is_open {
            let value = |var: &Var| options.sizes.get(var.name()).copied();
            check_permutations(&def.body, &value, i128::MAX)
                .map_err(|broken| Error::arguments(broken.message))?;
        }
        let mut texts = Vec::new();
        for (index, kernel) in plan.kernels.iter_mut().enumerate() {
            kernel.name = format!("{}_{label}_kernel{index}", library.name.trim_end_matches('_'));
            let valid = validate(kernel).map_err(|faults| Error::Kernel(faults.join("; ")))?;
            texts.push(match library.language {
                Language::C => Text::Function(c_pieces(&valid)),
                Language::OpenCl => Text::Source(opencl(&valid), None),
                Language::Cuda => Text::Source(cuda(&valid), dynamic_shared_bytes(&valid)),
            });
        }
        let mut counters = Vec::new();
        collect_counters(&plan.steps, &mut counters);
        let (label, sizes, memory) = (label.to_string(), sizes.clone(), plan.memory());
        Ok(Form { label, sizes, plan, memory, texts, counters, is_open })
    }

    /// The function that runs it.
    pub fn function(&self, library: &str) -> String {
        format!("{}_{}", library.trim_end_matches('_'), self.label)
    }
}

fn collect_counters(steps: &[Step], counters: &mut Vec<Var>) {
    for step in steps {
        if let Step::Loop { counter, body, taken, .. } = step {
            counters.push(counter.clone());
            counters.extend(taken.clone());
            collect_counters(body, counters);
        }
    }
}
