//! Rows of arrays in local memory that are longer than they need be, so that columns lie in different banks.

use lift_ir::{Def, Kind, MapKind, Nat, Parameter, Prim, Space, Var};

/// The parameter that says by how much.
pub const NAME: &str = "PAD";

/// Gives a program the parameter if it may have rows in local memory: its groups copy something there, and they
/// have two dimensions.
pub(super) fn offer_padding(def: &mut Def) {
    let prims: Vec<Prim> = def.body.places().iter().filter_map(|(_, e)| prim(e.kind())).collect();
    let names = def.sizes.iter().chain(def.parameters.iter().map(|p| &p.var)).map(Var::name);
    let is_taken = names.chain(def.params.iter().map(|p| p.name())).any(|name| name == NAME);
    if !is_taken
        && prims.contains(&Prim::To(Space::Local))
        && prims.contains(&Prim::Map(MapKind::Lcl(1)))
    {
        def.parameters.push(Parameter { var: Var::named(NAME), default: None });
    }
}

/// What the launches of a program say of it.
pub fn padding(def: &Def) -> Option<Nat> {
    def.parameters.iter().find(|p| p.var.name() == NAME).map(|p| Nat::var(&p.var))
}

fn prim(kind: &Kind) -> Option<Prim> {
    match kind {
        Kind::Call(call) => Some(call.prim.clone()),
        _ => None,
    }
}
