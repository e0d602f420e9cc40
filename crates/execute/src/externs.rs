//! Extern functions are written for some targets only.

use lift_ir::Def;
use lift_runtime::Language;

use crate::Error;

/// Requires: every extern function that the definition uses has code for the language.
pub(crate) fn check(def: &Def, language: Language) -> Result<(), Error> {
    let target = target(language);
    for function in def.externs() {
        if !function.targets.iter().any(|known| known == target) {
            return Err(Error::Extern {
                function: function.name.clone(),
                target: target.to_string(),
                available: function.targets.clone(),
            });
        }
    }
    Ok(())
}

/// What a language is called where an extern function names its targets.
fn target(language: Language) -> &'static str {
    match language {
        Language::C => "c",
        Language::OpenCl => "opencl",
        Language::Cuda => "cuda",
    }
}
