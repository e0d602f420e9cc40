//! Layout patterns as functions on indices, for reading and for writing.

use std::rc::Rc;

use lift_ir::{Call, MapKind, Nat, Permutation, Pred, Prim, Type};
use lift_kernel::Expr;

use super::checks::inside;
use super::emitter::Emitter;
use super::view::{ArrayView, Later, Leaf, View, Writer, broken};
use super::{Env, Translator, lanes};
use crate::LowerError;

pub(super) fn one() -> Nat {
    Nat::int(1)
}

impl Translator {
    /// The view of a layout pattern; `None` for any other.
    pub(super) fn layout(&mut self, call: &Call, env: &Env) -> Result<Option<View>, LowerError> {
        let size = |i: usize| call.sizes.get(i).cloned().unwrap_or_else(one);
        let view = match &call.prim {
            Prim::Zip => {
                let arrays = self.arguments(call, env)?;
                let length = arrays.first().map_or_else(one, |a| a.length.clone());
                View::array(&length, move |t, i| {
                    let items: Result<Vec<View>, LowerError> =
                        arrays.iter().map(|a| a.read(t, i)).collect();
                    Ok(View::Tuple(items?))
                })
            }
            Prim::Unzip => {
                let pairs = self.argument(call, 0, env)?.into_array()?;
                let count = match call.args.first().and_then(|a| a.ty().as_array()) {
                    Some((Type::Tuple(items), _)) => items.len(),
                    _ => 0,
                };
                let parts = (0..count).map(|k| {
                    let pairs = pairs.clone();
                    let length = pairs.length.clone();
                    View::array(&length, move |t, i| pairs.read(t, i)?.component(k))
                });
                View::Tuple(parts.collect())
            }
            Prim::Split => {
                let xs = self.argument(call, 0, env)?.into_array()?;
                let chunk = size(0);
                let count = self.out.simplify(&xs.length.exact_div(&chunk));
                View::array(&count, move |t, i| {
                    let (xs, start) = (xs.clone(), t.out.composed(i * &chunk, &xs.length));
                    Ok(View::array(&chunk, move |t, j| xs.read(t, &(&start + j))))
                })
            }
            Prim::Join => {
                let xss = self.argument(call, 0, env)?.into_array()?;
                let inner = inner_length(call);
                let length = self.out.simplify(&(&xss.length * &inner));
                let all = length.clone();
                View::array(&length, move |t, i| {
                    let (row, column) = t.out.divided(i, &inner, &all);
                    xss.read(t, &row)?.into_array()?.read(t, &column)
                })
            }
            Prim::Transpose => {
                let xss = self.argument(call, 0, env)?.into_array()?;
                let inner = inner_length(call);
                View::array(&inner, move |_, i| {
                    let (xss, i) = (xss.clone(), i.clone());
                    let length = xss.length.clone();
                    Ok(View::array(&length, move |t, j| xss.read(t, j)?.into_array()?.read(t, &i)))
                })
            }
            Prim::Gather(p) => self.reordered(call, env, p.clone())?,
            Prim::Scatter(p) => match inverse(p, &argument_length(call)) {
                Some(inverse) => self.reordered(call, env, inverse)?,
                None => return Ok(None),
            },
            Prim::Slide => {
                let xs = self.argument(call, 0, env)?.into_array()?;
                let (window, step) = (size(0), size(1));
                let count = (&xs.length - &window + &step).exact_div(&step);
                let count = self.out.simplify(&count);
                View::array(&count, move |t, i| {
                    let (xs, start) = (xs.clone(), t.out.composed(i * &step, &xs.length));
                    Ok(View::array(&window, move |t, j| xs.read(t, &(&start + j))))
                })
            }
            Prim::Pad(boundary) => {
                let xs = self.argument(call, 0, env)?.into_array()?;
                let (left, right, boundary) = (size(0), size(1), boundary.clone());
                let length = self.out.simplify(&(&left + &xs.length + &right));
                let (ty, span) = (element_type(call, 0)?, self.out.here);
                View::array(&length, move |t, i| {
                    let index = t.out.index(&(i - &left));
                    t.bounded(&boundary, &index, &xs, &ty, span)
                })
            }
            Prim::PadValue => {
                let value = self.argument(call, 0, env)?;
                let xs = self.argument(call, 1, env)?.into_array()?;
                let ty = element_type(call, 1)?;
                let (left, right) = (size(0), size(1));
                let length = self.out.simplify(&(&left + &xs.length + &right));
                View::array(&length, move |t, i| {
                    let index = t.out.index(&(i - &left));
                    let inside = Pred::And(vec![
                        Pred::Le(Nat::int(0), index.clone()),
                        Pred::Lt(index.clone(), xs.length.clone()),
                    ]);
                    let inside = t.out.facts.simplify_pred(&inside);
                    let (xs, value) = (xs.clone(), value.clone());
                    let element = Rc::new(move |t: &mut Translator| xs.read(t, &index));
                    t.choose_later(&ty, &inside, element, Rc::new(move |_| Ok(value.clone())))
                })
            }
            Prim::Take => {
                let xs = self.argument(call, 0, env)?.into_array()?;
                View::array(&size(0), move |t, i| xs.read(t, i))
            }
            Prim::Drop => {
                let xs = self.argument(call, 0, env)?.into_array()?;
                let count = size(0);
                let length = self.out.simplify(&(&xs.length - &count));
                View::array(&length, move |t, i| xs.read(t, &(i + &count)))
            }
            Prim::Concat => {
                let ty = element_type(call, 0)?;
                let arrays = self.arguments(call, env)?;
                let [first, second] = arrays.as_slice() else { return Err(broken("two arrays")) };
                let (first, second) = (first.clone(), second.clone());
                let length = self.out.simplify(&(&first.length + &second.length));
                View::array(&length, move |t, i| {
                    let in_first = Pred::Lt(i.clone(), first.length.clone());
                    let (at, after) = (i.clone(), i - &first.length);
                    let (first, second) = (first.clone(), second.clone());
                    let a = Rc::new(move |t: &mut Translator| first.read(t, &at));
                    let b = Rc::new(move |t: &mut Translator| second.read(t, &after));
                    t.choose_later(&ty, &in_first, a, b)
                })
            }
            Prim::Head => self.argument(call, 0, env)?.into_array()?.read(self, &Nat::int(0))?,
            Prim::Generate => {
                let Some(f) = call.functions.first().cloned() else { return Ok(None) };
                let env = env.clone();
                View::array(&size(0), move |t, i| {
                    let index = View::Value(Expr::Index(i.clone(), lift_ir::Scalar::I32));
                    let inner = t.enter(&f, vec![index], &env);
                    t.eval(&f.body, &inner)
                })
            }
            Prim::Repeat => {
                let value = self.argument(call, 0, env)?;
                View::array(&size(0), move |_, _| Ok(value.clone()))
            }
            Prim::At => {
                let index = call.args.first().ok_or_else(|| broken("an index"))?;
                let xs = self.argument(call, 1, env)?.into_array()?;
                if self.out.in_kernel() || self.out.is_proved(index, &xs.length) {
                    self.chosen(call, index, &xs, env)?
                } else {
                    let element = element_type(call, 1)?;
                    let (index, inner) = self.outside(index, env)?;
                    let call = call.clone();
                    self.delayed(&element, Rc::new(move |t| t.chosen(&call, &index, &xs, &inner)))?
                }
            }
            Prim::AsVector => {
                let xs = self.argument(call, 0, env)?.into_array()?;
                let width = lanes(&size(0))?;
                let count = self.out.simplify(&xs.length.exact_div(&size(0)));
                View::array(&count, move |t, i| {
                    let start = i * Nat::int(i128::from(width));
                    let mut parts = Vec::new();
                    for lane in 0..width {
                        let index = &start + Nat::int(i128::from(lane));
                        parts.push(xs.read(t, &index)?.into_value()?);
                    }
                    let scalar = parts.first().map_or(lift_ir::Scalar::F32, |p| p.ty().scalar);
                    let vector = t.out.adjacent_loads(&parts);
                    Ok(View::Value(vector.unwrap_or(Expr::Vector(scalar, parts))))
                })
            }
            Prim::AsScalar => {
                let vectors = self.argument(call, 0, env)?.into_array()?;
                let width = vector_width(call)?;
                let lanes = Nat::int(i128::from(width));
                let length = self.out.simplify(&(&vectors.length * &lanes));
                let all = length.clone();
                View::array(&length, move |t, i| {
                    let (at, lane) = t.out.divided(i, &lanes, &all);
                    let vector = vectors.read(t, &at)?.into_value()?;
                    t.lane(vector, &lane, width)
                })
            }
            Prim::Tuple => {
                let parts: Result<Vec<View>, LowerError> =
                    call.args.iter().map(|a| self.eval(a, env)).collect();
                View::Tuple(parts?)
            }
            Prim::Field(index) => self.argument(call, 0, env)?.component(*index as usize)?,
            Prim::Array => {
                let parts: Result<Vec<View>, LowerError> =
                    call.args.iter().map(|a| self.eval(a, env)).collect();
                let parts = parts?;
                View::array(&Nat::int(parts.len() as i128), move |t, i| t.pick(&parts, i))
            }
            _ => return Ok(None),
        };
        Ok(Some(view))
    }

