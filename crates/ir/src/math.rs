//! Built-in scalar functions: how many operands each has, of which types, and the type of its result.

use crate::Scalar;

/// What the operands of a function are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operands {
    Numbers,
    Floats,
    Integers,
    /// Unsigned integers as wide as a float: `u16`, `u32`, `u64`.
    Bits,
    /// A `bool`, then two of any type.
    Choice,
    /// Two vectors of numbers.
    Vectors,
}

impl Operands {
    /// Whether a scalar, or a lane, may be an operand; of a choice, one of the two.
    pub fn take(self, scalar: Scalar) -> bool {
        match self {
            Operands::Numbers | Operands::Vectors => scalar.is_number(),
            Operands::Floats => scalar.is_float(),
            Operands::Integers => scalar.is_integer(),
            Operands::Bits => scalar.float_of_bits().is_some(),
            Operands::Choice => true,
        }
    }
}

/// What the result of a function is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Gives {
    /// As the operands.
    Same,
    Bool,
    /// The unsigned integer that is as wide as the float.
    Bits,
    /// The float that is as wide as the unsigned integer.
    Float,
}

macro_rules! functions {
    ($($(#[$doc:meta])* $function:ident $name:literal $arity:literal $operands:ident $gives:ident;)*) => {
        /// Built-in scalar functions, elementwise on vectors.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Math {
            $($(#[$doc])* $function,)*
        }

        impl Math {
            pub const ALL: &[Math] = &[$(Math::$function,)*];

            pub const fn name(self) -> &'static str {
                match self {
                    $(Math::$function => $name,)*
                }
            }

            pub fn arity(self) -> usize {
                match self {
                    $(Math::$function => $arity,)*
                }
            }

            pub fn operands(self) -> Operands {
                match self {
                    $(Math::$function => Operands::$operands,)*
                }
            }

            fn gives(self) -> Gives {
                match self {
                    $(Math::$function => Gives::$gives,)*
                }
            }
        }
    };
}

functions! {
    Abs "abs" 1 Numbers Same;
    Sign "sign" 1 Numbers Same;
    Min "min" 2 Numbers Same;
    Max "max" 2 Numbers Same;
    Clamp "clamp" 3 Numbers Same;
    Floor "floor" 1 Floats Same;
    Ceil "ceil" 1 Floats Same;
    Round "round" 1 Floats Same;
    Trunc "trunc" 1 Floats Same;
    Copysign "copysign" 2 Floats Same;
    Sqrt "sqrt" 1 Floats Same;
    Rsqrt "rsqrt" 1 Floats Same;
    Cbrt "cbrt" 1 Floats Same;
    Hypot "hypot" 2 Floats Same;
    Exp "exp" 1 Floats Same;
    Exp2 "exp2" 1 Floats Same;
    Expm1 "expm1" 1 Floats Same;
    Log "log" 1 Floats Same;
    Log2 "log2" 1 Floats Same;
    Log10 "log10" 1 Floats Same;
    Log1p "log1p" 1 Floats Same;
    Sin "sin" 1 Floats Same;
    Cos "cos" 1 Floats Same;
    Tan "tan" 1 Floats Same;
    Asin "asin" 1 Floats Same;
    Acos "acos" 1 Floats Same;
    Atan "atan" 1 Floats Same;
    Atan2 "atan2" 2 Floats Same;
    Sinh "sinh" 1 Floats Same;
    Cosh "cosh" 1 Floats Same;
    Tanh "tanh" 1 Floats Same;
    Asinh "asinh" 1 Floats Same;
    Acosh "acosh" 1 Floats Same;
    Atanh "atanh" 1 Floats Same;
    Erf "erf" 1 Floats Same;
    Erfc "erfc" 1 Floats Same;
    Pow "pow" 2 Floats Same;
    Fma "fma" 3 Floats Same;
    IsNan "is_nan" 1 Floats Bool;
    IsInf "is_inf" 1 Floats Bool;
    Popcount "popcount" 1 Integers Same;
    Clz "clz" 1 Integers Same;
    Ctz "ctz" 1 Integers Same;
    ToBits "to_bits" 1 Floats Bits;
    FromBits "from_bits" 1 Bits Float;
    Select "select" 3 Choice Same;
    Dot "dot" 2 Vectors Same;
}

impl Math {
    /// The scalar of the result, given that of the operands (of `select`, of what it chooses from).
    pub fn result(self, operand: Scalar) -> Scalar {
        match self.gives() {
            Gives::Same => operand,
            Gives::Bool => Scalar::Bool,
            Gives::Bits => operand.bits().unwrap_or(operand),
            Gives::Float => operand.float_of_bits().unwrap_or(operand),
        }
    }

    /// Whether the result has the type of every operand.
    pub fn keeps_type(self) -> bool {
        let alike = !matches!(self.operands(), Operands::Choice | Operands::Vectors);
        alike && self.gives() == Gives::Same
    }

    /// Whether the result is near the exact one, and not always the nearest number to it.
    pub fn is_approximate(self) -> bool {
        match self {
            Math::Sqrt
            | Math::Rsqrt
            | Math::Cbrt
            | Math::Hypot
            | Math::Exp
            | Math::Exp2
            | Math::Expm1
            | Math::Log
            | Math::Log2
            | Math::Log10
            | Math::Log1p
            | Math::Sin
            | Math::Cos
            | Math::Tan
            | Math::Asin
            | Math::Acos
            | Math::Atan
            | Math::Atan2
            | Math::Sinh
            | Math::Cosh
            | Math::Tanh
            | Math::Asinh
            | Math::Acosh
            | Math::Atanh
            | Math::Erf
            | Math::Erfc
            | Math::Pow => true,
            Math::Abs
            | Math::Sign
            | Math::Min
            | Math::Max
            | Math::Clamp
            | Math::Floor
            | Math::Ceil
            | Math::Round
            | Math::Trunc
            | Math::Copysign
            | Math::Fma
            | Math::IsNan
            | Math::IsInf
            | Math::Popcount
            | Math::Clz
            | Math::Ctz
            | Math::ToBits
            | Math::FromBits
            | Math::Select
            | Math::Dot => false,
        }
    }

    /// How far the result may be from the exact one in `f32`, in units in the last place; twice as far in
    /// `f64`. Nothing for what is exact.
    pub fn ulps(self) -> Option<f64> {
        match self {
            Math::Sqrt => Some(3.0),
            Math::Atan | Math::Atanh | Math::Tan | Math::Tanh => Some(5.0),
            Math::Atan2 => Some(6.0),
            Math::Erf | Math::Erfc | Math::Pow => Some(16.0),
            _ if self.is_approximate() => Some(4.0),
            _ => None,
        }
    }
}
