//! Which types and sizes of a law are more special than its signature says.

use std::collections::BTreeSet;

use lift_ir::{BinaryOp, FoldKind, Prim};
use lift_rewrite::law::{Law, Op, Sort, Term, vector_variable};
use lift_syntax::ast::{self, TypeKind};

/// The law changes the order in which a fold takes elements, or that of a product and a quotient: it is exact on integers,
/// and up to rounding on floats.
pub fn regroups(law: &Law) -> bool {
    let mut found = false;
    law.left.each(&mut |term| {
        let Term::Call { op: Op::Exact(prim), .. } = term else { return };
        found = found
            || matches!(
                prim,
                Prim::Reduce(FoldKind::Any)
                    | Prim::Scan(FoldKind::Any)
                    | Prim::PartialReduce
                    | Prim::ReduceByIndex(FoldKind::Any)
                    | Prim::ReduceRange(FoldKind::Any)
                    | Prim::Binary(BinaryOp::Add | BinaryOp::Div)
            );
    });
    found
}

/// The type variables that vectors are made of.
pub fn scalar_types(law: &Law) -> BTreeSet<String> {
    let mut names = Vec::new();
    each_vector(law, &mut |prim, _, term| {
        let Term::Call { functions, args, .. } = term else { return };
        let metavariables = args.iter().chain(functions.iter().map(|f| &f.body));
        for found in metavariables {
            let (Term::Meta(name) | Term::Apply(name, _)) = found else { continue };
            match law.metavariable(name).map(|m| &m.sort) {
                Some(Sort::Value(ty)) if *prim == Prim::AsVector => type_names(ty, &mut names),
                Some(Sort::Function(params, result)) => {
                    params.iter().for_each(|ty| type_names(ty, &mut names));
                    type_names(result, &mut names);
                }
                _ => {}
            }
        }
    });
    each_vector_type(law, &mut |scalar, _| names.push(scalar.to_string()));
    names.into_iter().collect()
}

/// The size is the width of a vector.
pub fn is_width(law: &Law, name: &str) -> bool {
    let mut found = false;
    each_vector_type(law, &mut |_, width| found = found || width == name);
    each_vector(law, &mut |_, width, _| found = found || width == name);
    found
}

/// Calls `visit` on every pattern that makes vectors, with the name of the width.
fn each_vector(law: &Law, visit: &mut dyn FnMut(&Prim, &str, &Term)) {
    for side in [&law.left, &law.right] {
        side.each(&mut |term| {
            let Term::Call { op: Op::Exact(prim), sizes, .. } = term else { return };
            if !matches!(prim, Prim::AsVector | Prim::Vectorize) {
                return;
            }
            if let Some(width) = sizes.first().and_then(|size| size.as_var()) {
                visit(prim, width.name(), term);
            }
        });
    }
}

/// Calls `visit` on the scalar and the width of every `s_m` that is the element of an array.
fn each_vector_type(law: &Law, visit: &mut dyn FnMut(&str, &str)) {
    for m in &law.metavariables {
        if let Sort::Value(ty) = &m.sort
            && let TypeKind::Array(element, _) = &ty.kind
            && let TypeKind::Name(name) = &element.kind
            && let Some((scalar, width)) = vector_variable(name)
        {
            visit(scalar, width);
        }
    }
}

/// The type variables of a type, in order.
pub fn type_names(ty: &ast::Type, names: &mut Vec<String>) {
    match &ty.kind {
        TypeKind::Name(name) => {
            names.push(
                vector_variable(name).map_or(name.as_str(), |(scalar, _)| scalar).to_string(),
            );
        }
        TypeKind::Tuple(parts) => parts.iter().for_each(|p| type_names(p, names)),
        TypeKind::Array(element, _) | TypeKind::Over(element, _) => type_names(element, names),
        TypeKind::Function(params, result) => {
            params.iter().for_each(|p| type_names(p, names));
            type_names(result, names);
        }
        TypeKind::Scalar(_)
        | TypeKind::Vector(..)
        | TypeKind::Nat
        | TypeKind::Boundary
        | TypeKind::Permutation
        | TypeKind::Error => {}
    }
}

/// The type variables that may stand for any type.
pub fn free_types(law: &Law) -> BTreeSet<String> {
    let mut names = Vec::new();
    for m in &law.metavariables {
        match &m.sort {
            Sort::Value(ty) => type_names(ty, &mut names),
            Sort::Function(params, result) => {
                params.iter().for_each(|ty| type_names(ty, &mut names));
                type_names(result, &mut names);
            }
            Sort::Permutation | Sort::Boundary => {}
        }
    }
    let scalars = scalar_types(law);
    names.into_iter().filter(|name| !scalars.contains(name)).collect()
}
