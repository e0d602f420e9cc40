//! Patterns: arguments sorted by what they are, arrays elaborated first, functions last.

use lift_ir::table::{Make, Pattern, Slot};
use lift_ir::{
    Boundary, Expr, FoldKind, Lambda, Math, Nat, Permutation, Prim, Range, Scalar, Span, Type,
};

use super::apply::{Lets, arity};
use super::errors::{Errors, Parts, all, both, error};
use super::exprs::NO_VALUE;
use super::literals::has_open_literal;
use super::scope::{Binding, Env};
use super::sizes::unwrapped;
use super::{Elaborator, Given, Hint, Result};
use crate::ast::ExprKind;
use crate::diagnostic::Diagnostic;

/// The arguments of a pattern, by kind.
pub(super) struct Arguments<'a> {
    pub sizes: Vec<Nat>,
    pub functions: Vec<Given<'a>>,
    pub values: Vec<Given<'a>>,
    pub parts: Parts,
    dimension: Option<u8>,
    rule: Option<Given<'a>>,
}

impl<'a> Elaborator<'a> {
    pub(super) fn pattern(
        &self,
        pattern: &'static Pattern,
        given: Vec<Given<'a>>,
        span: Span,
        hint: Hint,
    ) -> Result<Expr> {
        let args = self.sort(pattern, given, span)?;
        let prim = match &pattern.make {
            Make::Prim(prim) => prim.clone(),
            Make::Dimension(make) => make(args.dimension.unwrap_or(0)),
            Make::Permutation(make) => return self.reorder(*make, &args),
            Make::Boundary(make) => return self.pad(*make, &args),
            Make::ReorderStride => {
                let stride = args.sizes.first().cloned().unwrap_or_else(|| Nat::int(1));
                let stride = self.cx.simplify(&stride);
                let values = all(args.values.iter().map(|v| self.value(v, hint)))?;
                let prim = Prim::Gather(Permutation::Stride(stride));
                return self.build(prim, vec![], vec![], values, &args.parts);
            }
        };
        if let (Prim::Reduce(kind), [start, xs], Some(f)) =
            (&prim, args.values.as_slice(), args.functions.first())
        {
            let mut lets = Lets::new();
            if let Some(ragged) = self.ragged(xs, &mut lets)? {
                let folded = self.reduce_ragged(*kind, start, f, &ragged, span, hint)?;
                return Ok(self.close(lets, folded));
            }
        }
        match &prim {
            Prim::Map(_) => {
                let xs = self.array(&args, 0)?;
                let f =
                    self.lambda(function_of(&args)?, &[element(&xs)], &["x"], hint.element())?;
                self.finish(prim, args, vec![f], vec![xs])
            }
            Prim::Reduce(FoldKind::Any) | Prim::Scan(FoldKind::Any) | Prim::PartialReduce => {
                let xs = self.array(&args, 1)?;
                let ty = element(&xs);
                let z = self.value(value_of(&args, 0)?, Hint::Type(&ty))?;
                self.expect_start(pattern, &ty, &z, &args)?;
                let types = [ty.clone(), ty.clone()];
                let f = self.lambda(function_of(&args)?, &types, &["acc", "x"], Hint::Type(&ty))?;
                self.finish(prim, args, vec![f], vec![z, xs])
            }
            Prim::ReduceByIndex(FoldKind::Any) => {
                let (is, xs) = both(self.array(&args, 1), self.array(&args, 2))?;
                let ty = element(&xs);
                let z = self.value(value_of(&args, 0)?, Hint::Type(&ty))?;
                self.expect_start(pattern, &ty, &z, &args)?;
                let types = [ty.clone(), ty.clone()];
                let f = self.lambda(function_of(&args)?, &types, &["acc", "x"], Hint::Type(&ty))?;
                self.finish(prim, args, vec![f], vec![z, is, xs])
            }
            Prim::Reduce(_) | Prim::Scan(_) | Prim::ReduceByIndex(_) => {
                self.sequential_fold(prim, args, hint)
            }
            Prim::MapSeqSlide => {
                let xs = self.array(&args, 0)?;
                let window = args.sizes.first().cloned().unwrap_or_else(|| Nat::int(1));
                let given = Type::array(element(&xs), self.cx.simplify(&window));
                let f = self.lambda(function_of(&args)?, &[given], &["window"], hint.element())?;
                self.finish(prim, args, vec![f], vec![xs])
            }
            Prim::Iterate => self.iterate(args),
            Prim::IterateIndex => {
                let x = self.value(value_of(&args, 0)?, hint)?;
                let types = [Type::I32, x.ty().clone()];
                let f =
                    self.lambda(function_of(&args)?, &types, &["i", "x"], Hint::Type(x.ty()))?;
                self.finish(prim, args, vec![f], vec![x])
            }
            Prim::IterateUntil => self.iterate_until(args, hint),
            Prim::Generate => {
                let f = function_of(&args)?;
                let f = self.index_lambda(f, args.sizes.first(), hint.element())?;
                self.finish(prim, args, vec![f], vec![])
            }
            Prim::Vectorize => self.vectorize(args),
            Prim::To(_) => {
                let values = all(args.values.iter().map(|v| self.value(v, Hint::None)))?;
                let types: Vec<Type> = values.iter().map(|v| v.ty().clone()).collect();
                let f = self.lambda(function_of(&args)?, &types, &["x", "y"], hint)?;
                self.finish(prim, args, vec![f], values)
            }
            Prim::PadValue => {
                let xs = self.array(&args, 1)?;
                let value = self.value(value_of(&args, 0)?, Hint::Type(&element(&xs)))?;
                self.finish(prim, args, vec![], vec![value, xs])
            }
            Prim::Repeat => {
                let value = self.value(value_of(&args, 0)?, hint.element())?;
                self.finish(prim, args, vec![], vec![value])
            }
            Prim::At => {
                let spans = [value_of(&args, 0)?.span(), value_of(&args, 1)?.span()];
                let array = self.value(value_of(&args, 1)?, Hint::None)?;
                let index = self.value(value_of(&args, 0)?, Hint::None)?;
                self.element(index, array, span, spans)
            }
            Prim::Math(math) => {
                let values = self.operands(*math, &args, hint)?;
                self.finish(prim, args, vec![], values)
            }
            Prim::Concat => {
                let both: Vec<_> = args.values.iter().map(|v| (v, hint)).collect();
                let values = self.agreeing(&both, false)?;
                self.finish(prim, args, vec![], values)
            }
            Prim::Zip => {
                let values = args.values.iter().enumerate();
                let element = hint.element();
                let values = all(values.map(|(i, v)| match element.component(i) {
                    Hint::Type(ty) => {
                        self.value(v, Hint::Type(&Type::array(ty.clone(), Nat::int(1))))
                    }
                    other => self.value(v, other),
                }))?;
                self.expect_one_domain(&values, &args.parts.args)?;
                self.finish(prim, args, vec![], values)
            }
            _ => {
                let values = all(args.values.iter().map(|v| self.value(v, Hint::None)))?;
                if prim != Prim::Id {
                    self.refuse_packed(pattern.name, &values, &args.parts.args)?;
                }
                self.finish(prim, args, vec![], values)
            }
        }
    }

