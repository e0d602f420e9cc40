//! Programs written in Rust.
//!
//! ```
//! use lift_ir::{Build, Context, Facts, Nat, Type, Var};
//!
//! let n = Var::named("N");
//! let mut facts = Facts::new();
//! facts.size(&n);
//! let cx = Context::new(facts);
//! let b = Build::new(&cx);
//! let xs = b.param("xs", Type::array(Type::F32, &n));
//! let sum = b.reduce(b.f32(0.0), |acc, x| b.add(acc, x), b.map(|x| b.mul(&x, &x), &xs));
//! assert_eq!(sum?.to_string(), "map(\\x -> x * x, xs) |> reduce(0.0, (+))");
//! # Ok::<(), lift_ir::TypeError>(())
//! ```
//!
//! Every method returns a checked expression or a type error, and takes such results as arguments,
//! so that calls nest as in the language; the first error comes out at the end.

use lift_nat::Nat;

use crate::{
    BinaryOp, Boundary, Context, Expr, FoldKind, Lambda, Literal, MapKind, Math, Param,
    Permutation, Prim, Scalar, Space, Type, TypeError, UnaryOp,
};

pub type Built = Result<Expr, TypeError>;

/// What a builder method takes: an expression, or the result of making one.
pub trait Arg {
    fn built(self) -> Built;
}

impl Arg for Expr {
    fn built(self) -> Built {
        Ok(self)
    }
}

impl Arg for &Expr {
    fn built(self) -> Built {
        Ok(self.clone())
    }
}

impl Arg for Built {
    fn built(self) -> Built {
        self
    }
}

impl Arg for &Built {
    fn built(self) -> Built {
        self.clone()
    }
}

#[derive(Clone, Copy)]
pub struct Build<'a> {
    cx: &'a Context,
}

