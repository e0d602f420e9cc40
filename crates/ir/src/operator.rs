//! The operators on scalars: how they are written and how tightly they bind.

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum UnaryOp {
    Neg,
    Not,
    /// Every bit of an integer the other way.
    BitNot,
}

impl UnaryOp {
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOp::Neg => "-",
            UnaryOp::Not => "!",
            UnaryOp::BitNot => "~",
        }
    }

    /// A word for what it does, as names of functions have it.
    pub fn name(self) -> &'static str {
        match self {
            UnaryOp::Neg => "neg",
            UnaryOp::Not => "not",
            UnaryOp::BitNot => "bitnot",
        }
    }
}

macro_rules! operators {
    ($($(#[$doc:meta])* $op:ident $symbol:literal $name:literal $strength:literal;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum BinaryOp {
            $($(#[$doc])* $op,)*
        }

        impl BinaryOp {
            pub const ALL: &[BinaryOp] = &[$(BinaryOp::$op,)*];

            pub fn symbol(self) -> &'static str {
                match self {
                    $(BinaryOp::$op => $symbol,)*
                }
            }

            /// A word for what it does, as names of functions have it.
            pub fn name(self) -> &'static str {
                match self {
                    $(BinaryOp::$op => $name,)*
                }
            }

            /// Binding strength, loosest first; the language's other operators bind looser or tighter
            /// than all of these.
            pub fn strength(self) -> u8 {
                match self {
                    $(BinaryOp::$op => $strength,)*
                }
            }
        }
    };
}

operators! {
    Or "||" "or" 1;
    And "&&" "and" 2;
    Eq "==" "eq" 3;
    Ne "!=" "ne" 3;
    Lt "<" "lt" 3;
    Le "<=" "le" 3;
    Gt ">" "gt" 3;
    Ge ">=" "ge" 3;
    BitOr "|" "bitor" 4;
    BitXor "^" "bitxor" 5;
    BitAnd "&" "bitand" 6;
    Shl "<<" "shl" 7;
    /// Arithmetic on signed integers. In front of a function it composes; that is not an operation.
    Shr ">>" "shr" 7;
    Add "+" "add" 8;
    Sub "-" "sub" 8;
    Mul "*" "mul" 9;
    Div "/" "div" 9;
    Rem "%" "rem" 9;
}

impl BinaryOp {
    /// That of the tightest.
    pub const MAX_STRENGTH: u8 = 9;

    pub fn is_comparison(self) -> bool {
        self.strength() == 3
    }

    /// Whether a comparison of two values holds; nothing for the other operators.
    pub fn holds<T: PartialOrd>(self, a: T, b: T) -> Option<bool> {
        match self {
            BinaryOp::Eq => Some(a == b),
            BinaryOp::Ne => Some(a != b),
            BinaryOp::Lt => Some(a < b),
            BinaryOp::Le => Some(a <= b),
            BinaryOp::Gt => Some(a > b),
            BinaryOp::Ge => Some(a >= b),
            BinaryOp::Or
            | BinaryOp::And
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::BitAnd
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem => None,
        }
    }

    pub fn is_logical(self) -> bool {
        matches!(self, BinaryOp::Or | BinaryOp::And)
    }

    pub fn is_shift(self) -> bool {
        matches!(self, BinaryOp::Shl | BinaryOp::Shr)
    }

    /// On the bits of integers, shifts included.
    pub fn is_bitwise(self) -> bool {
        (4..=7).contains(&self.strength())
    }

    /// On numbers, and giving a number.
    pub fn is_arithmetic(self) -> bool {
        self.strength() >= 8
    }
}
