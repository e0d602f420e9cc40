//! Plans of programs.

use std::collections::BTreeMap;
use std::path::Path;

use lift_ir::Def;
use lift_lower::{Options, Plan, Target, lower};

pub type Sizes = BTreeMap<String, i128>;

pub fn sizes(given: &[(&str, i128)]) -> Sizes {
    given.iter().map(|(name, value)| (name.to_string(), *value)).collect()
}

/// The last definition of a program of the collection.
pub fn program(name: &str) -> Def {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let checked = lift_syntax::check_file(&root.join(name).with_extension("lift")).unwrap();
    assert!(!checked.has_errors(), "{}", checked.render(false));
    checked.program.entry().unwrap().clone()
}

/// The last definition of a text.
pub fn text(source: &str) -> Def {
    let checked = lift_syntax::check_text("test.lift", source);
    assert!(!checked.has_errors(), "{}", checked.render(false));
    checked.program.entry().unwrap().clone()
}

pub fn plan(def: &Def, target: Target, sizes: &Sizes) -> Plan {
    let options = Options { target, sizes: sizes.clone(), ..Options::default() };
    lower(def, &options).unwrap_or_else(|e| panic!("{}: {e:?}", def.name))
}
