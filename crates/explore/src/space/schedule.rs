//! What tuning varies of how a kernel is transformed: clauses of `launch`, each with a parameter.
//!
//! A value of 0 leaves the clause out: the compiler chooses.

use lift_ir::{Def, Kind, Launch, LaunchClause, MapKind, Nat, Parameter, Prim, Space, Var};
use lift_lower::Target;

use crate::parameters::Bounds;

/// A clause that is offered.
pub struct Knob {
    /// Of the parameter.
    pub name: &'static str,
    clause: LaunchClause,
    /// What it says, in terms of the parameter.
    says: fn(Nat) -> Vec<Nat>,
    /// The values to try, besides 0.
    pub values: fn(&Bounds) -> &[i128],
    /// Whether it may change something: for a device, of a program with these patterns.
    matters: fn(Target, &[Prim]) -> bool,
}

pub const KNOBS: [Knob; 4] = [
    Knob {
        name: "PAD",
        clause: LaunchClause::Padding,
        says: |n| vec![n],
        values: |bounds| &bounds.paddings,
        // Rows are in groups of two dimensions.
        matters: |target, prims| {
            has_tiles(target, prims) && prims.contains(&Prim::Map(MapKind::Lcl(1)))
        },
    },
    Knob {
        name: "STAGES",
        clause: LaunchClause::Stages,
        says: |n| vec![n],
        values: |bounds| &bounds.stages,
        matters: |target, prims| has_tiles(target, prims) && has(prims, &["reduceSeq", "iterate"]),
    },
    Knob {
        name: "ROWS",
        clause: LaunchClause::Rows,
        says: |n| vec![n],
        values: |bounds| &bounds.rows,
        matters: |target, prims| target == Target::Loops && has(prims, &["slide"]),
    },
    Knob {
        name: "BLOCK",
        clause: LaunchClause::Blocks,
        // A plane of a block is flatter than it is deep.
        says: |n| vec![n.clone(), n * Nat::int(2)],
        values: |bounds| &bounds.blocks,
        matters: |target, prims| {
            let is_deep = prims.contains(&Prim::Map(MapKind::Glb(2)));
            target == Target::Loops && has(prims, &["slide"]) && is_deep
        },
    },
];

fn has_tiles(target: Target, prims: &[Prim]) -> bool {
    target == Target::Threads && prims.contains(&Prim::To(Space::Local))
}

fn has(prims: &[Prim], names: &[&str]) -> bool {
    let name = |prim: &Prim| lift_ir::table::name_of(prim);
    prims.iter().filter_map(name).any(|name| names.contains(&name))
}

pub fn knob(name: &str) -> Option<&'static Knob> {
    KNOBS.iter().find(|knob| knob.name == name)
}

/// Gives a program the parameters of what may change something.
pub(super) fn offer(def: &mut Def, target: Target) {
    let prims: Vec<Prim> = def.body.places().iter().filter_map(|(_, e)| prim(e.kind())).collect();
    for knob in KNOBS.iter().filter(|knob| (knob.matters)(target, &prims)) {
        let names = def.sizes.iter().chain(def.parameters.iter().map(|p| &p.var)).map(Var::name);
        let mut names = names.chain(def.params.iter().map(|p| p.name()));
        if !names.any(|name| name == knob.name) {
            def.parameters.push(Parameter { var: Var::named(knob.name), default: None });
        }
    }
}

/// A launch with what the parameters of a program say of it.
pub fn scheduled(launch: Launch, def: &Def) -> Launch {
    def.parameters.iter().fold(launch, |launch, parameter| match knob(parameter.var.name()) {
        Some(knob) => launch.with(knob.clause, (knob.says)(Nat::var(&parameter.var))),
        None => launch,
    })
}

fn prim(kind: &Kind) -> Option<Prim> {
    match kind {
        Kind::Call(call) => Some(call.prim.clone()),
        _ => None,
    }
}