    /// Puts every argument in its slot.
    fn sort(
        &self,
        pattern: &'static Pattern,
        given: Vec<Given<'a>>,
        span: Span,
    ) -> Result<Arguments<'a>> {
        let fixed = pattern.slots.iter();
        let variadic = |s: &Slot| matches!(s, Slot::Values | Slot::FunctionArguments);
        let least = fixed.clone().map(|s| if *s == Slot::Values { 2 } else { 1 }).sum();
        let open = fixed.clone().any(variadic);
        // A dimension that was left out is better news than too few arguments.
        if let (Some(Slot::Dimension), Some(first)) = (pattern.slots.first(), given.first()) {
            self.dimension(pattern, first)?;
        }
        if given.len() < least || (given.len() > least && !open) {
            let found = given.len();
            if open && pattern.slots.contains(&Slot::Values) {
                let text =
                    format!("`{}` takes at least {least} arguments, found {found}", pattern.name);
                return error(span, text);
            }
            let mut errors = arity(pattern.name, least, found, span);
            let note = format!("`{}` is {}", pattern.name, pattern.scheme);
            errors.0.iter_mut().for_each(|d| d.notes.push(note.clone()));
            return Err(errors);
        }
        let mut args = Arguments {
            sizes: Vec::new(),
            functions: Vec::new(),
            values: Vec::new(),
            parts: Parts::of(span),
            dimension: None,
            rule: None,
        };
        let mut given = given.into_iter();
        let mut sizes = Vec::new();
        for slot in fixed {
            let rest = if variadic(slot) { usize::MAX } else { 1 };
            for argument in given.by_ref().take(rest) {
                match slot {
                    Slot::Size => {
                        args.parts.sizes.push(argument.span());
                        sizes.push(self.given_size(&argument));
                    }
                    Slot::Function(_) => {
                        args.parts.functions.push(argument.span());
                        args.functions.push(argument);
                    }
                    Slot::Value | Slot::Values | Slot::FunctionArguments => {
                        self.refuse_function(pattern, &argument)?;
                        args.parts.args.push(argument.span());
                        args.values.push(argument);
                    }
                    Slot::Permutation | Slot::Boundary => args.rule = Some(argument),
                    Slot::Dimension => args.dimension = Some(self.dimension(pattern, &argument)?),
                }
            }
        }
        args.sizes = all(sizes)?;
        Ok(args)
    }

    /// A function where a value belongs: mostly arguments in another order, so the order is told.
    fn refuse_function(&self, pattern: &Pattern, given: &Given<'a>) -> Result<()> {
        let Given::Ast(ast, _) = given else { return Ok(()) };
        match &unwrapped(ast).kind {
            ExprKind::Lambda(..) | ExprKind::Section(_) => Err(Errors::one(
                Diagnostic::error(NO_VALUE)
                    .at(ast.span, "")
                    .note(format!("`{}` is {}", pattern.name, pattern.scheme)),
            )),
            _ => Ok(()),
        }
    }

    fn given_size(&self, given: &Given<'a>) -> Result<Nat> {
        match given {
            Given::Ast(ast, env) => self.size(ast, env),
            Given::Value(_, span) => error(*span, "a size is expected here"),
        }
    }

    fn dimension(&self, pattern: &Pattern, given: &Given<'a>) -> Result<u8> {
        let size = self.given_size(given).ok().and_then(|n| n.as_int());
        match size.and_then(|d| u8::try_from(d).ok()) {
            Some(dimension) => Ok(dimension),
            None => {
                let text = format!("`{0}` takes its dimension first: `{0}(0)`", pattern.name);
                error(given.span(), text)
            }
        }
    }

    fn finish(
        &self,
        prim: Prim,
        args: Arguments<'a>,
        functions: Vec<Lambda>,
        values: Vec<Expr>,
    ) -> Result<Expr> {
        self.build(prim, args.sizes, functions, values, &args.parts)
    }

    /// An argument that must be an array; checked here, because functions need its element type.
    pub(super) fn array(&self, args: &Arguments<'a>, index: usize) -> Result<Expr> {
        let given = value_of(args, index)?;
        let value = self.value(given, Hint::None)?;
        if value.ty().as_array().is_none() {
            let text = format!("an array is expected, found `{}`", value.ty());
            return error(given.span(), text);
        }
        Ok(value)
    }

    /// The start of a fold must fit before its function is looked at, or the error would be there.
    fn expect_start(
        &self,
        pattern: &Pattern,
        wanted: &Type,
        start: &Expr,
        args: &Arguments<'a>,
    ) -> Result<()> {
        if self.cx.same_type(wanted, start.ty()) {
            return Ok(());
        }
        let span = args.parts.args.first().copied().unwrap_or(args.parts.whole);
        let text = format!(
            "`{}` starts from a value of the element type `{wanted}`, found `{}`",
            pattern.name,
            start.ty()
        );
        error(span, text)
    }

    /// `U, (U, T -> U), [T; n] -> U`: the literals of the start take the type with which the
    /// function fits, tried in order: what is wanted, their own, those of the elements.
    fn sequential_fold(&self, prim: Prim, args: Arguments<'a>, hint: Hint) -> Result<Expr> {
        // The elements come last, after their indices where there are any.
        let arrays = all((1..args.values.len()).map(|index| self.array(&args, index)))?;
        let Some(xs) = arrays.last() else {
            return error(args.parts.whole, "an argument is missing");
        };
        let start = value_of(&args, 0)?;
        let hint = if matches!(prim, Prim::Reduce(_)) { hint } else { hint.element() };
        let open = matches!(start, Given::Ast(ast, _) if has_open_literal(ast));
        let mut scalars = Vec::new();
        xs.ty().scalars(&mut |s| {
            if !scalars.contains(&s) {
                scalars.push(s);
            }
        });
        let mut hints = vec![hint];
        if open {
            let plain = !matches!(hint, Hint::None);
            let others = scalars.iter().filter(|s| !matches!(s, Scalar::F32 | Scalar::I32));
            let others = others.map(|s| Hint::Literals(*s));
            // Elements of another float type are the likelier context for a float, where nothing is wanted.
            let other_floats = scalars.iter().any(|s| s.is_float() && *s != Scalar::F32);
            if other_floats && !matches!(hint, Hint::Type(_)) {
                hints.splice(0..0, others);
            } else {
                hints.extend(others);
            }
            if plain {
                hints.push(Hint::None);
            }
        }
        let mut first: Option<Errors> = None;
        for hint in hints {
            match self.fold_from(&prim, &args, start, &arrays, hint) {
                Ok(made) => return Ok(made),
                Err(errors) => first = Some(first.unwrap_or(errors)),
            }
        }
        Err(first.unwrap_or(Errors(Vec::new())))
    }

    fn fold_from(
        &self,
        prim: &Prim,
        args: &Arguments<'a>,
        start: &Given<'a>,
        arrays: &[Expr],
        hint: Hint,
    ) -> Result<Expr> {
        let z = self.value(start, hint)?;
        let types = std::iter::once(z.ty().clone()).chain(arrays.last().map(element));
        let types: Vec<Type> = types.collect();
        let f = self.lambda(function_of(args)?, &types, &["acc", "x"], Hint::Type(z.ty()))?;
        let values = std::iter::once(z).chain(arrays.iter().cloned()).collect();
        self.build(prim.clone(), args.sizes.clone(), vec![f], values, &args.parts)
    }

    /// `m, (S, … -> R), Sxm, … -> Rxm`
    fn vectorize(&self, args: Arguments<'a>) -> Result<Expr> {
        let values = all(args.values.iter().map(|v| self.value(v, Hint::None)))?;
        let mut types = Vec::new();
        for (value, given) in values.iter().zip(&args.values) {
            match narrow(value.ty()) {
                Some(ty) => types.push(ty),
                None => {
                    let text = format!("`vectorize` is applied to vectors, found `{}`", value.ty());
                    return error(given.span(), text);
                }
            }
        }
        let f = self.lambda(function_of(&args)?, &types, &["x", "y"], Hint::None)?;
        self.finish(Prim::Vectorize, args, vec![f], values)
    }

    /// The arguments of a scalar function agree in type; the condition of `select` does not take part.
    fn operands(&self, math: Math, args: &Arguments<'a>, hint: Hint) -> Result<Vec<Expr>> {
        let (condition, rest) = match (math, args.values.as_slice()) {
            (Math::Select, [condition, rest @ ..]) => (Some(condition), rest),
            (_, values) => (None, values),
        };
        let wanted = |ty: &Type| {
            let scalar = ty.element_scalar()?;
            let operand = if math == Math::ToBits { scalar.float_of_bits() } else { scalar.bits() };
            operand.map(Type::Scalar)
        };
        let bits = match (math, hint) {
            (Math::ToBits | Math::FromBits, Hint::Type(ty)) => wanted(ty),
            _ => None,
        };
        let hint = match &bits {
            Some(ty) => Hint::Type(ty),
            None if math == Math::Select || math.keeps_type() => hint,
            None => Hint::None,
        };
        let rest: Vec<_> = rest.iter().map(|v| (v, hint)).collect();
        let rest = self.agreeing(&rest, true);
        match condition {
            None => rest,
            Some(condition) => {
                let (condition, rest) = both(self.value(condition, Hint::None), rest)?;
                Ok(std::iter::once(condition).chain(rest).collect())
            }
        }
    }

    fn reorder(&self, make: fn(Permutation) -> Prim, args: &Arguments<'a>) -> Result<Expr> {
        let xs = self.array(args, 0)?;
        let length = length(&xs);
        let Some(rule) = &args.rule else {
            return error(args.parts.whole, "a permutation is missing");
        };
        let (ast, env) = self.written_rule(rule)?;
        let permutation = match &ast.kind {
            ExprKind::Name(name) if name == "reverse" => Permutation::Reverse,
            ExprKind::Call(head, sizes) => match (&head.kind, sizes.as_slice()) {
                (ExprKind::Name(name), [size]) if name == "stride" => {
                    Permutation::Stride(self.cx.simplify(&self.size(size, &env)?))
                }
                (ExprKind::Name(name), [size]) if name == "shift" => {
                    Permutation::Shift(self.cx.simplify(&self.size(size, &env)?))
                }
                _ => return not_a_permutation(ast.span),
            },
            _ => {
                let range = Range::below(length.clone());
                match self.index_function(ast, &env, 1, &length, range)? {
                    Some((var, body)) => Permutation::Index(var, self.cx.simplify(&body)),
                    None => return not_a_permutation(ast.span),
                }
            }
        };
        let parts = Parts { whole: ast.span, ..args.parts.clone() };
        let made = self.build(make(permutation), vec![], vec![], vec![xs], &parts)?;
        Ok(made.with_span(args.parts.whole))
    }

    fn pad(&self, make: fn(Boundary) -> Prim, args: &Arguments<'a>) -> Result<Expr> {
        let xs = self.array(args, 0)?;
        let length = length(&xs);
        let Some(rule) = &args.rule else {
            return error(args.parts.whole, "a boundary is missing");
        };
        let (ast, env) = self.written_rule(rule)?;
        let boundary = match &ast.kind {
            ExprKind::Name(name) if name == "clamp" => Boundary::Clamp,
            ExprKind::Name(name) if name == "mirror" => Boundary::Mirror,
            ExprKind::Name(name) if name == "wrap" => Boundary::Wrap,
            _ => {
                let zero = Nat::int(0);
                let (left, right) =
                    (args.sizes.first().unwrap_or(&zero), args.sizes.get(1).unwrap_or(&zero));
                let range = Range::between(-left.clone(), &length + right - Nat::int(1));
                match self.index_function(ast, &env, 2, &length, range)? {
                    Some((var, body)) => Boundary::Index(var, self.cx.simplify(&body)),
                    None => {
                        let text = "a boundary is expected: `clamp`, `mirror`, `wrap` or `\\i len -> index`";
                        return error(ast.span, text);
                    }
                }
            }
        };
        self.build(make(boundary), args.sizes.clone(), vec![], vec![xs], &args.parts)
    }

    /// A permutation or boundary as it was written, through the parameters it was passed by.
    fn written_rule(&self, given: &Given<'a>) -> Result<(&'a crate::ast::Expr, Env<'a>)> {
        let Given::Ast(ast, env) = given else {
            return error(given.span(), "a permutation or boundary is expected, found a value");
        };
        let (mut ast, mut env) = (*ast, env.clone());
        loop {
            ast = super::sizes::unwrapped(ast);
            let ExprKind::Name(name) = &ast.kind else { return Ok((ast, env)) };
            let Some(Binding::Rule(written, outer)) = env.get(name) else { return Ok((ast, env)) };
            (ast, env) = (*written, outer.clone());
        }
    }
}

