//! The metavariables of a law.

use lift_syntax::ast::{self, TypeKind};
use lift_syntax::parser;

use super::Read;
use crate::law::{Metavariable, Sort};

/// The signature is read as the parameters of a definition.
pub(super) fn read_signature(signature: &str) -> Read<Vec<Metavariable>> {
    let parsed = parser::parse(0, &format!("def law({signature}) = 0;"));
    if let Some(error) = parsed.diagnostics.first() {
        return Err(format!("`{signature}`: {}", error.message));
    }
    let [ast::Item::Def(def)] = parsed.file.items.as_slice() else {
        return Err(format!("`{signature}` is not a list of metavariables"));
    };
    Ok(def
        .params
        .iter()
        .map(|param| {
            let sort = match &param.ty.kind {
                TypeKind::Function(params, result) => {
                    Sort::Function(params.clone(), (**result).clone())
                }
                TypeKind::Permutation => Sort::Permutation,
                TypeKind::Boundary => Sort::Boundary,
                _ => Sort::Value(param.ty.clone()),
            };
            Metavariable { name: param.name.text.clone(), sort }
        })
        .collect())
}
