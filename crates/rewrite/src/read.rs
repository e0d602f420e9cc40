//! Reading laws: from text in the language's notation to [`Law`].
//!
//! The parser of the language gives the surface tree. Here names get their meaning: patterns from
//! the table, metavariables from the signature, everything else in a size position is a size.

mod domain;
mod signature;
mod size;

use std::sync::Arc;

use lift_ir::table::{self, Make, Pattern, Slot};
use lift_ir::{BinaryOp, Boundary, Literal, Nat, Permutation, Prim, Scalar, UnaryOp};
use lift_syntax::ast::{self, ExprKind, PatternKind};
use lift_syntax::parser;

use crate::law::{Edge, Function, Law, Metavariable, Op, Reordering, Sort, Term, size_names_of};
use domain::domain_of;
use signature::read_signature;
pub(crate) use size::size_of;

type Read<T> = Result<T, String>;

impl Law {
    /// `signature` lists the metavariables as a definition lists its parameters, `condition` is
    /// a list of comparisons as after `where`; both may be empty.
    pub fn read(signature: &str, left: &str, right: &str, condition: &str) -> Read<Law> {
        let metavariables = read_signature(signature)?;
        let reader = Reader { metavariables: &metavariables };
        let left = reader.side(left)?;
        let right = reader.side(right)?;
        let conditions = match condition {
            "" => Vec::new(),
            text => lift_nat::parse_assumptions(text).map_err(|e| format!("`{text}`: {e}"))?,
        };
        let mut law = Law {
            metavariables,
            left,
            right,
            conditions,
            parameters: Vec::new(),
            reorderings: Vec::new(),
        };
        law.find_parameters()?;
        Ok(law)
    }

    /// What the left side does not bind must be chosen, and only sizes and permutations can be.
    fn find_parameters(&mut self) -> Read<()> {
        let on_left = self.left.metavariables();
        let mut bound: Vec<String> = Vec::new();
        self.left.sizes(&mut |n| bound.extend(n.as_var().map(|v| v.name().to_string())));
        self.left.each(&mut |term| {
            if let Term::Call { op: Op::Exact(Prim::Point(domain)), .. } = term {
                bound.extend(domain.sizes().iter().map(|v| v.name().to_string()));
            }
        });
        for m in &self.metavariables {
            match &m.sort {
                Sort::Permutation if !on_left.contains(&m.name) => {
                    self.reorderings.push(m.name.clone());
                }
                Sort::Value(_) | Sort::Function(..) | Sort::Boundary
                    if !on_left.contains(&m.name) =>
                {
                    return Err(format!("the left side does not mention `{}`", m.name));
                }
                Sort::Value(ty) => size_names_of(ty, &mut bound),
                Sort::Function(params, result) => {
                    params.iter().for_each(|ty| size_names_of(ty, &mut bound));
                    size_names_of(result, &mut bound);
                }
                Sort::Permutation | Sort::Boundary => {}
            }
        }
        self.parameters = self.size_names().into_iter().filter(|n| !bound.contains(n)).collect();
        Ok(())
    }
}

/// An argument of a pattern: written there, or supplied because the pattern was given too few.
#[derive(Clone)]
enum Given<'a> {
    Written(&'a ast::Expr),
    Supplied(Term),
}

struct Reader<'a> {
    metavariables: &'a [Metavariable],
}

/// The names bound around, each with the term it stands for.
type Scope = Vec<(String, Term)>;

