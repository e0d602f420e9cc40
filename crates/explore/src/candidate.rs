//! A low-level program with values for its parameters and thread counts, complete as text.

use lift_ir::{Def, Launch, Nat};
use lift_lower::{LowerError, Options, Target, lower};
use lift_rewrite::formatted;

use crate::parameters::{Values, local_counts};

/// A program that can be measured.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub def: Def,
    /// The definition with defaults and launch sizes.
    pub text: String,
    /// Of the text.
    pub hash: String,
    pub parameters: Values,
    /// How it was derived, as text; empty where it was not.
    pub derivation: String,
}

impl Candidate {
    /// A variant with values for its parameters; thread counts follow from its maps.
    pub fn new(
        variant: &Def,
        parameters: &Values,
        sizes: &Values,
        target: Target,
    ) -> Result<Candidate, LowerError> {
        let mut def = variant.clone();
        for parameter in &mut def.parameters {
            let value = parameters.get(parameter.var.name());
            parameter.default = value.map(|v| Nat::int(*v)).or(parameter.default.take());
        }
        let known: Values = sizes.iter().chain(parameters).map(|(n, v)| (n.clone(), *v)).collect();
        let local = local_counts(&def, &known).map(|counts| {
            counts.into_iter().filter_map(|count| u64::try_from(count).ok()).collect()
        });
        // Thread counts in terms of sizes, so that the program stays what it is for other sizes.
        let options = Options { target, sizes: parameters.clone(), local, ..Options::default() };
        let plan = lower(&def, &options)?;
        let launch = |kernel: &lift_kernel::Kernel| Launch {
            local: kernel.launch.local.clone(),
            global: kernel.launch.global.clone(),
        };
        if def.launches.is_empty() {
            def.launches = plan.kernels.iter().map(launch).collect();
        }
        let text = formatted(&def);
        let hash = hash(&text);
        let (parameters, derivation) = (parameters.clone(), String::new());
        Ok(Candidate { def, text, hash, parameters, derivation })
    }

    /// `T=16,R=4`
    pub fn listed(&self) -> String {
        let listed = self.parameters.iter().map(|(name, value)| format!("{name}={value}"));
        listed.collect::<Vec<String>>().join(",")
    }
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
