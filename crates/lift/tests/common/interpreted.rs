//! What a definition gives on a device is what the interpreter says.

use std::collections::BTreeMap;

use lift::{Compiled, Def, Device, Options, Sizes, Value};
use lift_interp::inputs::{Fill, generate};
use lift_interp::{compare, concrete_type};

/// Compiles a definition for the sizes at hand, and compares what it makes of random arguments: exactly, or as far as sums in
/// another order go.
pub fn agrees(
    def: &Def,
    known: &BTreeMap<String, i128>,
    device: &mut dyn Device,
    approximate: bool,
) {
    let sizes: Sizes = known.clone().into_iter().collect();
    let args: Vec<Value> = (1..)
        .zip(&def.params)
        .map(|(seed, param)| {
            let ty = concrete_type(param.ty(), &sizes).unwrap();
            generate(Fill::Random { seed }, &ty).unwrap()
        })
        .collect();
    let options = Options { sizes: known.clone(), ..Options::default() };
    let mut compiled = Compiled::new(def, &options, device).unwrap();
    let found = compiled.run(device, &args, &sizes).unwrap().result;
    let wanted = lift_interp::run(def, &args, &sizes).unwrap();
    let same = compare(&found, &wanted, approximate);
    assert!(same.is_ok(), "{} of {known:?} on {}: {same:?}", def.name, device.info().name);
}
