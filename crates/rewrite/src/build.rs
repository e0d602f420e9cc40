//! Building one side of a law with the checked constructors.

use std::collections::BTreeSet;
use std::sync::Arc;

use lift_ir::{
    Context, Expr, Lambda, Nat, Param, Part, Permutation, Prim, Scalar, Type, TypeError, Var,
};

use crate::bindings::Bindings;
use crate::inline;
use crate::law::{Edge, Function, Op, Reordering, Term, length_of};

/// A function that changes the length is applied at most this often, as the language has it.
const MAX_CHANGES: i128 = 64;

/// The expression that `term` stands for. Whatever is not well typed is an error of the
/// constructors, so the result always has a type.
pub fn build(cx: &Context, found: &Bindings, term: &Term) -> Result<Expr, TypeError> {
    let (scope, lengths, used) = (Vec::new(), Vec::new(), BTreeSet::new());
    Builder { cx, found, scope, lengths, used }.term(term)
}

struct Builder<'a> {
    cx: &'a Context,
    found: &'a Bindings,
    scope: Vec<(&'a str, Expr)>,
    /// What `len(xs)` is, for the parameters of functions around that use it.
    lengths: Vec<(Var, Nat)>,
    /// Metavariables that stand in the result already: further copies get binders of their own.
    used: BTreeSet<&'a str>,
}

impl<'a> Builder<'a> {
    fn term(&mut self, term: &'a Term) -> Result<Expr, TypeError> {
        match term {
            Term::Meta(name) => {
                let value = self.found.values.get(name).ok_or_else(|| unbound(name))?;
                match self.used.insert(name) {
                    true => Ok(value.clone()),
                    false => inline::renamed(self.cx, value),
                }
            }
            Term::Bound(name) => {
                let value = self.scope.iter().rev().find(|(n, _)| n == name);
                value.map(|(_, value)| value.clone()).ok_or_else(|| unbound(name))
            }
            Term::Literal(literal) => Ok(self.cx.literal(*literal)),
            Term::Size(size) => self.cx.size(&self.size(size), Scalar::I32),
            Term::Apply(name, args) => {
                let args = args.iter().map(|a| self.term(a)).collect::<Result<Vec<_>, _>>()?;
                self.apply(name, &args)
            }
            Term::Let { name, value, body } => {
                let value = self.term(value)?;
                let param = self.cx.fresh(name, value.ty().clone());
                self.scope.push((name, self.cx.var(&param)));
                let body = self.term(body);
                self.scope.pop();
                self.cx.let_in(param, value, body?)
            }
            Term::Call { op, sizes, functions, args } => {
                let prim = self.prim(op)?;
                let sizes: Vec<Nat> = sizes.iter().map(|n| self.size(n)).collect();
                let args = args.iter().map(|a| self.term(a)).collect::<Result<Vec<_>, _>>()?;
                if let (Prim::ReduceRange(_), [f, element]) = (&prim, functions.as_slice()) {
                    let types = parameter_types(&prim, &sizes, &args);
                    let element =
                        self.function(element, types.get(1..).unwrap_or_default().to_vec())?;
                    let types = types.into_iter().take(1).chain([element.body.ty().clone()]);
                    let f = self.function(f, types.collect())?;
                    return self.cx.call(prim, sizes, vec![f, element], args);
                }
                let functions = functions
                    .iter()
                    .map(|f| match (&prim, args.first()) {
                        (Prim::Iterate, Some(start)) => self.repeated(f, &sizes, start),
                        _ => self.function(f, parameter_types(&prim, &sizes, &args)),
                    })
                    .collect::<Result<_, _>>()?;
                self.cx.call(prim, sizes, functions, args)
            }
        }
    }

    fn apply(&mut self, name: &'a str, args: &[Expr]) -> Result<Expr, TypeError> {
        let lambda = self.found.functions.get(name).ok_or_else(|| unbound(name))?;
        let fits = lambda.params.len() == args.len()
            && lambda.params.iter().zip(args).all(|(p, a)| self.cx.same_type(p.ty(), a.ty()));
        if !fits {
            let text = format!("`{name}` does not take these arguments");
            return Err(TypeError::new(Part::Whole, text));
        }
        if self.used.insert(name) {
            return inline::apply(self.cx, lambda, args);
        }
        inline::apply(self.cx, &inline::renamed_function(self.cx, lambda)?, args)
    }