macro_rules! arrays_to_arrays {
    ($($(#[$law:meta])* $name:ident($($size:ident),*) => $prim:expr;)*) => {
        $($(#[$law])*
        pub fn $name(&self, $($size: impl Into<Nat>,)* xs: impl Arg) -> Built {
            self.cx.call($prim, vec![$($size.into()),*], vec![], vec![xs.built()?])
        })*
    };
}

macro_rules! maps {
    ($($name:ident => $kind:expr;)*) => {
        $(pub fn $name(&self, f: impl FnOnce(Expr) -> Built, xs: impl Arg) -> Built {
            self.map_as($kind, f, xs)
        })*
    };
}

macro_rules! operators {
    ($($name:ident => $op:expr;)*) => {
        $(pub fn $name(&self, a: impl Arg, b: impl Arg) -> Built {
            self.cx.call(Prim::Binary($op), vec![], vec![], vec![a.built()?, b.built()?])
        })*
    };
}

impl<'a> Build<'a> {
    pub fn new(cx: &'a Context) -> Build<'a> {
        Build { cx }
    }

    /// A free variable.
    pub fn param(&self, name: &str, ty: Type) -> Expr {
        self.cx.var(&self.cx.fresh(name, ty))
    }

    pub fn f32(&self, value: f32) -> Expr {
        self.cx.literal(Literal::f32(value))
    }

    pub fn i32(&self, value: i32) -> Expr {
        self.cx.literal(Literal::Int(Scalar::I32, i128::from(value)))
    }

    pub fn size(&self, size: impl Into<Nat>) -> Built {
        self.cx.size(&size.into(), Scalar::I32)
    }

    /// A function whose parameters have the given types.
    pub fn lambda<const K: usize>(
        &self,
        params: [(&str, Type); K],
        body: impl FnOnce([Expr; K]) -> Built,
    ) -> Result<Lambda, TypeError> {
        let params = params.map(|(name, ty)| self.cx.fresh(name, ty));
        let vars = params.each_ref().map(|p: &Param| self.cx.var(p));
        Ok(Lambda { size: None, params: params.into(), body: body(vars)? })
    }

    /// A function of an array's element.
    fn of_element(&self, f: impl FnOnce(Expr) -> Built, xs: &Expr) -> Result<Lambda, TypeError> {
        self.lambda([("x", element_of(xs))], |[x]| f(x))
    }

    pub fn map_as(&self, kind: MapKind, f: impl FnOnce(Expr) -> Built, xs: impl Arg) -> Built {
        let xs = xs.built()?;
        let f = self.of_element(f, &xs)?;
        self.cx.call(Prim::Map(kind), vec![], vec![f], vec![xs])
    }

    maps! {
        map => MapKind::Map;
        map_seq => MapKind::Seq;
        map_seq_unroll => MapKind::SeqUnroll;
    }

    fn fold(
        &self,
        prim: Prim,
        sizes: Vec<Nat>,
        z: Expr,
        f: impl FnOnce(Expr, Expr) -> Built,
        xs: Expr,
    ) -> Built {
        let params = [("acc", z.ty().clone()), ("x", element_of(&xs))];
        let f = self.lambda(params, |[acc, x]| f(acc, x))?;
        self.cx.call(prim, sizes, vec![f], vec![z, xs])
    }

    pub fn reduce_as(
        &self,
        kind: FoldKind,
        z: impl Arg,
        f: impl FnOnce(Expr, Expr) -> Built,
        xs: impl Arg,
    ) -> Built {
        self.fold(Prim::Reduce(kind), vec![], z.built()?, f, xs.built()?)
    }

    pub fn reduce(&self, z: impl Arg, f: impl FnOnce(Expr, Expr) -> Built, xs: impl Arg) -> Built {
        self.reduce_as(FoldKind::Any, z, f, xs)
    }

    pub fn reduce_seq(
        &self,
        z: impl Arg,
        f: impl FnOnce(Expr, Expr) -> Built,
        xs: impl Arg,
    ) -> Built {
        self.reduce_as(FoldKind::Seq, z, f, xs)
    }

    pub fn scan(&self, z: impl Arg, f: impl FnOnce(Expr, Expr) -> Built, xs: impl Arg) -> Built {
        self.fold(Prim::Scan(FoldKind::Any), vec![], z.built()?, f, xs.built()?)
    }

    pub fn partial_reduce(
        &self,
        m: impl Into<Nat>,
        z: impl Arg,
        f: impl FnOnce(Expr, Expr) -> Built,
        xs: impl Arg,
    ) -> Built {
        self.fold(Prim::PartialReduce, vec![m.into()], z.built()?, f, xs.built()?)
    }

    pub fn reduce_by_index(
        &self,
        k: impl Into<Nat>,
        z: impl Arg,
        f: impl FnOnce(Expr, Expr) -> Built,
        is: impl Arg,
        xs: impl Arg,
    ) -> Built {
        let (z, is, xs) = (z.built()?, is.built()?, xs.built()?);
        let params = [("acc", z.ty().clone()), ("x", element_of(&xs))];
        let f = self.lambda(params, |[acc, x]| f(acc, x))?;
        let prim = Prim::ReduceByIndex(FoldKind::Any);
        self.cx.call(prim, vec![k.into()], vec![f], vec![z, is, xs])
    }

    arrays_to_arrays! {
        split(chunk) => Prim::Split;
        join() => Prim::Join;
        transpose() => Prim::Transpose;
        slide(window, step) => Prim::Slide;
        take(count) => Prim::Take;
        drop(count) => Prim::Drop;
        head() => Prim::Head;
        unzip() => Prim::Unzip;
        as_vector(width) => Prim::AsVector;
        as_scalar() => Prim::AsScalar;
        id() => Prim::Id;
        /// The constant array.
        repeat(length) => Prim::Repeat;
        splat(width) => Prim::Splat;
        lane(index) => Prim::Lane;
    }

    pub fn zip(&self, arrays: impl IntoIterator<Item = impl Arg>) -> Built {
        self.variadic(Prim::Zip, arrays)
    }

    pub fn tuple(&self, components: impl IntoIterator<Item = impl Arg>) -> Built {
        self.variadic(Prim::Tuple, components)
    }

    pub fn array(&self, elements: impl IntoIterator<Item = impl Arg>) -> Built {
        self.variadic(Prim::Array, elements)
    }

    fn variadic(&self, prim: Prim, args: impl IntoIterator<Item = impl Arg>) -> Built {
        let args: Result<Vec<Expr>, TypeError> = args.into_iter().map(Arg::built).collect();
        self.cx.call(prim, vec![], vec![], args?)
    }

    pub fn field(&self, tuple: impl Arg, index: u32) -> Built {
        self.cx.call(Prim::Field(index), vec![], vec![], vec![tuple.built()?])
    }

    pub fn gather(&self, p: Permutation, xs: impl Arg) -> Built {
        self.cx.call(Prim::Gather(p), vec![], vec![], vec![xs.built()?])
    }

    pub fn scatter(&self, p: Permutation, xs: impl Arg) -> Built {
        self.cx.call(Prim::Scatter(p), vec![], vec![], vec![xs.built()?])
    }

    pub fn pad(
        &self,
        left: impl Into<Nat>,
        right: impl Into<Nat>,
        b: Boundary,
        xs: impl Arg,
    ) -> Built {
        self.cx.call(Prim::Pad(b), vec![left.into(), right.into()], vec![], vec![xs.built()?])
    }

    pub fn pad_value(
        &self,
        left: impl Into<Nat>,
        right: impl Into<Nat>,
        value: impl Arg,
        xs: impl Arg,
    ) -> Built {
        let sizes = vec![left.into(), right.into()];
        self.cx.call(Prim::PadValue, sizes, vec![], vec![value.built()?, xs.built()?])
    }

    pub fn concat(&self, xs: impl Arg, ys: impl Arg) -> Built {
        self.cx.call(Prim::Concat, vec![], vec![], vec![xs.built()?, ys.built()?])
    }

    pub fn at(&self, index: impl Arg, xs: impl Arg) -> Built {
        self.cx.call(Prim::At, vec![], vec![], vec![index.built()?, xs.built()?])
    }

    pub fn generate(&self, length: impl Into<Nat>, f: impl FnOnce(Expr) -> Built) -> Built {
        let f = self.lambda([("i", Type::I32)], |[i]| f(i))?;
        self.cx.call(Prim::Generate, vec![length.into()], vec![f], vec![])
    }

    /// `f` keeps the type of its argument; one that changes the length is built by hand.
    pub fn iterate(
        &self,
        times: impl Into<Nat>,
        f: impl FnOnce(Expr) -> Built,
        xs: impl Arg,
    ) -> Built {
        let xs = xs.built()?;
        let f = self.lambda([("xs", xs.ty().clone())], |[x]| f(x))?;
        self.cx.call(Prim::Iterate, vec![times.into()], vec![f], vec![xs])
    }

    /// `f` is given the number of the application, from 0.
    pub fn iterate_index(
        &self,
        times: impl Into<Nat>,
        f: impl FnOnce(Expr, Expr) -> Built,
        x: impl Arg,
    ) -> Built {
        let x = x.built()?;
        let f = self.lambda([("i", Type::I32), ("x", x.ty().clone())], |[i, x]| f(i, x))?;
        self.cx.call(Prim::IterateIndex, vec![times.into()], vec![f], vec![x])
    }

    /// `f` until `p` holds.
    pub fn iterate_until(
        &self,
        times: impl Into<Nat>,
        p: impl FnOnce(Expr) -> Built,
        f: impl FnOnce(Expr) -> Built,
        x: impl Arg,
    ) -> Built {
        let x = x.built()?;
        let p = self.lambda([("x", x.ty().clone())], |[x]| p(x))?;
        let f = self.lambda([("x", x.ty().clone())], |[x]| f(x))?;
        self.cx.call(Prim::IterateUntil, vec![times.into()], vec![p, f], vec![x])
    }

    /// `f` of scalars applied to vectors of the given width.
    pub fn vectorize(
        &self,
        width: impl Into<Nat>,
        f: Lambda,
        args: impl IntoIterator<Item = impl Arg>,
    ) -> Built {
        let args: Result<Vec<Expr>, TypeError> = args.into_iter().map(Arg::built).collect();
        self.cx.call(Prim::Vectorize, vec![width.into()], vec![f], args?)
    }

    /// `f(x)`, its result stored in `space`.
    pub fn to(&self, space: Space, f: impl FnOnce(Expr) -> Built, x: impl Arg) -> Built {
        let x = x.built()?;
        let f = self.lambda([("x", x.ty().clone())], |[x]| f(x))?;
        self.cx.call(Prim::To(space), vec![], vec![f], vec![x])
    }

    pub fn let_in(&self, name: &str, value: impl Arg, body: impl FnOnce(Expr) -> Built) -> Built {
        let value = value.built()?;
        let param = self.cx.fresh(name, value.ty().clone());
        let body = body(self.cx.var(&param))?;
        self.cx.let_in(param, value, body)
    }

    pub fn if_then(&self, condition: impl Arg, then: impl Arg, otherwise: impl Arg) -> Built {
        let args = vec![condition.built()?, then.built()?, otherwise.built()?];
        self.cx.call(Prim::If, vec![], vec![], args)
    }

    pub fn cast(&self, value: impl Arg, scalar: Scalar) -> Built {
        self.cx.call(Prim::Cast(scalar), vec![], vec![], vec![value.built()?])
    }

    pub fn neg(&self, value: impl Arg) -> Built {
        self.cx.call(Prim::Unary(UnaryOp::Neg), vec![], vec![], vec![value.built()?])
    }

    operators! {
        add => BinaryOp::Add;
        sub => BinaryOp::Sub;
        mul => BinaryOp::Mul;
        div => BinaryOp::Div;
        rem => BinaryOp::Rem;
        eq => BinaryOp::Eq;
        lt => BinaryOp::Lt;
        le => BinaryOp::Le;
        and => BinaryOp::And;
        or => BinaryOp::Or;
    }

    pub fn math(&self, math: Math, args: impl IntoIterator<Item = impl Arg>) -> Built {
        self.variadic(Prim::Math(math), args)
    }
}

/// The element type of an array; of anything else the type itself, which the constructor refuses.
fn element_of(xs: &Expr) -> Type {
    xs.ty().as_array().map_or_else(|| xs.ty().clone(), |(element, _)| element.clone())
}
