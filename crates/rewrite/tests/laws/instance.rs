//! Random instances of a law's left side.

use std::collections::{BTreeMap, BTreeSet};

use lift_interp::{Sizes, Value, concrete_type};
use lift_ir::{
    BinaryOp, Boundary, Context, Def, Expr, Facts, FoldKind, Nat, Param, Parameter, Permutation,
    Pred, Prim, Scalar, Type, Var,
};
use lift_random::Random;
use lift_rewrite::law::{Law, Op, Sort, Term, vector_variable};
use lift_rewrite::{Arguments, Bindings, build};
use lift_syntax::ast::{self, ExprKind, TypeKind};

use crate::functions::Functions;
use crate::kinds::{free_types, is_width, regroups, scalar_types};
use crate::monoids::Monoid;
use crate::values::value;

/// A left side with everything chosen, and arguments for its free variables.
pub struct Instance {
    pub cx: Context,
    pub left: Expr,
    pub arguments: Arguments,
    pub sizes: Sizes,
    pub args: Vec<Value>,
    params: Vec<Param>,
    types: Vec<Type>,
    /// Where sizes are symbolic: those found in argument types, and the others.
    variables: Vec<Var>,
    parameters: Vec<Var>,
}

impl Instance {
    pub fn new(law: &Law, seed: u64) -> Result<Instance, String> {
        let mut random = Random::new(seed);
        let sizes = sizes(law, seed, &mut random)?;
        let symbolic = random.chance(30);
        let mut maker = Maker::new(law, &sizes, symbolic, random)?;
        maker.folds()?;
        maker.metavariables()?;
        let left = build(&maker.cx, &maker.found, &law.left).map_err(|e| e.to_string())?;
        let required = maker.cx.required();
        if !required.iter().all(|p| p.eval(&|v| sizes.get(v.name())).unwrap_or(false)) {
            return Err("the sizes are too small for the left side".to_string());
        }
        maker.finish(left)
    }

    pub fn is_symbolic(&self) -> bool {
        !self.variables.is_empty() || !self.parameters.is_empty()
    }

    /// Some type variable of the law stands for such a type.
    pub fn has_type(&self, is: fn(&Type) -> bool) -> bool {
        self.types.iter().any(is)
    }

    /// The expression as the body of a definition that takes the free variables.
    pub fn def(&self, body: &Expr) -> Def {
        let parameter = |var: &Var| Parameter { var: var.clone(), default: None };
        Def {
            name: "law".to_string(),
            span: None,
            sizes: self.variables.clone(),
            parameters: self.parameters.iter().map(parameter).collect(),
            params: self.params.clone(),
            ret: body.ty().clone(),
            wheres: Vec::new(),
            implied: Vec::new(),
            launches: Vec::new(),
            body: body.clone(),
            next_number: self.cx.next_number(),
            said: lift_ir::Said::default(),
        }
    }
}

const SIZES: &[i128] = &[1, 2, 2, 3, 4, 4, 6, 8, 12];

const WIDTHS: &[i128] = &[2, 3, 4, 8, 16];

/// How often the sizes of one group are chosen for one instance.
const TRIES: u32 = 8;

/// Values of all sizes of the law under which its conditions hold. The first seeds are those where
/// everything is the same, so that `m = n` and `n = 1` are among them.
fn sizes(law: &Law, seed: u64, random: &mut Random) -> Result<Sizes, String> {
    let mut chosen = Sizes::new();
    for names in groups(law) {
        let holds = (0..TRIES).any(|_| {
            for name in &names {
                chosen.set(name.clone(), size(law, name, seed, random));
            }
            let of_group = |pred: &&Pred| pred.vars().iter().any(|v| names.contains(v.name()));
            let mut preds = law.conditions.iter().filter(of_group);
            preds.all(|pred| pred.eval(&|var| chosen.get(var.name())).unwrap_or(false))
        });
        if !holds {
            return Err("no sizes meet the condition".to_string());
        }
    }
    Ok(chosen)
}

fn size(law: &Law, name: &str, seed: u64, random: &mut Random) -> i128 {
    match seed {
        _ if is_width(law, name) => random.pick(WIDTHS).unwrap_or(2),
        0..4 => seed as i128 + 1,
        _ if law.parameters.iter().any(|p| p == name) && random.chance(15) => {
            i128::from(random.chance(50))
        }
        _ => random.pick(SIZES).unwrap_or(1),
    }
}

/// The sizes of the law in groups that no condition connects: each is chosen on its own.
fn groups(law: &Law) -> Vec<BTreeSet<String>> {
    let mut groups: Vec<BTreeSet<String>> =
        law.size_names().into_iter().map(|name| BTreeSet::from([name])).collect();
    for pred in &law.conditions {
        let vars = pred.vars();
        let (joined, others): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| vars.iter().any(|v| group.contains(v.name())));
        groups = others;
        groups.push(joined.into_iter().flatten().collect());
    }
    groups
}

