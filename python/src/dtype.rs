//! Scalars of programs as numpy's types.

use lift_ir::Scalar;

/// What numpy calls a type.
pub fn name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "bool",
        Scalar::I8 => "int8",
        Scalar::I16 => "int16",
        Scalar::I32 => "int32",
        Scalar::I64 => "int64",
        Scalar::U8 => "uint8",
        Scalar::U16 => "uint16",
        Scalar::U32 => "uint32",
        Scalar::U64 => "uint64",
        Scalar::F16 => "float16",
        Scalar::F32 => "float32",
        Scalar::F64 => "float64",
    }
}

/// The letter of its kind, as in `dtype.kind`.
pub fn kind(scalar: Scalar) -> u8 {
    match scalar {
        Scalar::Bool => b'b',
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => b'i',
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => b'u',
        Scalar::F16 | Scalar::F32 | Scalar::F64 => b'f',
    }
}

/// The type that numpy calls so.
pub fn named(text: &str) -> Option<Scalar> {
    Scalar::ALL.into_iter().find(|scalar| name(*scalar) == text)
}
