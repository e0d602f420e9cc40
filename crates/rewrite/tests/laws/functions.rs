//! Random functions of given types: they do not commute, and use what they are given.

use lift_ir::{
    BinaryOp, Build, Context, Expr, FoldKind, Lambda, Literal, Param, Prim, Scalar, Type, TypeError,
};
use lift_random::Random;

pub struct Functions<'a> {
    pub cx: &'a Context,
    pub random: &'a mut Random,
}

type Built<T> = Result<T, TypeError>;

const OPERATORS: &[(u32, BinaryOp)] = &[(3, BinaryOp::Add), (4, BinaryOp::Sub), (3, BinaryOp::Mul)];

/// Of integers there are bits, and quotients that may have no value.
const OF_INTEGERS: &[(u32, BinaryOp)] = &[
    (6, BinaryOp::Add),
    (8, BinaryOp::Sub),
    (6, BinaryOp::Mul),
    (1, BinaryOp::Div),
    (1, BinaryOp::Rem),
    (1, BinaryOp::BitXor),
    (1, BinaryOp::Shr),
];

impl Functions<'_> {
    /// A function of parameters of these types, which may also use a value from outside.
    pub fn lambda(
        &mut self,
        params: &[Type],
        result: &Type,
        outside: Option<Expr>,
    ) -> Built<Lambda> {
        let names = ["x", "y", "v", "w"];
        let params: Vec<Param> =
            params.iter().zip(names).map(|(ty, name)| self.cx.fresh(name, ty.clone())).collect();
        let mut scope: Vec<Expr> = params.iter().map(|p| self.cx.var(p)).collect();
        if self.random.chance(30) {
            scope.extend(outside);
        }
        let fuel = u32::try_from(self.random.between(1, 3)).unwrap_or(1);
        let body = self.expr(result, &scope, fuel)?;
        Ok(Lambda { size: None, params, body })
    }

    fn expr(&mut self, ty: &Type, scope: &[Expr], fuel: u32) -> Built<Expr> {
        let known = self.parts(scope)?;
        let same: Vec<Expr> =
            known.iter().filter(|e| self.cx.same_type(e.ty(), ty)).cloned().collect();
        let leaf = fuel == 0 || self.random.chance(15);
        if let (true, Some(found)) = (leaf, self.random.pick(&same)) {
            return Ok(found);
        }
        match ty {
            Type::Scalar(scalar) if leaf => Ok(self.number(*scalar)),
            Type::Scalar(scalar) => match self.random.below(5) {
                0 => self.fold(*scalar, &known, scope, fuel),
                _ => self.binary(ty, scope, fuel),
            },
            Type::Vector(scalar, width) if leaf => {
                let number = self.number(*scalar);
                self.cx.call(Prim::Splat, vec![width.clone()], vec![], vec![number])
            }
            Type::Vector(..) => self.binary(ty, scope, fuel),
            Type::Tuple(parts) => {
                let parts = parts.iter().map(|p| self.expr(p, scope, fuel - u32::from(!leaf)));
                let parts = parts.collect::<Built<Vec<_>>>()?;
                self.cx.call(Prim::Tuple, vec![], vec![], parts)
            }
            Type::Array(element, length) => {
                let sources: Vec<Expr> = known
                    .iter()
                    .filter(|e| {
                        let own = e.ty().as_array();
                        own.is_some_and(|(_, own)| self.cx.same_size(own, length))
                    })
                    .cloned()
                    .collect();
                let fuel = fuel.saturating_sub(1);
                match self.random.pick(&sources) {
                    Some(source) if self.random.chance(80) => {
                        self.map(element, source, scope, fuel)
                    }
                    _ => {
                        let index = self.cx.fresh("i", Type::I32);
                        let body = self.expr(element, &inner(self.cx, scope, &index), fuel)?;
                        let f = Lambda { size: None, params: vec![index], body };
                        self.cx.call(Prim::Generate, vec![length.clone()], vec![f], vec![])
                    }
                }
            }
        }
    }

    fn map(&mut self, element: &Type, source: Expr, scope: &[Expr], fuel: u32) -> Built<Expr> {
        let given = source.ty().as_array().map_or(Type::I32, |(element, _)| element.clone());
        let x = self.cx.fresh("e", given);
        let body = self.expr(element, &inner(self.cx, scope, &x), fuel)?;
        Build::new(self.cx).map(|e| Ok(self.cx.substitute(&body, &[(x.clone(), e)])), source)
    }

    fn binary(&mut self, ty: &Type, scope: &[Expr], fuel: u32) -> Built<Expr> {
        let integer = ty.element_scalar().is_some_and(Scalar::is_integer);
        let operators = if integer { OF_INTEGERS } else { OPERATORS };
        let op = self.random.weighted(operators).unwrap_or(BinaryOp::Sub);
        let args = vec![self.expr(ty, scope, fuel - 1)?, self.expr(ty, scope, fuel - 1)?];
        self.cx.call(Prim::Binary(op), vec![], vec![], args)
    }

    /// A fold over some array in scope, of whatever elements.
    fn fold(&mut self, scalar: Scalar, known: &[Expr], scope: &[Expr], fuel: u32) -> Built<Expr> {
        let arrays: Vec<Expr> =
            known.iter().filter(|e| e.ty().as_array().is_some()).cloned().collect();
        let Some(array) = self.random.pick(&arrays) else {
            return self.binary(&Type::Scalar(scalar), scope, fuel);
        };
        let ty = Type::Scalar(scalar);
        let element = array.ty().as_array().map_or(Type::I32, |(element, _)| element.clone());
        let params = vec![self.cx.fresh("acc", ty.clone()), self.cx.fresh("e", element)];
        let inner: Vec<Expr> = params.iter().map(|p| self.cx.var(p)).collect();
        let body = self.expr(&ty, &inner, fuel)?;
        let f = Lambda { size: None, params, body };
        let start = self.number(scalar);
        self.cx.call(Prim::Reduce(FoldKind::Seq), vec![], vec![f], vec![start, array])
    }

    fn number(&mut self, scalar: Scalar) -> Expr {
        let value = i128::from(self.random.between(0, 9));
        if let Some(float) = Literal::float(scalar, value as f64 / 10.0) {
            return self.cx.literal(float);
        }
        self.cx.literal(Literal::int(scalar, value).unwrap_or(Literal::Int(Scalar::I32, value)))
    }

    /// What is in scope, with the components of tuples and the first elements of arrays.
    fn parts(&self, scope: &[Expr]) -> Built<Vec<Expr>> {
        let mut found = scope.to_vec();
        let mut next = 0;
        while let Some(expr) = found.get(next).cloned() {
            match expr.ty() {
                Type::Tuple(parts) => {
                    for index in 0..parts.len() as u32 {
                        let field = Prim::Field(index);
                        found.push(self.cx.call(field, vec![], vec![], vec![expr.clone()])?);
                    }
                }
                Type::Array(..) => {
                    found.push(self.cx.call(Prim::Head, vec![], vec![], vec![expr.clone()])?);
                }
                Type::Scalar(_) | Type::Vector(..) => {}
            }
            next += 1;
        }
        Ok(found)
    }
}

fn inner(cx: &Context, scope: &[Expr], param: &Param) -> Vec<Expr> {
    std::iter::once(cx.var(param)).chain(scope.iter().cloned()).collect()
}
