//! Kernels that a driver compiles: their texts and names as tables of the library.

use std::fmt::Write;

use crate::codes::quoted;
use crate::form::{Form, Text};

/// `lift_sources` and `lift_names`, one entry a kernel, and how many there are: `LIFT_KERNELS`.
pub fn tables(forms: &[Form]) -> String {
    let kernels = forms.iter().flat_map(|form| form.plan.kernels.iter().zip(&form.texts));
    let (mut sources, mut names, mut count) = (String::new(), String::new(), 0);
    for (kernel, text) in kernels {
        let Text::Source(source, _) = text else { continue };
        let lines: Vec<String> =
            source.lines().map(|line| format!("    {}", quoted(&format!("{line}\n")))).collect();
        let _ = writeln!(sources, "{},", lines.join("\n"));
        let _ = writeln!(names, "  {},", quoted(&kernel.name));
        count += 1;
    }
    // An array of nothing is not C.
    if count == 0 {
        sources.push_str("    \"\",\n");
        names.push_str("  \"\",\n");
    }
    format!(
        "#define LIFT_KERNELS {count}\n\nstatic const char *const lift_sources[] = {{\n{sources}}};\n\n\
         static const char *const lift_names[] = {{\n{names}}};\n\n"
    )
}
