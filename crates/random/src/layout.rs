//! Arrays seen another way.

use lift_ir::{Boundary, Expr, Nat, Permutation, Prim, Range, Type};

use crate::domains::points;
use crate::generator::{Generator, Goal, Production, array};

pub(crate) const LAYOUTS: &[(u32, Production)] = &[
    (4, split),
    (5, join),
    (5, transpose),
    (8, reorder),
    (3, slide),
    (4, pad),
    (3, pad_value),
    (2, take),
    (2, drop),
    (3, concat),
    (3, generate),
    (2, points),
    (1, repeat),
    (2, written_out),
    (5, zip),
    (2, unzip),
    (12, as_vector),
    (4, as_scalar),
];

/// Strides whose products with small indices leave 32 bits.
const LARGE_PRIMES: [i128; 3] = [1_234_577, 4_000_000_007, 1_000_000_000_039];

fn split(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (row, n) = array(goal.ty)?;
    let (element, m) = array(&row).filter(|(_, m)| g.has_some(m))?;
    let xs = g.part(goal, &Type::array(element, n * &m))?;
    g.unary(Prim::Split, vec![m], xs)
}

fn join(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, n) = array(goal.ty)?;
    let (outer, inner) = g.factors(&n)?;
    let xs = g.part(goal, &Type::array(Type::array(element, inner), outer))?;
    g.unary(Prim::Join, vec![], xs)
}

fn transpose(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (row, n) = array(goal.ty)?;
    let (element, m) = array(&row)?;
    let xs = g.part(goal, &Type::array(Type::array(element, n), m))?;
    g.unary(Prim::Transpose, vec![], xs)
}

fn reorder(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (_, n) = array(goal.ty)?;
    let xs = g.part(goal, goal.ty)?;
    let permutation = g.permutation(&n)?;
    let gathers = g.random.chance(60);
    let prim = if gathers { Prim::Gather(permutation) } else { Prim::Scatter(permutation) };
    g.unary(prim, vec![], xs)
}

fn slide(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (row, n) = array(goal.ty).filter(|(_, n)| g.has_some(n))?;
    let (element, window) = array(&row).filter(|(_, window)| g.has_some(window))?;
    let step = Nat::int(g.random.between(1, 3).into());
    let length = (n - Nat::int(1)) * &step + &window;
    let xs = g.part(goal, &Type::array(element, length))?;
    g.unary(Prim::Slide, vec![window, step], xs)
}

fn pad(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, n) = array(goal.ty)?;
    let (left, right, rest) = g.margins(&n)?;
    let boundary = g.boundary(left, right, &rest)?;
    let within = g.value(&rest)? >= left.max(right);
    if boundary == Boundary::Mirror && !within {
        return None;
    }
    let xs = g.part(goal, &Type::array(element, rest))?;
    g.unary(Prim::Pad(boundary), vec![Nat::int(left), Nat::int(right)], xs)
}

fn pad_value(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, n) = array(goal.ty)?;
    let (left, right, rest) = g.margins(&n)?;
    let [value, xs] = g.split(goal.fuel);
    let value = g.make(&element, goal.scope, value)?;
    let xs = g.make(&Type::array(element, rest), goal.scope, xs)?;
    let sizes = vec![Nat::int(left), Nat::int(right)];
    g.call(Prim::PadValue, sizes, vec![], vec![value, xs])
}

fn take(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, n) = array(goal.ty)?;
    let more = Nat::int(g.random.between(0, 3).into());
    let xs = g.part(goal, &Type::array(element, &n + more))?;
    g.unary(Prim::Take, vec![n], xs)
}

fn drop(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, n) = array(goal.ty)?;
    let more = Nat::int(g.random.between(0, 3).into());
    let xs = g.part(goal, &Type::array(element, n + &more))?;
    g.unary(Prim::Drop, vec![more], xs)
}

fn concat(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, n) = array(goal.ty)?;
    let count = g.value(&n)?;
    let first = Nat::int(i128::from(g.random.between(1, i64::try_from(count).ok()?.min(6) - 1)));
    if first.as_int() >= Some(count) {
        return None;
    }
    let rest = g.cx.simplify(&(n - &first));
    let [a, b] = g.split(goal.fuel);
    let mut lengths = [first, rest];
    if g.random.chance(50) {
        lengths.reverse();
    }
    let [first, second] = lengths;
    let args = vec![
        g.make(&Type::array(element.clone(), first), goal.scope, a)?,
        g.make(&Type::array(element, second), goal.scope, b)?,
    ];
    g.call(Prim::Concat, vec![], vec![], args)
}

fn generate(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, n) = array(goal.ty)?;
    let scope = g.reader(goal.scope);
    let f = g.lambda(&[Type::I32], |g, _| g.make(&element, &scope, goal.fuel))?;
    g.call(Prim::Generate, vec![n], vec![f], vec![])
}

fn repeat(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, n) = array(goal.ty)?;
    let value = g.make(&element, goal.scope, goal.fuel)?;
    g.unary(Prim::Repeat, vec![n], value)
}

fn written_out(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, n) = array(goal.ty)?;
    let count = n.as_int().and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= 4)?;
    let fuel = g.split::<4>(goal.fuel);
    let parts: Option<Vec<Expr>> =
        fuel.iter().take(count).map(|fuel| g.make(&element, goal.scope, *fuel)).collect();
    g.call(Prim::Array, vec![], vec![], parts?)
}

