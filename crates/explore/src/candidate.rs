//! A low-level program with values for its parameters and thread counts, complete as text.

use std::collections::BTreeMap;
use std::sync::Arc;

use lift_execute::{Error, KernelText, compile_text};
use lift_ir::{Def, Launch, LaunchClause, Nat};
use lift_lower::{Options, Target, lower};
use lift_model::features::{Features, Machine, Needs, features_and_needs, names};
use lift_rewrite::formatted;
use lift_runtime::Language;

use crate::parameters::{Values, local_counts};
use crate::space::schedule;

/// A program that can be measured.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub def: Def,
    /// The definition with defaults and launch sizes.
    pub text: String,
    /// Of the text.
    pub hash: String,
    /// Of the kernels and their launches for the sizes at hand.
    pub kernel_hash: String,
    pub features: Features,
    pub needs: Needs,
    pub parameters: Values,
    /// How it was derived, as text; empty where it was not.
    pub derivation: Arc<str>,
}

/// What candidates are compiled for.
#[derive(Clone, PartialEq, Debug)]
pub struct Goal {
    pub sizes: Values,
    pub language: Language,
    pub machine: Machine,
}

impl Goal {
    /// How a program is lowered for it, with these sizes.
    pub fn options(&self, sizes: &Values) -> Options {
        let (target, sizes) = (self.target(), sizes.clone());
        Options {
            target,
            sizes,
            local_bytes: self.machine.local_memory_bytes,
            ..Options::default()
        }
    }

    pub fn target(&self) -> Target {
        match self.language {
            Language::C => Target::Loops,
            Language::OpenCl | Language::Cuda => Target::Threads,
        }
    }
}

impl Candidate {
    /// A variant with values for its parameters; thread counts follow from its maps.
    pub fn new(variant: &Def, parameters: &Values, goal: &Goal) -> Result<Candidate, Error> {
        let mut def = variant.clone();
        let mut values = parameters.clone();
        // What the compiler chooses is nothing to speak of: parameters are sizes, which are at least 1.
        values.retain(|name, value| schedule::knob(name).is_none() || *value > 0);
        def.parameters.retain(|p| {
            schedule::knob(p.var.name()).is_none() || values.contains_key(p.var.name())
        });
        for parameter in &mut def.parameters {
            let value = values.get(parameter.var.name());
            parameter.default = value.map(|v| Nat::int(*v)).or(parameter.default.take());
        }
        if def.launches.is_empty() {
            def.launches = launches(&def, &values, goal)?;
        }
        let mut made = Candidate::of(&def, goal)?;
        made.parameters = parameters.clone();
        Ok(made)
    }

    /// A definition as it stands.
    pub fn of(def: &Def, goal: &Goal) -> Result<Candidate, Error> {
        let (plan, kernels) = compile_text(def, &goal.options(&goal.sizes), goal.language)?;
        let launched = |(kernel, text): (&lift_kernel::Kernel, &KernelText)| {
            format!("{}\n{:?}", text.text, kernel.launch)
        };
        let texts: Vec<String> = plan.kernels.iter().zip(&kernels).map(launched).collect();
        let text = formatted(def);
        let (features, needs) = features_and_needs(&plan, &goal.sizes, &goal.machine);
        Ok(Candidate {
            def: def.clone(),
            hash: hash(&text),
            text,
            kernel_hash: hash(&texts.join("\n")),
            features,
            needs,
            parameters: Values::new(),
            derivation: Arc::default(),
        })
    }

    /// `T=16,R=4`
    pub fn listed(&self) -> String {
        let listed = self.parameters.iter().map(|(name, value)| format!("{name}={value}"));
        listed.collect::<Vec<String>>().join(",")
    }

    /// The features by name.
    pub fn named_features(&self) -> BTreeMap<String, f64> {
        let named = names().iter().zip(&self.features.values);
        named.map(|(name, value)| (name.to_string(), *value)).collect()
    }
}

/// Thread counts in terms of sizes, so that the program stays what it is for other sizes; numbers where it can only be
/// compiled for given sizes.
fn launches(def: &Def, parameters: &Values, goal: &Goal) -> Result<Vec<Launch>, Error> {
    let known: Values = goal.sizes.iter().chain(parameters).map(|(n, v)| (n.clone(), *v)).collect();
    launches_with(def, parameters, &known, goal)
        .or_else(|_| launches_with(def, &known, &known, goal))
}

/// Where some sizes are given to the compiler, and all are known.
fn launches_with(
    def: &Def,
    given: &Values,
    known: &Values,
    goal: &Goal,
) -> Result<Vec<Launch>, Error> {
    let local = local_counts(def, known)
        .map(|counts| counts.into_iter().filter_map(|count| u64::try_from(count).ok()).collect());
    let options = Options { local, ..goal.options(given) };
    let launch = |kernel: &lift_kernel::Kernel| {
        let counts = Launch::default()
            .with(LaunchClause::Local, kernel.launch.local.clone())
            .with(LaunchClause::Global, kernel.launch.global.clone());
        schedule::scheduled(counts, def)
    };
    Ok(lower(def, &options)?.kernels.iter().map(launch).collect())
}

/// The same for the same text everywhere and always (64-bit FNV-1a).
pub fn hash(text: &str) -> String {
    let mixed = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, mixed))
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(hash(""), "cbf29ce484222325");
        assert_eq!(hash("foobar"), "85944171f73967e8");
    }
}
