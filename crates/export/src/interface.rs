//! The function from outside: what its arguments are called and which types they have.

use lift_ir::{Def, Scalar, Type, Var};
use lift_kernel::target_name;

pub struct Interface {
    pub name: String,
    /// Sizes, then what the program takes, then its results.
    pub sizes: Vec<(Var, String)>,
    pub arguments: Vec<Argument>,
    /// As the program writes it.
    pub signature: String,
}

/// An array, or a scalar that is passed by value.
pub struct Argument {
    pub name: String,
    pub scalar: Scalar,
    pub kind: Kind,
    /// Of the program's parameter or result, for people.
    pub ty: String,
}

/// Where an argument comes from. Values of tuples are several arrays, their leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Scalar { param: usize },
    Input { param: usize, leaf: usize },
    Output { leaf: usize },
}

impl Interface {
    pub fn of(name: &str, def: &Def) -> Interface {
        let mut taken: Vec<String> = Vec::new();
        let sizes = def.sizes.iter().map(|size| (size.clone(), free(size.name(), &mut taken)));
        let sizes = sizes.collect();
        let mut arguments = Vec::new();
        for (param, given) in def.params.iter().enumerate() {
            let ty = given.ty();
            if let Type::Scalar(scalar) = ty {
                let name = free(given.name(), &mut taken);
                let kind = Kind::Scalar { param };
                arguments.push(Argument { name, scalar: *scalar, kind, ty: ty.to_string() });
                continue;
            }
            let kind = |leaf| Kind::Input { param, leaf };
            arguments.extend(leaves(given.name(), ty, kind, &mut taken));
        }
        arguments.extend(leaves("result", &def.ret, |leaf| Kind::Output { leaf }, &mut taken));
        Interface { name: name.to_string(), sizes, arguments, signature: signature(def) }
    }

    /// The name of constants: `MM_OK`.
    pub fn prefix(&self) -> String {
        self.name.trim_end_matches('_').to_ascii_uppercase()
    }

    pub fn find(&self, kind: Kind) -> Option<&Argument> {
        self.arguments.iter().find(|argument| argument.kind == kind)
    }
}

impl Argument {
    /// The type of its scalars in C and C++. A `_Float16` is its bits, since not all compilers have the type.
    pub fn c_type(&self) -> &'static str {
        match self.scalar {
            Scalar::Bool => "bool",
            Scalar::I8 => "int8_t",
            Scalar::I16 => "int16_t",
            Scalar::I32 => "int32_t",
            Scalar::I64 => "int64_t",
            Scalar::U8 => "uint8_t",
            Scalar::U16 | Scalar::F16 => "uint16_t",
            Scalar::U32 => "uint32_t",
            Scalar::U64 => "uint64_t",
            Scalar::F32 => "float",
            Scalar::F64 => "double",
        }
    }

    pub fn is_array(&self) -> bool {
        !matches!(self.kind, Kind::Scalar { .. })
    }
}

/// The arrays of a value, one a scalar or vector in its type.
fn leaves(
    name: &str,
    ty: &Type,
    kind: impl Fn(usize) -> Kind,
    taken: &mut Vec<String>,
) -> Vec<Argument> {
    let mut scalars = Vec::new();
    ty.scalars(&mut |scalar| scalars.push(scalar));
    let several = scalars.len() > 1;
    let argument = |(leaf, scalar): (usize, Scalar)| {
        let wanted = if several { format!("{name}_{leaf}") } else { name.to_string() };
        let part = if several { format!("part {leaf} of {ty}") } else { ty.to_string() };
        Argument { name: free(&wanted, taken), scalar, kind: kind(leaf), ty: part }
    };
    scalars.into_iter().enumerate().map(argument).collect()
}

/// A name in C for a name of the program, which no other argument has.
fn free(wanted: &str, taken: &mut Vec<String>) -> String {
    let mut name = target_name(wanted);
    while taken.contains(&name) {
        name.push('_');
    }
    taken.push(name.clone());
    name
}

/// `def mm[M, K, N](A: [[f32; K]; M], B: [[f32; N]; K]) -> [[f32; N]; M]`
pub fn signature(def: &Def) -> String {
    let sizes: Vec<&str> = def.sizes.iter().map(Var::name).collect();
    let params: Vec<String> =
        def.params.iter().map(|p| format!("{}: {}", p.name(), p.ty())).collect();
    let wheres: Vec<String> = def.wheres.iter().map(|clause| clause.pred.to_string()).collect();
    let sizes = if sizes.is_empty() { String::new() } else { format!("[{}]", sizes.join(", ")) };
    let wheres =
        if wheres.is_empty() { String::new() } else { format!(" where {}", wheres.join(", ")) };
    format!("def {}{sizes}({}) -> {}{wheres}", def.name, params.join(", "), def.ret)
}
