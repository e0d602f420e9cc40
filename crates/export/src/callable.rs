//! A library in one text, to be compiled and called in the process that made it.

use std::fmt::Write;

use lift_ir::Scalar;
use lift_runtime::ArgType;

use crate::Library;
use crate::codes::COMMON;
use crate::header::header;
use crate::interface::{Argument, Interface};
use crate::source::Source;

/// What a caller needs: arguments are the sizes, what the program takes, its results, and last where the error goes.
pub struct Callable {
    pub source: String,
    /// The function to call. It returns nothing.
    pub name: String,
    pub params: Vec<ArgType>,
    /// What the numbers mean that it leaves in its last argument, an `i32`. 0 is none.
    pub errors: Vec<(i32, String)>,
}

pub(crate) fn callable(interface: &Interface, library: &Library<'_>, made: Source) -> Callable {
    let Source { text, codes } = made;
    let include = format!("#include \"{}.h\"\n", interface.name);
    let mut source = text.replacen(&include, &header(interface, library, &codes), 1);
    let name = format!("{}_into", interface.name.trim_end_matches('_'));
    let sizes = interface.sizes.iter().map(|(_, name)| (format!("size_t {name}"), name));
    let arguments = interface.arguments.iter().map(|a| match a.is_array() {
        true => (format!("void *{}", a.name), &a.name),
        false => (format!("{} {}", a.c_type(), a.name), &a.name),
    });
    let (params, names): (Vec<String>, Vec<&String>) = sizes.chain(arguments).unzip();
    let params: Vec<String> = params.into_iter().chain(["void *lift_error".to_string()]).collect();
    let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    let _ = writeln!(
        source,
        "\nvoid {name}({}) {{ *(int32_t *)lift_error = {}({}); }}",
        params.join(", "),
        interface.name,
        names.join(", ")
    );
    let sizes = interface.sizes.iter().map(|_| ArgType::U64);
    let arguments = interface.arguments.iter().map(param);
    let params = sizes.chain(arguments).chain([ArgType::Pointer]).collect();
    let common = COMMON.iter().map(|(_, number, text)| (*number as i32, (*text).to_string()));
    let own = codes.own().map(|(number, text)| (number as i32, text.to_string()));
    Callable { source, name, params, errors: common.chain(own).collect() }
}

fn param(argument: &Argument) -> ArgType {
    if argument.is_array() {
        return ArgType::Pointer;
    }
    match argument.scalar {
        Scalar::Bool | Scalar::U8 => ArgType::U8,
        Scalar::I8 => ArgType::I8,
        Scalar::I16 => ArgType::I16,
        Scalar::I32 => ArgType::I32,
        Scalar::I64 => ArgType::I64,
        // A half is passed as its bits.
        Scalar::U16 | Scalar::F16 => ArgType::U16,
        Scalar::U32 => ArgType::U32,
        Scalar::U64 => ArgType::U64,
        Scalar::F32 => ArgType::F32,
        Scalar::F64 => ArgType::F64,
    }
}
