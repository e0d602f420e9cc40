//! The header: the function, its errors, what the arrays are.

use std::fmt::Write;

use lift_runtime::Language;

use crate::Library;
use crate::codes::{BUILD, COMMON, Codes};
use crate::host;
use crate::interface::Interface;

pub fn header(interface: &Interface, library: &Library<'_>, codes: &Codes) -> String {
    let (name, prefix) = (&interface.name, interface.prefix());
    let language = library.language;
    let mut out = format!("/* {name}.h: made by `lift export`.\n *\n");
    let _ = writeln!(out, " *   {}\n */", comment(&interface.signature));
    let _ = writeln!(out, "#ifndef {prefix}_H\n#define {prefix}_H\n");
    out.push_str("#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n");
    out.push_str(host::of(language).includes());
    out.push_str("\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    let _ = writeln!(
        out,
        "/* What `{name}` returns; `{name}_error_text` says it in words. */\nenum {{"
    );
    let common = COMMON.iter().chain((language != Language::C).then_some(&BUILD));
    let lines: Vec<String> =
        common.map(|(name, number, _)| format!("  {prefix}_{name} = {number}")).collect();
    let _ = writeln!(out, "{}\n}};\n", lines.join(",\n"));
    if codes.own().next().is_some() {
        out.push_str("/* Besides, of this program:\n");
        for (number, text) in codes.own() {
            let _ = writeln!(out, " *   {number}: {}", comment(text));
        }
        out.push_str(" */\n\n");
    }
    out.push_str(&host::of(language).declarations(interface));
    let _ = writeln!(out, "/* {}", host::of(language).contract());
    for argument in &interface.arguments {
        let _ = writeln!(out, " *   {}: {}", argument.name, comment(&argument.ty));
    }
    let _ = writeln!(out, " */\n{};\n", prototype(interface, language));
    let _ = writeln!(out, "const char *{name}_error_text(int code);");
    out.push_str("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    out
}

/// `int mm(size_t M, size_t K, size_t N, const float *A, const float *B, float *result)`
pub fn prototype(interface: &Interface, language: Language) -> String {
    let mut parameters = host::of(language).context(interface);
    parameters.extend(interface.sizes.iter().map(|(_, name)| format!("size_t {name}")));
    let host = host::of(language);
    parameters.extend(interface.arguments.iter().map(|argument| host.parameter(argument)));
    let parameters = if parameters.is_empty() { "void".to_string() } else { parameters.join(", ") };
    format!("int {}({parameters})", interface.name)
}

/// Text that does not end a comment.
fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace('\n', "\n *   ")
}