    /// `xs[i]`
    fn chosen(
        &mut self,
        call: &Call,
        index: &lift_ir::Expr,
        xs: &ArrayView,
        env: &Env,
    ) -> Result<View, LowerError> {
        let span = index.span().or(self.out.here);
        let index = self.eval(index, env)?.into_value()?;
        self.element(index, xs, &element_type(call, 1)?, span)
    }

    /// The view of a value that is found out about wherever an element of it is read. Registers are not read outside
    /// of kernels: they are stored.
    fn delayed(&mut self, ty: &Type, value: Later) -> Result<View, LowerError> {
        Ok(match ty {
            Type::Array(element, n) => {
                let element = element.clone();
                View::array(n, move |t, i| {
                    let (value, i) = (value.clone(), i.clone());
                    let inner: Later = Rc::new(move |t| value(t)?.into_array()?.read(t, &i));
                    if t.out.in_kernel() { inner(t) } else { t.delayed(&element, inner) }
                })
            }
            Type::Tuple(items) if !ty.is_register() => {
                let mut parts = Vec::new();
                for (k, item) in items.iter().enumerate() {
                    let value = value.clone();
                    parts.push(self.delayed(item, Rc::new(move |t| value(t)?.component(k)))?);
                }
                View::Tuple(parts)
            }
            Type::Tuple(_) | Type::Scalar(_) | Type::Vector(..) => self.stored_later(ty, value)?,
        })
    }

