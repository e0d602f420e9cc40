//! The source: kernels, a function for each form, and the function that chooses one by the sizes.

use std::fmt::Write;

use lift_execute::Error;
use lift_runtime::Language;

use crate::Library;
use crate::codes::{BUILD, COMMON, Codes, quoted};
use crate::form::Form;
use crate::header::prototype;
use crate::host;
use crate::interface::Interface;
use crate::run;

pub struct Source {
    pub text: String,
    pub codes: Codes,
}

const WIDE: &str = include_str!("support/wide.c");

/// Sizes up to here, so that products of three have room in 128 bits.
const LARGEST_SIZE: &str = "((lift_wide)1 << 40)";

pub fn source(
    interface: &Interface,
    forms: &[Form],
    library: &Library<'_>,
) -> Result<Source, Error> {
    let host = host::of(library.language);
    let mut codes = Codes::default();
    let mut text = format!(
        "/* {}.c: made by `lift export`. {} */\n#include \"{0}.h\"\n",
        interface.name,
        flags(library.language)
    );
    text.push_str("#include <stdlib.h>\n#include <string.h>\n\n");
    if library.language == Language::C {
        text.push_str(PRAGMAS);
    }
    let _ = writeln!(text, "{WIDE}");
    text.push_str(&host.kernels(interface, forms));
    let mut first = 0;
    for form in forms {
        text.push_str(&run::function(interface, form, first, library.language, &mut codes)?);
        text.push('\n');
        first += form.texts.len();
    }
    text.push_str(&entry(interface, forms, library.language));
    text.push_str(&error_text(interface, library.language, &codes));
    Ok(Source { text, codes })
}

/// Without OpenMP, loops over threads are loops. Some checks of indices are always true for the index's type.
const PRAGMAS: &str = "#ifdef __GNUC__
#pragma GCC diagnostic ignored \"-Wtype-limits\"
#ifndef _OPENMP
#pragma GCC diagnostic ignored \"-Wunknown-pragmas\"
#endif
#endif

";

fn flags(language: Language) -> &'static str {
    match language {
        Language::C => {
            "Integers wrap: compile with -fwrapv, and with -O3 -march=native -fopenmp for speed."
        }
        Language::OpenCl => "Link with -lOpenCL.",
        Language::Cuda => "Link with -lcuda -lnvrtc.",
    }
}

/// Looks at the arguments, then at the forms in order.
fn entry(interface: &Interface, forms: &[Form], language: Language) -> String {
    let (prefix, host) = (interface.prefix(), host::of(language));
    let mut out = format!("{} {{\n", prototype(interface, language));
    let arrays = interface.arguments.iter().filter(|a| a.is_array());
    let context = host.context_names().into_iter().take(1).map(|name| format!("!{name}"));
    let missing: Vec<String> =
        context.chain(arrays.map(|array| host.is_missing(&array.name))).collect();
    if !missing.is_empty() {
        let _ = writeln!(out, "  if ({}) return {prefix}_ERROR_NULL;", missing.join(" || "));
    }
    for (_, size) in &interface.sizes {
        let _ = writeln!(
            out,
            "  if ({size} < 1 || {size} > {LARGEST_SIZE}) return {prefix}_ERROR_SIZE;"
        );
    }
    let mut arguments: Vec<&str> = host.context_names();
    arguments.extend(interface.sizes.iter().map(|(_, name)| name.as_str()));
    arguments.extend(interface.arguments.iter().map(|a| a.name.as_str()));
    let arguments = arguments.join(", ");
    let mut is_total = false;
    for form in forms {
        let is = |(var, name): &(lift_ir::Var, String)| {
            form.sizes.get(var.name()).map(|value| format!("{name} == {value}"))
        };
        let conditions: Vec<String> = interface.sizes.iter().filter_map(is).collect();
        let call = format!("return {}({arguments});", form.function(&interface.name));
        is_total |= conditions.is_empty();
        let _ = match conditions.is_empty() {
            true => writeln!(out, "  {call}"),
            false => writeln!(out, "  if ({}) {call}", conditions.join(" && ")),
        };
        if is_total {
            break;
        }
    }
    if !is_total {
        let _ = writeln!(out, "  return {prefix}_ERROR_NOT_LISTED;");
    }
    out.push_str("}\n\n");
    out
}

fn error_text(interface: &Interface, language: Language, codes: &Codes) -> String {
    let mut out =
        format!("const char *{}_error_text(int code) {{\n  switch (code) {{\n", interface.name);
    let common = COMMON.iter().chain((language != Language::C).then_some(&BUILD));
    let common = common.map(|(_, number, text)| (*number, *text));
    for (number, text) in common.chain(codes.own()) {
        let _ = writeln!(out, "    case {number}: return {};", quoted(text));
    }
    out.push_str("    default: return \"there is no such error\";\n  }\n}\n");
    out
}