    fn function(&mut self, function: &'a Function, types: Vec<Type>) -> Result<Lambda, TypeError> {
        if types.len() != function.params.len() {
            let text = "a function of the law has another number of parameters";
            return Err(TypeError::new(Part::Whole, text));
        }
        let names = function.params.iter().map(|param| self.name(param, &function.body));
        let params: Vec<Param> =
            names.zip(types).map(|(name, ty)| self.cx.fresh(name, ty)).collect();
        let outer = self.scope.len();
        let values = params.iter().map(|p| self.cx.var(p));
        self.scope.extend(function.params.iter().map(String::as_str).zip(values));
        let body = self.term(&function.body);
        self.scope.truncate(outer);
        Ok(Lambda { size: None, params, body: body? })
    }

    /// The function of an `iterate`. One that changes the length is typed at each length that it
    /// is given, then once for all.
    fn repeated(
        &mut self,
        function: &'a Function,
        sizes: &[Nat],
        start: &Expr,
    ) -> Result<Lambda, TypeError> {
        let Some((element, first)) = start.ty().as_array() else {
            return self.function(function, vec![start.ty().clone()]);
        };
        let plain = self.at_length(function, element, first.clone())?;
        if self.cx.same_type(plain.body.ty(), start.ty()) {
            return Ok(plain);
        }
        let Some(times) = sizes.first().and_then(Nat::as_int).filter(|n| *n <= MAX_CHANGES) else {
            let text =
                format!("the length changes, so it is a number of times up to {MAX_CHANGES}");
            return Err(TypeError::new(Part::Size(0), text));
        };
        let (mut step, mut among) = (plain, vec![first.clone()]);
        for _ in 1..times {
            let Some((_, next)) = step.body.ty().as_array() else { break };
            among.push(next.clone());
            step = self.at_length(function, element, next.clone())?;
        }
        let var = self.cx.fresh_size_among("n", among);
        let lambda = self.at_length(function, element, Nat::var(&var))?;
        Ok(Lambda { size: Some(var), ..lambda })
    }

    /// The function of arrays of a length, which is what `len` of its parameter says.
    fn at_length(
        &mut self,
        function: &'a Function,
        element: &Type,
        length: Nat,
    ) -> Result<Lambda, TypeError> {
        let given = Type::array(element.clone(), length.clone());
        let outer = self.lengths.len();
        self.lengths.extend(function.params.iter().map(|p| (length_of(p), length.clone())));
        let lambda = self.function(function, vec![given]);
        self.lengths.truncate(outer);
        lambda
    }

    /// All at once, since what a length stands for may have a variable named as one of the law.
    fn size(&self, size: &Nat) -> Nat {
        size.substitute(&|var| match self.lengths.iter().rev().find(|(own, _)| own == var) {
            Some((_, length)) => Some(length.clone()),
            None => self.found.size_of(var),
        })
    }

    /// A parameter that goes straight to a function of the program is called what that function
    /// calls it.
    fn name<'s>(&'s self, param: &'s str, body: &Term) -> &'s str {
        let mut found = None;
        body.each(&mut |term| {
            let Term::Apply(name, args) = term else { return };
            let is_param = |arg: &Term| matches!(arg, Term::Bound(bound) if bound == param);
            let index = args.iter().position(is_param);
            let lambda = self.found.functions.get(name);
            found = found.or(index.zip(lambda).and_then(|(i, lambda)| lambda.params.get(i)));
        });
        found.map_or(param, Param::name)
    }