    /// One of several values, by index.
    fn pick(&mut self, parts: &[View], index: &Nat) -> Result<View, LowerError> {
        let index = self.out.simplify(index);
        if let Some(i) = index.as_int() {
            let part = usize::try_from(i).ok().and_then(|i| parts.get(i));
            return part.cloned().ok_or_else(|| broken("an index in range"));
        }
        let Some((last, rest)) = parts.split_last() else { return Err(broken("an element")) };
        let mut chosen = last.clone();
        for (i, part) in rest.iter().enumerate().rev() {
            let here = Pred::Eq(index.clone(), Nat::int(i as i128));
            chosen = self.choose(&here, part.clone(), chosen)?;
        }
        Ok(chosen)
    }

    /// A lane of a vector; one that is loaded is loaded alone.
    fn lane(&mut self, vector: Expr, lane: &Nat, width: u32) -> Result<View, LowerError> {
        if let Expr::Load(access, ty) = &vector {
            let access = lift_kernel::Access {
                index: self.out.simplify(&(&access.index + lane)),
                width: 1,
                aligned: false,
                ..access.clone()
            };
            let ty = lift_kernel::ValueType::scalar(ty.scalar);
            return Ok(View::Value(Expr::Load(access, ty)));
        }
        let parts: Vec<View> = (0..width).map(|l| View::Value(lane_of(&vector, l))).collect();
        self.pick(&parts, lane)
    }
}