struct Maker<'a> {
    law: &'a Law,
    random: Random,
    cx: Context,
    found: Bindings,
    arguments: Arguments,
    params: Vec<Param>,
    symbolic: bool,
    /// Most numbers are floats.
    floats: bool,
    values: &'a Sizes,
}

type Made<T> = Result<T, String>;

impl<'a> Maker<'a> {
    fn new(law: &'a Law, values: &'a Sizes, symbolic: bool, random: Random) -> Made<Maker<'a>> {
        let cx = Context::new(Facts::new());
        let mut found = Bindings::default();
        let mut arguments = Arguments::none();
        for (name, value) in values.iter() {
            let var = Var::named(name);
            let is_parameter = law.parameters.iter().any(|p| p == name);
            // A variable is at least one.
            let as_variable =
                symbolic && value > 0 && !law.is_dimension(name) && !law.is_count(name);
            let size = if as_variable { Nat::var(&var) } else { Nat::int(value) };
            found.sizes.insert(name.to_string(), size.clone());
            if !is_parameter {
                if as_variable {
                    cx.declare_size(&var);
                }
            } else if as_variable {
                arguments = arguments.fresh(name, var);
            } else {
                arguments = arguments.size(name, size);
            }
        }
        for pred in &law.conditions {
            let chosen = found.pred(pred);
            let open = pred.vars().iter().any(|v| law.parameters.iter().any(|p| p == v.name()));
            // Conditions on parameters are the engine's to assume or to prove.
            if !open {
                cx.assume(&chosen);
            }
        }
        let (params, mut random) = (Vec::new(), random);
        let floats = regroups(law) && random.chance(30);
        let mut maker =
            Maker { law, random, cx, found, arguments, params, symbolic, floats, values };
        maker.types();
        // A variable from outside, which functions may use.
        let outside = maker.cx.fresh("outside", Type::I32);
        maker.params.push(outside);
        Ok(maker)
    }

    fn types(&mut self) {
        for name in free_types(self.law) {
            let ty = self.random_type(2);
            self.found.types.insert(name, ty);
        }
        for name in scalar_types(self.law) {
            let ty = self.random_type(0);
            self.found.types.insert(name, ty);
        }
    }

    fn random_type(&mut self, depth: u32) -> Type {
        let number = if self.floats { Type::Scalar(Scalar::F64) } else { Type::I32 };
        match self.random.below(if depth == 0 { 4 } else { 9 }) {
            0..=2 => number,
            3 => Type::Scalar(Scalar::U8),
            4 => {
                let width = self.random.pick(&[2u32, 3, 4]).unwrap_or(2);
                Type::vector(Scalar::I32, width)
            }
            5 | 6 => Type::tuple([self.random_type(depth - 1), self.random_type(depth - 1)]),
            _ => {
                let length = self.random.pick(&[1u32, 2, 3]).unwrap_or(2);
                Type::array(self.random_type(depth - 1), length)
            }
        }
    }

    /// Where the left side folds in any order, the function and its identity are a monoid.
    fn folds(&mut self) -> Made<()> {
        let mut pairs = Vec::new();
        self.law.left.each(&mut |term| {
            let Term::Call { op: Op::Exact(prim), functions, args, .. } = term else { return };
            let any = matches!(
                prim,
                Prim::Reduce(FoldKind::Any)
                    | Prim::Scan(FoldKind::Any)
                    | Prim::PartialReduce
                    | Prim::ReduceByIndex(FoldKind::Any)
                    | Prim::ReduceRange(FoldKind::Any)
            );
            if let (true, Some(Term::Meta(z)), Some(function)) =
                (any, args.first(), functions.first())
                && let Term::Apply(f, _) = &function.body
            {
                pairs.push((z.clone(), f.clone()));
            }
        });
        for (z, f) in pairs {
            let Some(Sort::Value(ty)) = self.law.metavariable(&z).map(|m| &m.sort) else {
                return Err(format!("`{z}` has no type"));
            };
            let ty = self.ty(ty)?;
            let monoid = Monoid::random(&ty, &mut self.random);
            let built = (|| Ok((monoid.zero(&self.cx, &ty)?, monoid.function(&self.cx, &ty)?)))();
            let (zero, function) = built.map_err(|e: lift_ir::TypeError| e.to_string())?;
            self.found.values.insert(z, zero);
            self.found.functions.insert(f, function);
        }
        Ok(())
    }

    fn metavariables(&mut self) -> Made<()> {
        for m in &self.law.metavariables {
            match &m.sort {
                Sort::Value(ty) if !self.found.values.contains_key(&m.name) => {
                    let param = self.cx.fresh(&m.name, self.ty(ty)?);
                    self.found.values.insert(m.name.clone(), self.cx.var(&param));
                    self.params.push(param);
                }
                Sort::Function(params, result) if !self.found.functions.contains_key(&m.name) => {
                    let params = params.iter().map(|ty| self.ty(ty)).collect::<Made<Vec<_>>>()?;
                    let result = self.ty(result)?;
                    let outside = self.params.first().map(|p| self.cx.var(p));
                    let mut functions = Functions { cx: &self.cx, random: &mut self.random };
                    let lambda = functions.lambda(&params, &result, outside);
                    let lambda = lambda.map_err(|e| e.to_string())?;
                    self.found.functions.insert(m.name.clone(), lambda);
                }
                Sort::Permutation => {
                    let permutation = self.permutation();
                    if self.law.reorderings.contains(&m.name) {
                        let arguments = std::mem::take(&mut self.arguments);
                        self.arguments = arguments.permutation(&m.name, permutation.clone());
                    }
                    self.found.permutations.insert(m.name.clone(), permutation);
                }
                Sort::Boundary => {
                    let all = [Boundary::Clamp, Boundary::Mirror, Boundary::Wrap];
                    let boundary = self.random.pick(&all).unwrap_or(Boundary::Clamp);
                    self.found.boundaries.insert(m.name.clone(), boundary);
                }
                Sort::Value(_) | Sort::Function(..) => {}
            }
        }
        Ok(())
    }

    /// A permutation of `n` elements.
    fn permutation(&mut self) -> Permutation {
        let n = self.values.get("n").unwrap_or(1);
        match self.random.below(3) {
            0 => Permutation::Reverse,
            1 => Permutation::Shift(Nat::int(i128::from(self.random.between(0, 5)))),
            _ => {
                let divisors: Vec<i128> = (1..=n).filter(|d| n % d == 0).collect();
                let stride = if self.symbolic { Some(1) } else { self.random.pick(&divisors) };
                Permutation::Stride(Nat::int(stride.unwrap_or(1)))
            }
        }
    }

    fn ty(&self, ty: &ast::Type) -> Made<Type> {
        match &ty.kind {
            TypeKind::Scalar(scalar) => Ok(Type::Scalar(*scalar)),
            TypeKind::Vector(scalar, width) => Ok(Type::vector(*scalar, self.size(width)?)),
            TypeKind::Name(name) => match vector_variable(name) {
                None => self.type_variable(name),
                Some((scalar, width)) => {
                    let scalar = self.type_variable(scalar)?.element_scalar();
                    let width = self.found.sizes.get(width).ok_or(format!("no size `{width}`"))?;
                    Ok(Type::vector(scalar.unwrap_or(Scalar::I32), width.clone()))
                }
            },
            TypeKind::Tuple(parts) => {
                Ok(Type::tuple(parts.iter().map(|p| self.ty(p)).collect::<Made<Vec<_>>>()?))
            }
            TypeKind::Array(element, length) => {
                Ok(Type::array(self.ty(element)?, self.size(length)?))
            }
            TypeKind::Over(..)
            | TypeKind::Function(..)
            | TypeKind::Nat
            | TypeKind::Boundary
            | TypeKind::Permutation
            | TypeKind::Error => Err("not the type of a value".to_string()),
        }
    }

    fn type_variable(&self, name: &str) -> Made<Type> {
        self.found.types.get(name).cloned().ok_or(format!("no type `{name}`"))
    }

    fn size(&self, size: &ast::Expr) -> Made<Nat> {
        match &size.kind {
            ExprKind::Paren(inner) => self.size(inner),
            ExprKind::Int(value, _) => Ok(Nat::int(i128::from(*value))),
            ExprKind::Name(name) => {
                self.found.sizes.get(name).cloned().ok_or(format!("no size `{name}`"))
            }
            ExprKind::Binary(BinaryOp::Mul, a, b) => Ok(self.size(a)? * self.size(b)?),
            ExprKind::Binary(BinaryOp::Add, a, b) => Ok(self.size(a)? + self.size(b)?),
            _ => Err("this size is not made here".to_string()),
        }
    }

    fn finish(mut self, left: Expr) -> Made<Instance> {
        let sizes = self.values.clone();
        let mut args = Vec::new();
        for param in &self.params {
            let ty = concrete_type(param.ty(), &sizes).map_err(|e| e.to_string())?;
            args.push(value(&ty, &mut self.random)?);
        }
        let symbols: BTreeMap<String, Var> = self
            .found
            .sizes
            .iter()
            .filter_map(|(name, size)| Some((name.clone(), size.as_var()?.clone())))
            .collect();
        let in_types = |var: &Var| self.params.iter().any(|param| param.ty().mentions(var));
        let (variables, parameters) = symbols.into_values().partition(|var| in_types(var));
        Ok(Instance {
            cx: self.cx,
            left,
            arguments: self.arguments,
            sizes,
            args,
            params: self.params,
            types: self.found.types.into_values().collect(),
            variables,
            parameters,
        })
    }
}