impl Reader<'_> {
    fn side(&self, text: &str) -> Read<Term> {
        let (expr, diagnostics) = parser::parse_expr(0, text);
        if let Some(error) = diagnostics.first() {
            return Err(format!("`{text}`: {}", error.message));
        }
        self.value(&expr, &Scope::new()).map_err(|e| format!("`{text}`: {e}"))
    }

    fn sort(&self, name: &str) -> Option<&Sort> {
        self.metavariables.iter().find(|m| m.name == name).map(|m| &m.sort)
    }

    fn value(&self, expr: &ast::Expr, scope: &Scope) -> Read<Term> {
        match &expr.kind {
            ExprKind::Paren(inner) => self.value(inner, scope),
            ExprKind::Name(name) => match scope.iter().rev().find(|(n, _)| n == name) {
                Some((_, term)) => Ok(term.clone()),
                None if matches!(self.sort(name), Some(Sort::Value(_))) => {
                    Ok(Term::Meta(name.clone()))
                }
                None if name == "inf" => float(f64::INFINITY, None),
                None => Err(format!("`{name}` is no value of this law")),
            },
            ExprKind::Int(value, suffix) => {
                let scalar = suffix.unwrap_or(Scalar::I32);
                let literal = Literal::int(scalar, i128::from(*value));
                literal.map(Term::Literal).ok_or(format!("{value} is no `{scalar}`"))
            }
            ExprKind::Float(text, suffix) => {
                let value = text.parse().map_err(|_| format!("`{text}` is no number"))?;
                float(value, *suffix)
            }
            // Programs have literals there, too.
            ExprKind::Unary(UnaryOp::Neg, inner) => match self.value(inner, scope)? {
                Term::Literal(literal) => match literal.as_f64() {
                    Some(value) => float(-value, Some(literal.scalar())),
                    None => Err("a negative integer is not used in laws".to_string()),
                },
                value => {
                    let negated = Op::Exact(Prim::Unary(UnaryOp::Neg));
                    Ok(call(negated, Vec::new(), Vec::new(), vec![value]))
                }
            },
            ExprKind::If(condition, then, otherwise) => {
                let parts = [condition, then, otherwise];
                let args = parts.iter().map(|e| self.value(e, scope)).collect::<Read<_>>()?;
                Ok(call(Op::Exact(Prim::If), Vec::new(), Vec::new(), args))
            }
            ExprKind::Cast(value, ty) => {
                let ast::TypeKind::Scalar(scalar) = ty.kind else {
                    return Err("a law casts to a scalar".to_string());
                };
                let args = match self.value(value, scope) {
                    Ok(value) => vec![value],
                    Err(_) => vec![Term::Size(size_of(value)?)],
                };
                Ok(call(Op::Exact(Prim::Cast(scalar)), Vec::new(), Vec::new(), args))
            }
            ExprKind::Tuple(parts) => self.plain(Prim::Tuple, parts, scope),
            ExprKind::Array(parts) => self.plain(Prim::Array, parts, scope),
            ExprKind::Field(tuple, index) => {
                self.plain(Prim::Field(*index), std::slice::from_ref(tuple), scope)
            }
            ExprKind::Index(array, indices) => {
                let mut found = self.value(array, scope)?;
                for index in indices {
                    let args = vec![self.value(index, scope)?, found];
                    found = call(Op::Exact(Prim::At), Vec::new(), Vec::new(), args);
                }
                Ok(found)
            }
            ExprKind::Binary(op, a, b) => {
                let args = vec![self.value(a, scope)?, self.value(b, scope)?];
                Ok(call(Op::Exact(Prim::Binary(*op)), Vec::new(), Vec::new(), args))
            }
            ExprKind::Call(..) => self.apply(expr, Vec::new(), scope),
            ExprKind::Pipe(value, function) => {
                let value = self.value(value, scope)?;
                self.apply(function, vec![Given::Supplied(value)], scope)
            }
            ExprKind::Let(pattern, value, body) => {
                let PatternKind::Name(name) = &pattern.kind else {
                    return Err("a `let` of a law binds one name".to_string());
                };
                let value = Box::new(self.value(value, scope)?);
                let mut inner = scope.clone();
                inner.push((name.clone(), Term::Bound(name.clone())));
                let body = Box::new(self.value(body, &inner)?);
                Ok(Term::Let { name: name.clone(), value, body })
            }
            _ => Err("this form is not used in laws".to_string()),
        }
    }

    fn plain(&self, prim: Prim, args: &[ast::Expr], scope: &Scope) -> Read<Term> {
        let args = args.iter().map(|a| self.value(a, scope)).collect::<Read<_>>()?;
        Ok(call(Op::Exact(prim), Vec::new(), Vec::new(), args))
    }

    /// `function` applied to what it is written with and `more`.
    fn apply(&self, function: &ast::Expr, more: Vec<Given>, scope: &Scope) -> Read<Term> {
        match &function.kind {
            ExprKind::Paren(inner) => self.apply(inner, more, scope),
            ExprKind::Call(head, args) => {
                let given = args.iter().map(Given::Written).chain(more).collect();
                self.apply(head, given, scope)
            }
            ExprKind::Binary(BinaryOp::Shr, first, second) => {
                let value = self.apply(first, more, scope)?;
                self.apply(second, vec![Given::Supplied(value)], scope)
            }
            ExprKind::Name(name) if matches!(self.sort(name), Some(Sort::Function(..))) => {
                let args = more.iter().map(|g| self.given(g, scope)).collect::<Read<_>>()?;
                Ok(Term::Apply(name.clone(), args))
            }
            ExprKind::Section(op) => {
                let args = more.iter().map(|g| self.given(g, scope)).collect::<Read<_>>()?;
                Ok(call(Op::Exact(Prim::Binary(*op)), Vec::new(), Vec::new(), args))
            }
            ExprKind::Name(name) if name == "point" => match more.as_slice() {
                [Given::Written(domain), number] => {
                    let point = Op::Exact(Prim::Point(Arc::new(domain_of(domain)?)));
                    let number = self.given(number, scope)?;
                    Ok(call(point, Vec::new(), Vec::new(), vec![number]))
                }
                _ => Err("`point` takes a domain and a number".to_string()),
            },
            ExprKind::Name(name) if name == "rank" => match more.as_slice() {
                [Given::Written(domain), Given::Written(point)] => {
                    let rank = Op::Exact(Prim::Rank(Arc::new(domain_of(domain)?)));
                    let indices = match &point.kind {
                        ExprKind::Tuple(indices) => indices.iter().collect(),
                        _ => vec![*point],
                    };
                    let indices = indices.into_iter().map(|x| self.value(x, scope));
                    Ok(call(rank, Vec::new(), Vec::new(), indices.collect::<Read<_>>()?))
                }
                _ => Err("`rank` takes a domain and a point".to_string()),
            },
            ExprKind::Name(name) if name == "splat" => self.splat(&more, scope),
            ExprKind::Name(name) => match table::pattern(name) {
                Some(pattern) => self.pattern(pattern, more, scope),
                None => Err(format!("`{name}` is no pattern and no function of this law")),
            },
            _ => Err("only patterns and metavariables are applied in laws".to_string()),
        }
    }

    /// `splat(m, x)`: the vector of m times x, which programs write with the name of the type.
    fn splat(&self, given: &[Given], scope: &Scope) -> Read<Term> {
        let [Given::Written(width), value] = given else {
            return Err("`splat` takes a width and a value".to_string());
        };
        let args = vec![self.given(value, scope)?];
        Ok(call(Op::Exact(Prim::Splat), vec![size_of(width)?], Vec::new(), args))
    }

    fn given(&self, given: &Given, scope: &Scope) -> Read<Term> {
        match given {
            Given::Written(expr) => self.value(expr, scope),
            Given::Supplied(term) => Ok(term.clone()),
        }
    }

    /// `reduce(z, f, [ e | k in a .. b ])`, if a pattern is given that.
    fn over_range(&self, pattern: &Pattern, given: &[Given], scope: &Scope) -> Read<Option<Term>> {
        let (Make::Prim(Prim::Reduce(kind)), [z, Given::Written(f), Given::Written(array)]) =
            (&pattern.make, given)
        else {
            return Ok(None);
        };
        let ExprKind::Each(element, index, domain) = &array.kind else { return Ok(None) };
        let (ExprKind::Range(low, high), PatternKind::Name(name)) = (&domain.kind, &index.kind)
        else {
            return Err("an iteration of a law is over a range, with one index".to_string());
        };
        let f = self.function(f, 2, scope)?;
        let mut inner = scope.clone();
        inner.push((name.clone(), Term::Bound(name.clone())));
        let element = Function { params: vec![name.clone()], body: self.value(element, &inner)? };
        let args = vec![self.given(z, scope)?, self.value(low, scope)?, self.value(high, scope)?];
        Ok(Some(call(Op::Exact(Prim::ReduceRange(*kind)), Vec::new(), vec![f, element], args)))
    }

    fn pattern(&self, pattern: &Pattern, given: Vec<Given>, scope: &Scope) -> Read<Term> {
        if let Some(folded) = self.over_range(pattern, &given, scope)? {
            return Ok(folded);
        }
        let mut given = given.into_iter();
        let mut op = match &pattern.make {
            Make::Prim(prim) => Some(Op::Exact(prim.clone())),
            Make::Dimension(_) | Make::Permutation(_) | Make::Boundary(_) => None,
            Make::ReorderStride => None,
        };
        let (mut sizes, mut functions, mut args) = (Vec::new(), Vec::new(), Vec::new());
        for slot in pattern.slots {
            if matches!(slot, Slot::Values | Slot::FunctionArguments) {
                args.extend(
                    given.by_ref().map(|g| self.given(&g, scope)).collect::<Read<Vec<_>>>()?,
                );
                continue;
            }
            let next = given.next().ok_or(format!("`{}` lacks an argument", pattern.name))?;
            match (slot, &next) {
                (Slot::Value, _) => args.push(self.given(&next, scope)?),
                (Slot::Size, Given::Written(e)) if matches!(pattern.make, Make::ReorderStride) => {
                    op = Some(Op::Gather(Reordering::Stride(size_of(e)?)));
                }
                (Slot::Size, Given::Written(e)) => sizes.push(size_of(e)?),
                (Slot::Function(arity), Given::Written(e)) => {
                    let open = pattern.slots.contains(&Slot::FunctionArguments);
                    let arity = if open { given.len() } else { *arity };
                    functions.push(self.function(e, arity, scope)?);
                }
                (Slot::Dimension, Given::Written(e)) => {
                    let Make::Dimension(make) = pattern.make else { continue };
                    op = Some(Op::Parallel(make, size_of(e)?));
                }
                (Slot::Permutation, Given::Written(e)) => {
                    op = Some(self.reorder(pattern, e)?);
                }
                (Slot::Boundary, Given::Written(e)) => op = Some(Op::Pad(self.boundary(e)?)),
                (_, Given::Supplied(_)) | (Slot::Values | Slot::FunctionArguments, _) => {
                    return Err(format!("`{}` is given a value in a wrong place", pattern.name));
                }
            }
        }
        if given.next().is_some() {
            return Err(format!("`{}` is given too many arguments", pattern.name));
        }
        let op = op.ok_or(format!("`{}` is not complete", pattern.name))?;
        Ok(call(op, sizes, functions, args))
    }

    fn reorder(&self, pattern: &Pattern, expr: &ast::Expr) -> Read<Op> {
        let reordering = match &expr.kind {
            ExprKind::Name(name) if matches!(self.sort(name), Some(Sort::Permutation)) => {
                Reordering::Meta(name.clone())
            }
            ExprKind::Name(name) if name == "reverse" => Reordering::Reverse,
            ExprKind::Call(head, args) => match (&head.kind, args.as_slice()) {
                (ExprKind::Name(name), [s]) if name == "stride" => Reordering::Stride(size_of(s)?),
                (ExprKind::Name(name), [k]) if name == "shift" => Reordering::Shift(size_of(k)?),
                _ => return Err("this permutation is not used in laws".to_string()),
            },
            _ => return Err("this permutation is not used in laws".to_string()),
        };
        let Make::Permutation(make) = &pattern.make else {
            return Err(format!("`{}` takes no permutation", pattern.name));
        };
        Ok(match make(Permutation::Reverse) {
            Prim::Scatter(_) => Op::Scatter(reordering),
            _ => Op::Gather(reordering),
        })
    }

    fn boundary(&self, expr: &ast::Expr) -> Read<Edge> {
        let ExprKind::Name(name) = &expr.kind else {
            return Err("this boundary is not used in laws".to_string());
        };
        match (self.sort(name), name.as_str()) {
            (Some(Sort::Boundary), _) => Ok(Edge::Meta(name.clone())),
            (_, "clamp") => Ok(Edge::Exact(Boundary::Clamp)),
            (_, "mirror") => Ok(Edge::Exact(Boundary::Mirror)),
            (_, "wrap") => Ok(Edge::Exact(Boundary::Wrap)),
            _ => Err(format!("`{name}` is no boundary")),
        }
    }

    /// A function of so many parameters. Anything but a lambda is applied to fresh names.
    fn function(&self, expr: &ast::Expr, arity: usize, scope: &Scope) -> Read<Function> {
        match &expr.kind {
            ExprKind::Paren(inner) => self.function(inner, arity, scope),
            ExprKind::Lambda(patterns, body) => {
                let mut inner = scope.clone();
                let mut params = Vec::new();
                for pattern in patterns {
                    let name = match &pattern.kind {
                        PatternKind::Name(name) => name.clone(),
                        PatternKind::Wildcard | PatternKind::Tuple(_) => fresh("p", &inner),
                    };
                    bind(pattern, Term::Bound(name.clone()), &mut inner);
                    // Also under its own name, so that no later fresh name is the same.
                    inner.push((name.clone(), Term::Bound(name.clone())));
                    params.push(name);
                }
                Ok(Function { params, body: self.value(body, &inner)? })
            }
            _ => {
                let mut inner = scope.clone();
                let params: Vec<String> = (0..arity)
                    .map(|index| {
                        let name = if index == 0 && arity == 2 { "acc" } else { "x" };
                        let name = fresh(name, &inner);
                        inner.push((name.clone(), Term::Bound(name.clone())));
                        name
                    })
                    .collect();
                let given = params.iter().map(|p| Given::Supplied(Term::Bound(p.clone())));
                Ok(Function { body: self.apply(expr, given.collect(), &inner)?, params })
            }
        }
    }
}

