//! Scalar types that not every device computes with.

use lift_ir::{Def, Expr, Scalar, Span, Type};
use lift_lower::LowerError;
use lift_runtime::DeviceInfo;

use crate::Error;

/// Requires: the device has every scalar type that the definition uses.
pub(crate) fn check(def: &Def, info: &DeviceInfo) -> Result<(), Error> {
    let lacking = [(Scalar::F16, info.fp16), (Scalar::F64, info.fp64)];
    for (scalar, _) in lacking.iter().filter(|(_, has)| !has) {
        if let Some(span) = place(def, *scalar) {
            let (id, name) = (&info.id, &info.name);
            let text =
                format!("the device {id} ({name}) has no `{scalar}`: use `f32`, or another device");
            return Err(Error::Lower(LowerError::at(span, text)));
        }
    }
    Ok(())
}

/// Where a scalar type is used, if it is.
fn place(def: &Def, scalar: Scalar) -> Option<Option<Span>> {
    if uses(&def.ret, scalar) || def.params.iter().any(|p| uses(p.ty(), scalar)) {
        return Some(def.span);
    }
    in_expr(&def.body, scalar)
}

/// The innermost expression comes first: what is around it has the type of its parts.
fn in_expr(expr: &Expr, scalar: Scalar) -> Option<Option<Span>> {
    let inside = expr.children().into_iter().find_map(|child| in_expr(child, scalar));
    inside.or_else(|| uses(expr.ty(), scalar).then(|| expr.span()))
}

fn uses(ty: &Type, scalar: Scalar) -> bool {
    let mut found = false;
    ty.scalars(&mut |s| found |= s == scalar);
    found
}

#[cfg(test)]
mod tests {
    use lift_runtime::Language;

    use super::*;

    fn device(fp16: bool) -> DeviceInfo {
        DeviceInfo {
            id: "opencl:7".to_string(),
            name: "Small".to_string(),
            kind: "gpu",
            language: Language::OpenCl,
            compute_units: 1,
            memory_bytes: 0,
            max_buffer_bytes: 0,
            max_group_size: 1,
            max_group_sizes: [1; 3],
            max_groups: [1; 3],
            local_memory_bytes: 0,
            driver: String::new(),
            fp16,
            fp64: true,
            warp: 32,
        }
    }

    #[test]
    fn a_type_that_the_device_lacks_is_named_with_its_place() {
        let text = "def f[N](x: [f32; N]) -> [f32; N] = x |> map(\\v -> (v as f16) as f32);";
        let program = lift_syntax::check_text("f.lift", text).program;
        let def = program.entry().expect("a definition");
        assert!(check(def, &device(true)).is_ok());
        let Err(Error::Lower(error)) = check(def, &device(false)) else { panic!("it is refused") };
        let sentence = "the device opencl:7 (Small) has no `f16`: use `f32`, or another device";
        assert_eq!(error.message, sentence);
        let span = error.span.expect("a place");
        assert_eq!(&text[span.start as usize..span.end as usize], "v as f16");
    }
}