impl Emitter {
    /// Whether an index is known outside kernels, and proved to be below a length: nothing is to be checked where
    /// it is used.
    fn is_proved(&self, index: &lift_ir::Expr, length: &Nat) -> bool {
        let index = match index.kind() {
            lift_ir::Kind::Literal(lift_ir::Literal::Int(_, i)) => Nat::int(*i),
            lift_ir::Kind::Size(size, _) => self.simplify(size),
            _ => return false,
        };
        self.proves(&inside(&index, length))
    }
}

/// The place a layout pattern's argument is written to, given where its result goes; `None`
/// where the index map has no known inverse.
pub(super) fn inverse_layout(call: &Call, out: &Writer) -> Result<Option<Writer>, LowerError> {
    let size = |i: usize| call.sizes.get(i).cloned().unwrap_or_else(one);
    let Some(length) = call.args.first().and_then(|a| a.ty().as_array()).map(|(_, n)| n.clone())
    else {
        return Ok(None);
    };
    let out = out.clone();
    let writer = match &call.prim {
        Prim::Join => {
            let inner = inner_length(call);
            Writer::array(&length, move |i| {
                let (out, start) = (out.clone(), i * &inner);
                Ok(Writer::array(&inner, move |j| out.at(&(&start + j))))
            })
        }
        Prim::Split => {
            let chunk = size(0);
            Writer::array(&length, move |i| out.at(&i.div(&chunk))?.at(&i.rem(&chunk)))
        }
        Prim::Transpose => {
            let inner = inner_length(call);
            Writer::array(&length, move |i| {
                let (out, i) = (out.clone(), i.clone());
                Ok(Writer::array(&inner, move |j| out.at(j)?.at(&i)))
            })
        }
        Prim::Scatter(p) => {
            let (p, n) = (p.clone(), length.clone());
            Writer::array(&length, move |i| out.at(&p.apply(i, &n)))
        }
        Prim::Gather(p) => match inverse(p, &length) {
            Some(p) => {
                let n = length.clone();
                Writer::array(&length, move |i| out.at(&p.apply(i, &n)))
            }
            None => return Ok(None),
        },
        // Of one element.
        Prim::Head if length == Nat::ONE => Writer::array(&length, move |_| Ok(out.clone())),
        Prim::Take => {
            let count = size(0);
            Writer::array(&length, move |i| {
                let kept = Pred::Lt(i.clone(), count.clone());
                Ok(out.at(i)?.guarded(&kept))
            })
        }
        Prim::AsScalar => {
            let width = vector_width(call)?;
            Writer::array(&length, move |i| {
                let start = i * Nat::int(i128::from(width));
                let mut lanes = Vec::new();
                for lane in 0..width {
                    match out.at(&(&start + Nat::int(i128::from(lane))))? {
                        Writer::Leaf(leaf) => lanes.push(leaf),
                        Writer::Tuple(_) | Writer::Array(..) => return Err(broken("a scalar")),
                    }
                }
                Ok(Writer::Leaf(Leaf::Lanes(lanes)))
            })
        }
        Prim::Map(MapKind::Map) => {
            let Some(f) = call.functions.first().cloned() else { return Ok(None) };
            let [param] = f.params.as_slice() else { return Ok(None) };
            // Tried once, so that what is kept is known to succeed.
            let param = param.clone();
            if inverse_of(&f.body, &param, &out.at(&Nat::int(0))?)?.is_none() {
                return Ok(None);
            }
            Writer::array(&length, move |i| {
                inverse_of(&f.body, &param, &out.at(i)?)?.ok_or_else(|| broken("an inverse"))
            })
        }
        Prim::AsVector => {
            let width = size(0);
            // A lane is chosen by an index, for which the vector has to be in memory.
            if !matches!(out.at(&Nat::ZERO)?, Writer::Leaf(leaf) if leaf.is_in_memory()) {
                return Ok(None);
            }
            Writer::array(&length, move |i| match out.at(&i.div(&width))? {
                Writer::Leaf(leaf) => vector_element(&leaf, &i.rem(&width)).map(Writer::Leaf),
                Writer::Tuple(_) | Writer::Array(..) => Err(broken("a vector")),
            })
        }
        _ => return Ok(None),
    };
    Ok(Some(writer))
}

