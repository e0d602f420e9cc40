//! The arrays that values of a type are made of, and the types of arrays.

use lift_ir::{Nat, Scalar, Type};

/// A scalar or vector in a type: an array with this many dimensions, the lanes of a vector being the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leaf {
    pub scalar: Scalar,
    pub dimensions: usize,
}

/// In order. A value of `[(f32, i32); N]` is two arrays.
pub fn leaves(ty: &Type) -> Vec<Leaf> {
    fn below(ty: &Type, dimensions: usize, all: &mut Vec<Leaf>) {
        match ty {
            Type::Scalar(scalar) => all.push(Leaf { scalar: *scalar, dimensions }),
            Type::Vector(scalar, _) => {
                all.push(Leaf { scalar: *scalar, dimensions: dimensions + 1 })
            }
            Type::Tuple(components) => components.iter().for_each(|c| below(c, dimensions, all)),
            Type::Array(element, _) => below(element, dimensions + 1, all),
        }
    }
    let mut all = Vec::new();
    below(ty, 0, &mut all);
    all
}

/// For each array of a value, its scalar and the lengths of its dimensions as the program writes them.
pub fn lengths(ty: &Type) -> Vec<(Scalar, Vec<String>)> {
    fn below(ty: &Type, outer: &[String], all: &mut Vec<(Scalar, Vec<String>)>) {
        let within = |length: &Nat| [outer, &[length.to_string()]].concat();
        match ty {
            Type::Scalar(scalar) => all.push((*scalar, outer.to_vec())),
            Type::Vector(scalar, lanes) => all.push((*scalar, within(lanes))),
            Type::Tuple(components) => components.iter().for_each(|c| below(c, outer, all)),
            Type::Array(element, length) => below(element, &within(length), all),
        }
    }
    let mut all = Vec::new();
    below(ty, &[], &mut all);
    all
}

/// The type of a value whose arrays have these shapes; nothing where arrays of one value differ in length.
///
/// Requires: each shape has as many dimensions as its leaf.
pub fn concrete(ty: &Type, shapes: &[&[usize]]) -> Option<Type> {
    below(ty, 0, &mut shapes.iter().copied())
}

fn below<'a>(
    ty: &Type,
    outer: usize,
    shapes: &mut (impl Iterator<Item = &'a [usize]> + Clone),
) -> Option<Type> {
    match ty {
        Type::Scalar(scalar) => {
            shapes.next()?;
            Some(Type::Scalar(*scalar))
        }
        Type::Vector(scalar, _) => {
            let lanes = *shapes.next()?.get(outer)?;
            Some(Type::vector(*scalar, Nat::int(lanes as i128)))
        }
        Type::Tuple(components) => {
            let components: Option<Vec<Type>> =
                components.iter().map(|c| below(c, outer, shapes)).collect();
            Some(Type::tuple(components?))
        }
        Type::Array(element, _) => {
            let own = shapes.clone().take(leaves(element).len());
            let lengths: Option<Vec<usize>> = own.map(|shape| shape.get(outer).copied()).collect();
            let length = same(&lengths?)?;
            Some(Type::array(below(element, outer + 1, shapes)?, Nat::int(length as i128)))
        }
    }
}

fn same(lengths: &[usize]) -> Option<usize> {
    let first = lengths.first()?;
    lengths.iter().all(|length| length == first).then_some(*first)
}

/// The shape of each array of a value.
///
/// Requires: the sizes in the type are constants.
pub fn shapes(ty: &Type) -> Vec<Vec<usize>> {
    fn below(ty: &Type, outer: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
        let length = |n: &Nat| n.as_int().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        match ty {
            Type::Scalar(_) => all.push(outer.clone()),
            Type::Vector(_, lanes) => {
                outer.push(length(lanes));
                all.push(outer.clone());
                outer.pop();
            }
            Type::Tuple(components) => components.iter().for_each(|c| below(c, outer, all)),
            Type::Array(element, n) => {
                outer.push(length(n));
                below(element, outer, all);
                outer.pop();
            }
        }
    }
    let mut all = Vec::new();
    below(ty, &mut Vec::new(), &mut all);
    all
}