    fn prim(&self, op: &Op) -> Result<Prim, TypeError> {
        match op {
            Op::Exact(Prim::Point(domain)) => {
                let sizes = |var: &Var| self.found.size_of(var);
                Ok(Prim::Point(Arc::new(domain.substitute(&sizes))))
            }
            Op::Exact(prim) => Ok(prim.clone()),
            Op::Gather(p) => Ok(Prim::Gather(self.permutation(p)?)),
            Op::Scatter(p) => Ok(Prim::Scatter(self.permutation(p)?)),
            Op::Pad(Edge::Exact(boundary)) => Ok(Prim::Pad(boundary.clone())),
            Op::Pad(Edge::Meta(name)) => {
                let found = self.found.boundaries.get(name).ok_or_else(|| unbound(name))?;
                Ok(Prim::Pad(found.clone()))
            }
            Op::Parallel(make, dimension) => {
                let dimension = self.size(dimension);
                let small = dimension.as_int().and_then(|d| u8::try_from(d).ok());
                let small = small.filter(|d| *d <= 2);
                let small = small.ok_or_else(|| {
                    let text = format!("`{dimension}` is no dimension: that is 0, 1 or 2");
                    TypeError::new(Part::Whole, text)
                })?;
                Ok(make(small))
            }
        }
    }

    fn permutation(&self, p: &Reordering) -> Result<Permutation, TypeError> {
        match p {
            Reordering::Meta(name) => {
                self.found.permutations.get(name).cloned().ok_or_else(|| unbound(name))
            }
            Reordering::Reverse => Ok(Permutation::Reverse),
            Reordering::Stride(s) => Ok(Permutation::Stride(self.size(s))),
            Reordering::Shift(k) => Ok(Permutation::Shift(self.size(k))),
        }
    }
}

fn unbound(name: &str) -> TypeError {
    TypeError::new(Part::Whole, format!("`{name}` of the law stands for nothing"))
}

/// The types of what a pattern gives its function; empty where it takes none, or where the
/// arguments are wrong, which the constructor says better.
fn parameter_types(prim: &Prim, sizes: &[Nat], args: &[Expr]) -> Vec<Type> {
    let element = |index: usize| {
        let array = args.get(index).and_then(|a| a.ty().as_array());
        array.map(|(element, _)| element.clone())
    };
    let whole = |index: usize| args.get(index).map(|a| a.ty().clone());
    let types: Vec<Option<Type>> = match prim {
        Prim::Map(_) => vec![element(0)],
        Prim::Reduce(_) | Prim::Scan(_) | Prim::PartialReduce => vec![whole(0), element(1)],
        Prim::ReduceByIndex(_) => vec![whole(0), element(2)],
        Prim::MapSeqSlide => {
            let window = sizes.first().zip(element(0));
            vec![window.map(|(window, element)| Type::array(element, window.clone()))]
        }
        Prim::Iterate | Prim::IterateUntil => vec![whole(0)],
        Prim::IterateIndex => vec![Some(Type::I32), whole(0)],
        Prim::Generate => vec![Some(Type::I32)],
        // The state, and the number that an element is made of.
        Prim::ReduceRange(_) => vec![whole(0), whole(1)],
        Prim::To(_) => args.iter().map(|a| Some(a.ty().clone())).collect(),
        Prim::Vectorize => args.iter().map(|a| Some(narrow(a.ty()))).collect(),
        Prim::Zip
        | Prim::Unzip
        | Prim::Split
        | Prim::Join
        | Prim::Transpose
        | Prim::Gather(_)
        | Prim::Scatter(_)
        | Prim::Slide
        | Prim::Pad(_)
        | Prim::PadValue
        | Prim::Take
        | Prim::Drop
        | Prim::Concat
        | Prim::Head
        | Prim::Repeat
        | Prim::At
        | Prim::Rank(_)
        | Prim::Point(_)
        | Prim::Id
        | Prim::Update
        | Prim::AsVector
        | Prim::AsScalar
        | Prim::Tuple
        | Prim::Field(_)
        | Prim::Array
        | Prim::Vector
        | Prim::Splat
        | Prim::Lane
        | Prim::If
        | Prim::Cast(_)
        | Prim::Unary(_)
        | Prim::Binary(_)
        | Prim::Math(_)
        | Prim::Extern(_) => Vec::new(),
    };
    types.into_iter().collect::<Option<Vec<Type>>>().unwrap_or_default()
}

/// The type that becomes `ty` when every scalar in it widens.
fn narrow(ty: &Type) -> Type {
    match ty {
        Type::Vector(scalar, _) | Type::Scalar(scalar) => Type::Scalar(*scalar),
        Type::Tuple(parts) => Type::tuple(parts.iter().map(narrow)),
        Type::Array(element, length) => Type::array(narrow(element), length.clone()),
    }
}