fn call(op: Op, sizes: Vec<Nat>, functions: Vec<Function>, args: Vec<Term>) -> Term {
    Term::Call { op, sizes, functions, args }
}

fn float(value: f64, suffix: Option<Scalar>) -> Read<Term> {
    let scalar = suffix.unwrap_or(Scalar::F32);
    let literal = Literal::float(scalar, value);
    literal.map(Term::Literal).ok_or(format!("{value} is no `{scalar}`"))
}

/// A name that nothing around has.
fn fresh(name: &str, scope: &Scope) -> String {
    let free = |candidate: &String| !scope.iter().any(|(n, _)| n == candidate);
    let numbered = (1u32..).map(|number| format!("{name}{number}"));
    let mut candidates = std::iter::once(name.to_string()).chain(numbered);
    candidates.find(free).unwrap_or_else(|| name.to_string())
}

/// Brings the names of a pattern into scope as parts of `term`.
fn bind(pattern: &ast::Pattern, term: Term, scope: &mut Scope) {
    match &pattern.kind {
        PatternKind::Wildcard => {}
        PatternKind::Name(name) => scope.push((name.clone(), term)),
        PatternKind::Tuple(parts) => {
            for (index, part) in parts.iter().enumerate() {
                let field = Op::Exact(Prim::Field(index as u32));
                bind(part, call(field, Vec::new(), Vec::new(), vec![term.clone()]), scope);
            }
        }
    }
}
