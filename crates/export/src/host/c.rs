//! C with OpenMP: kernels are functions, memory is the caller's and the heap's.

use std::collections::BTreeSet;
use std::fmt::Write;

use lift_ir::Scalar;
use lift_kernel::Pieces;

use super::{Host, Launch, Passed, fail};
use crate::form::{Form, Text};
use crate::interface::{Argument, Interface, Kind};

pub struct C;

const MEMORY: &str = include_str!("../support/c.c");

const HALF: &str = include_str!("../support/half.c");

impl Host for C {
    fn includes(&self) -> &'static str {
        ""
    }

    fn declarations(&self, _: &Interface) -> String {
        String::new()
    }

    fn contract(&self) -> &'static str {
        "Arrays lie row by row, as the types say; results overlap nothing else. Any number of threads may call."
    }

    fn context(&self, _: &Interface) -> Vec<String> {
        Vec::new()
    }

    fn context_names(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn parameter(&self, argument: &Argument) -> String {
        let (ty, name) = (argument.c_type(), &argument.name);
        match argument.kind {
            Kind::Scalar { .. } => format!("{ty} {name}"),
            Kind::Input { .. } => format!("const {ty} *{name}"),
            Kind::Output { .. } => format!("{ty} *{name}"),
        }
    }

    /// What kernels have in common stands once.
    fn kernels(&self, interface: &Interface, forms: &[Form]) -> String {
        let pieces = || forms.iter().flat_map(|form| &form.texts).filter_map(function);
        let head: BTreeSet<&str> =
            pieces().flat_map(|p| p.head.lines()).filter(|line| !line.is_empty()).collect();
        let mut out = String::new();
        // Headers come before what is said about them.
        head.iter().for_each(|line| out.extend([*line, "\n"]));
        let _ = writeln!(out, "\n{MEMORY}");
        let is_half = |a: &Argument| a.scalar == Scalar::F16 && !a.is_array();
        if interface.arguments.iter().any(is_half) {
            let _ = writeln!(out, "{HALF}");
        }
        let mut helpers: Vec<&str> = Vec::new();
        for helper in pieces().flat_map(|p| &p.helpers) {
            if !helpers.contains(&helper.as_str()) {
                helpers.push(helper);
                let _ = writeln!(out, "{}\n", helper.trim_end());
            }
        }
        for piece in pieces() {
            let _ = writeln!(out, "static {}\n", piece.function.trim_end());
        }
        out
    }

    fn buffer(&self, variable: &str) -> String {
        format!("void *{variable} = NULL;")
    }

    fn given(&self, argument: &Argument) -> String {
        format!("(void *){}", argument.name)
    }

    fn allocate(&self, interface: &Interface, variable: &str, bytes: &str) -> String {
        format!(
            "{variable} = lift_memory({bytes});\n  if (!{variable}) {}",
            fail(interface, "ERROR_MEMORY")
        )
    }

    fn free(&self, variable: &str) -> String {
        format!("free({variable});")
    }

    fn start_status(&self, _: &Interface, variable: &str) -> String {
        format!("_Alignas(16) int32_t lift_words[4] = {{0}};\n  void *{variable} = lift_words;")
    }

    fn read_status(&self, _: &Interface, _: &str) -> String {
        "int32_t lift_status = lift_words[0];".to_string()
    }

    fn read_flag(&self, _: &Interface, variable: &str) -> String {
        format!("unsigned char lift_flag = *(unsigned char *){variable};")
    }

    fn launch(&self, _: &Interface, launch: &Launch<'_>) -> String {
        let argument = |passed: &Passed<'_>| match passed {
            Passed::Buffer(variable) => variable.clone(),
            Passed::Scalar(given) if given.scalar == Scalar::F16 => {
                format!("lift_half({})", given.name)
            }
            Passed::Scalar(given) => given.name.clone(),
            Passed::Size(size) => format!("(int64_t)({size})"),
        };
        let arguments: Vec<String> = launch.args.iter().map(argument).collect();
        format!("{}({});", launch.kernel, arguments.join(", "))
    }
}

fn function(text: &Text) -> Option<&Pieces> {
    match text {
        Text::Function(pieces) => Some(pieces),
        Text::Source(..) => None,
    }
}