fn not_a_permutation<T>(span: Span) -> Result<T> {
    error(span, "a permutation is expected: `reverse`, `stride(s)`, `shift(k)` or `\\i -> index`")
}

fn function_of<'g, 'a>(args: &'g Arguments<'a>) -> Result<&'g Given<'a>> {
    args.functions.first().ok_or_else(|| Errors::at(args.parts.whole, "a function is missing"))
}

fn value_of<'g, 'a>(args: &'g Arguments<'a>, index: usize) -> Result<&'g Given<'a>> {
    args.values.get(index).ok_or_else(|| Errors::at(args.parts.whole, "an argument is missing"))
}

/// The element type of what is known to be an array.
pub(super) fn element(xs: &Expr) -> Type {
    xs.ty().as_array().map_or_else(|| xs.ty().clone(), |(element, _)| element.clone())
}

fn length(xs: &Expr) -> Nat {
    xs.ty().as_array().map_or_else(|| Nat::int(1), |(_, n)| n.clone())
}

/// Vectors become scalars; `None` where the type holds scalars or arrays.
fn narrow(ty: &Type) -> Option<Type> {
    match ty {
        Type::Vector(s, _) => Some(Type::Scalar(*s)),
        Type::Tuple(components) => {
            let narrow: Option<Vec<Type>> = components.iter().map(narrow).collect();
            narrow.map(Type::tuple)
        }
        Type::Scalar(_) | Type::Array(..) => None,
    }
}