fn zip(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, n) = array(goal.ty)?;
    let Type::Tuple(parts) = element else { return None };
    let fuel = g.split::<3>(goal.fuel);
    let arrays: Option<Vec<Expr>> = parts
        .iter()
        .enumerate()
        .map(|(i, part)| {
            let ty = Type::array(part.clone(), n.clone());
            g.make(&ty, goal.scope, fuel.get(i).copied().unwrap_or(0))
        })
        .collect();
    g.call(Prim::Zip, vec![], vec![], arrays?)
}

fn unzip(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, n) = array(goal.ty)?;
    let other = g.register_type();
    let (index, parts) =
        if g.random.chance(50) { (0, [element, other]) } else { (1, [other, element]) };
    let pairs = g.part(goal, &Type::array(Type::tuple(parts), n))?;
    let both = g.unary(Prim::Unzip, vec![], pairs)?;
    g.unary(Prim::Field(index), vec![], both)
}

fn as_vector(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, n) = array(goal.ty)?;
    let Type::Vector(scalar, width) = element else { return None };
    let xs = g.part(goal, &Type::array(Type::Scalar(scalar), n * &width))?;
    g.unary(Prim::AsVector, vec![width], xs)
}

fn as_scalar(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, n) = array(goal.ty)?;
    let Type::Scalar(scalar) = element else { return None };
    let widths: Vec<i128> =
        [2, 3, 4, 8].into_iter().filter(|w| g.divides(&Nat::int(*w), &n)).collect();
    let width = Nat::int(g.random.pick(&widths)?);
    let vectors = Type::array(Type::vector(scalar, width.clone()), n.exact_div(&width));
    let xs = g.part(goal, &vectors)?;
    g.unary(Prim::AsScalar, vec![], xs)
}

impl Generator<'_> {
    /// The array that a layout pattern takes.
    fn part(&mut self, goal: &Goal, ty: &Type) -> Option<Expr> {
        let ty = self.cx.simplify_type(ty);
        if !self.fits(&ty) {
            return None;
        }
        self.make(&ty, goal.scope, goal.fuel)
    }

    pub(crate) fn permutation(&mut self, n: &Nat) -> Option<Permutation> {
        let ways = if self.has_some(n) { 6 } else { 1 };
        Some(match self.random.below(ways) {
            0 => Permutation::Reverse,
            1 | 2 => {
                let (_, stride) = self.factors(n)?;
                Permutation::Stride(stride)
            }
            3 => Permutation::Shift(Nat::int(self.random.between(0, 5).into())),
            _ => {
                let i = self.cx.fresh_index("i", Range::below(n.clone()));
                let at = Nat::var(&i);
                let image = match self.random.below(5) {
                    0 => n - &Nat::int(1) - &at,
                    1 => (at + Nat::int(self.random.between(1, 4).into())).rem(n),
                    2 | 3 => {
                        let stride = self.large_stride(n)?;
                        (at * Nat::int(stride) + Nat::int(self.random.between(0, 9).into())).rem(n)
                    }
                    _ => {
                        let (rows, columns) = self.factors(n)?;
                        at.rem(&columns) * rows + at.div(&columns)
                    }
                };
                Permutation::Index(i, self.cx.simplify(&image))
            }
        })
    }

    /// A prime far beyond 32 bits, or almost, that does not divide a length.
    fn large_stride(&mut self, n: &Nat) -> Option<i128> {
        let prime = self.random.pick(&LARGE_PRIMES)?;
        (self.value(n)? % prime != 0).then_some(prime)
    }

    /// How to read beyond an array of a length.
    fn boundary(&mut self, left: i128, right: i128, n: &Nat) -> Option<Boundary> {
        Some(match self.random.below(5) {
            0 => Boundary::Clamp,
            1 => Boundary::Mirror,
            2 => Boundary::Wrap,
            _ => {
                let last = n - &Nat::int(1);
                let range = Range::between(Nat::int(-left), &last + Nat::int(right));
                let i = self.cx.fresh_index("i", range);
                let at = Nat::var(&i);
                let index = match self.random.below(6) {
                    0 => Nat::max(&Nat::int(0), &Nat::min(&at, &last)),
                    1 => (at + Nat::int(8) * n).rem(n),
                    2 => {
                        let stride = Nat::int(self.large_stride(n)?);
                        ((at + Nat::int(8) * n) * stride).rem(n)
                    }
                    // Not proved in range by what is known of a square.
                    3 => Nat::min(&(&at * &at), &last),
                    4 => {
                        let far = at * Nat::int(4_000_000_007);
                        Nat::max(&Nat::int(0), &Nat::min(&far, &last))
                    }
                    _ => Nat::int(0),
                };
                Boundary::Index(i, self.cx.simplify(&index))
            }
        })
    }

    /// Elements left and right of an array, and the length of what is between.
    fn margins(&mut self, n: &Nat) -> Option<(i128, i128, Nat)> {
        let count = self.value(n)?;
        let left = i128::from(self.random.between(0, 2));
        let right = i128::from(self.random.between(0, 2));
        (left + right < count)
            .then(|| (left, right, self.cx.simplify(&(n - &Nat::int(left + right)))))
    }
}
