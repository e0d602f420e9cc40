//! The arguments of a kernel: what it takes and what it is given.

use crate::BufferHandle;

/// The type of one kernel parameter. A `bool` travels as `U8`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArgType {
    Pointer,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

impl ArgType {
    /// Bytes of a scalar; nothing of a pointer, whose size is the device's business.
    pub fn scalar_bytes(self) -> Option<usize> {
        match self {
            ArgType::Pointer => None,
            ArgType::I8 | ArgType::U8 => Some(1),
            ArgType::I16 | ArgType::U16 | ArgType::F16 => Some(2),
            ArgType::I32 | ArgType::U32 | ArgType::F32 => Some(4),
            ArgType::I64 | ArgType::U64 | ArgType::F64 => Some(8),
        }
    }

    /// The type in C. `void *` converts to every pointer a kernel may take.
    pub(crate) fn c_name(self) -> &'static str {
        match self {
            ArgType::Pointer => "void *",
            ArgType::I8 => "signed char",
            ArgType::I16 => "short",
            ArgType::I32 => "int",
            ArgType::I64 => "long long",
            ArgType::U8 => "unsigned char",
            ArgType::U16 => "unsigned short",
            ArgType::U32 => "unsigned int",
            ArgType::U64 => "unsigned long long",
            ArgType::F16 => "_Float16",
            ArgType::F32 => "float",
            ArgType::F64 => "double",
        }
    }
}

/// One argument of a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arg {
    Buffer(BufferHandle),
    /// A scalar by value, in the host's byte order.
    Bytes(Vec<u8>),
}

impl From<BufferHandle> for Arg {
    fn from(buffer: BufferHandle) -> Arg {
        Arg::Buffer(buffer)
    }
}

macro_rules! scalar_args {
    ($($scalar:ty),*) => {$(
        impl From<$scalar> for Arg {
            fn from(value: $scalar) -> Arg {
                Arg::Bytes(value.to_ne_bytes().to_vec())
            }
        }
    )*};
}

scalar_args!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