/// Where a variable is written, given where an expression that only rearranges it goes.
fn inverse_of(
    expr: &lift_ir::Expr,
    param: &lift_ir::Param,
    out: &Writer,
) -> Result<Option<Writer>, LowerError> {
    if expr.as_var() == Some(param) {
        return Ok(Some(out.clone()));
    }
    let Some(call) = expr.as_call() else { return Ok(None) };
    let [arg] = call.args.as_slice() else { return Ok(None) };
    match inverse_layout(call, out)? {
        Some(inner) => inverse_of(arg, param, &inner),
        None => Ok(None),
    }
}

fn vector_element(leaf: &Leaf, lane: &Nat) -> Result<Leaf, LowerError> {
    match leaf {
        Leaf::Place(place) => Ok(Leaf::Place(super::view::Place {
            index: &place.index + lane,
            width: 1,
            ..place.clone()
        })),
        Leaf::Guarded(condition, inner) => {
            Ok(Leaf::Guarded(condition.clone(), Box::new(vector_element(inner, lane)?)))
        }
        Leaf::Variable(_) | Leaf::Lanes(_) => {
            match lane.as_int().and_then(|l| u32::try_from(l).ok()) {
                Some(lane) => leaf.lane(lane),
                None => Err(LowerError::at(
                    None,
                    "a lane of a vector in a register is chosen by an index",
                )),
            }
        }
    }
}

/// The permutation of `0 .. n` that undoes another, where it has a name.
fn inverse(p: &Permutation, n: &Nat) -> Option<Permutation> {
    match p {
        Permutation::Reverse => Some(Permutation::Reverse),
        // Both transpose: s rows of n / s, and back.
        Permutation::Stride(s) => Some(Permutation::Stride(n.exact_div(s))),
        Permutation::Shift(k) => Some(Permutation::Shift(n - k.rem(n))),
        Permutation::Index(..) => None,
    }
}

/// The type of the elements of an argument.
fn element_type(call: &Call, index: usize) -> Result<Type, LowerError> {
    let array = call.args.get(index).and_then(|a| a.ty().as_array());
    array.map(|(element, _)| element.clone()).ok_or_else(|| broken("an array"))
}

fn argument_length(call: &Call) -> Nat {
    call.args.first().and_then(|a| a.ty().as_array()).map_or_else(one, |(_, n)| n.clone())
}

fn inner_length(call: &Call) -> Nat {
    let row = call.args.first().and_then(|a| a.ty().as_array()).map(|(row, _)| row);
    row.and_then(|row| row.as_array()).map_or_else(one, |(_, n)| n.clone())
}

fn vector_width(call: &Call) -> Result<u32, LowerError> {
    match call.args.first().and_then(|a| a.ty().as_array()) {
        Some((Type::Vector(_, width), _)) => lanes(width),
        _ => Err(broken("an array of vectors")),
    }
}

/// A lane of a vector; of one that is written out, the value itself.
pub(super) fn lane_of(vector: &Expr, lane: u32) -> Expr {
    match vector {
        Expr::Vector(_, parts) => match parts.get(lane as usize) {
            Some(part) => part.clone(),
            None => Expr::Lane(Box::new(vector.clone()), lane),
        },
        Expr::Splat(_, value) => (**value).clone(),
        _ => Expr::Lane(Box::new(vector.clone()), lane),
    }
}
