//! What a step does at each place of its state.
//!
//! `\a b -> let h = map(f, b); zip(a, h) |> map(g)` is at each place `\s x -> g(s, x)`, where `x` is an element of `map(f, b)`. Maps in a row,
//! zips, tuples and `let`s are gone through from the result to the state. What does not depend on the state is an array beside
//! it, an operand.

use lift_ir::{
    BinaryOp, Build, Built, Call, Context, Expr, Kind, Lambda, MapKind, Math, Nat, Param, Prim,
    Type, TypeError,
};

use crate::parts::Part;
use crate::replace::with_components;

/// What a step does at a place.
pub(super) struct Step {
    /// The elements of the states.
    states: Vec<Param>,
    /// What goes beside them: arrays that depend on the row at most, and what stands for their elements.
    operands: Vec<Part>,
    /// What the operands share.
    shared: Vec<(Param, Expr)>,
    /// The state after the step, from those elements.
    body: Expr,
}

/// A step from arrays of one length and a row, at each place; `None` where places are not alone, or no row has a part in it.
pub(super) fn each_place(
    cx: &Context,
    states: &[Param],
    row: &Param,
    body: &Expr,
) -> Result<Option<Step>, TypeError> {
    let mut elements = Vec::new();
    let mut length: Option<&Nat> = None;
    for state in states {
        let Some((element, n)) = state.ty().as_array() else { return Ok(None) };
        if length.is_some_and(|first| !cx.same_size(first, n)) {
            return Ok(None);
        }
        length = Some(n);
        elements.push(cx.fresh(state.name(), element.clone()));
    }
    let Some(length) = length else { return Ok(None) };
    let mut places = Places {
        cx,
        length: length.clone(),
        known: states.iter().cloned().zip(elements.iter().map(|e| cx.var(e))).collect(),
        row: row.clone(),
        operands: Vec::new(),
        shared: Vec::new(),
        lets: Vec::new(),
    };
    let mut result = body;
    while let Kind::Let { param, value, body } = result.kind() {
        if !places.bind(param, value)? {
            return Ok(None);
        }
        result = body;
    }
    let at_place = match (states, result.as_call()) {
        ([_], _) => places.of(result)?,
        (_, Some(Call { prim: Prim::Tuple, args, .. })) => places.all(Prim::Tuple, args)?,
        _ => None,
    };
    let Some(mut body) = at_place else { return Ok(None) };
    for (param, value) in places.lets.into_iter().rev() {
        body = cx.let_in(param, value, body)?;
    }
    let mut step =
        Step { states: elements, operands: places.operands, shared: places.shared, body };
    step.simplify();
    let of_row = |e: &Expr| e.mentions(row);
    let has_row = step.operands.iter().any(|part| of_row(&part.array));
    let shares_row = step.shared.iter().any(|(_, value)| of_row(value));
    Ok((has_row || shares_row).then_some(step))
}

/// Whether a function of two values is an operator that is known to be associative, or one at each place of them.
pub(super) fn is_associative(
    cx: &Context,
    body: &Expr,
    a: &Param,
    b: &Param,
) -> Result<bool, TypeError> {
    let is = |e: &Expr, param: &Param, component: Option<usize>| match component {
        None => e.as_var() == Some(param),
        Some(k) => is_field(e, param, k),
    };
    let operator = |e: &Expr, component: Option<usize>| {
        let Some(call) = e.as_call() else { return false };
        let [left, right] = call.args.as_slice() else { return false };
        let is_known = matches!(
            call.prim,
            Prim::Binary(BinaryOp::Add | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or)
                | Prim::Binary(BinaryOp::BitAnd | BinaryOp::BitOr)
                | Prim::Math(Math::Min | Math::Max)
        );
        let in_order = is(left, a, component) && is(right, b, component);
        is_known && (in_order || is(left, b, component) && is(right, a, component))
    };
    if operator(body, None) {
        return Ok(true);
    }
    if let Some(Call { prim: Prim::Tuple, args, .. }) = body.as_call() {
        return Ok(args.iter().enumerate().all(|(k, e)| operator(e, Some(k))));
    }
    let Some(step) = each_place(cx, std::slice::from_ref(a), b, body)? else { return Ok(false) };
    let ([s], [part]) = (step.states.as_slice(), step.operands.as_slice()) else {
        return Ok(false);
    };
    Ok(step.is_row(b) && is_associative(cx, &step.body, s, &part.element)?)
}

impl Step {
    /// Whether what goes beside the state is the row as it is.
    pub(super) fn is_row(&self, row: &Param) -> bool {
        matches!(self.operands.as_slice(), [one] if one.array.as_var() == Some(row))
    }

    /// The same, or all components of it in order: what is folded at a place is of the type of what is folded.
    pub(super) fn is_whole_row(&self, row: &Param) -> bool {
        let is_component = |(k, part): (usize, &Part)| is_field(&part.array, row, k);
        let several = match row.ty() {
            Type::Tuple(items) => items.len() == self.operands.len(),
            Type::Array(..) | Type::Scalar(_) | Type::Vector(..) => false,
        };
        self.is_row(row) || several && self.operands.iter().enumerate().all(is_component)
    }

    /// What goes beside the state, for a row.
    pub(super) fn operands(&self, cx: &Context, row: &Param, value: Expr) -> Built {
        let arrays: Vec<Expr> = self.operands.iter().map(|part| part.array.clone()).collect();
        let mut all = match arrays.as_slice() {
            [one] => one.clone(),
            _ => cx.call(Prim::Zip, vec![], vec![], arrays)?,
        };
        for (param, shared) in self.shared.iter().rev() {
            all = cx.let_in(param.clone(), shared.clone(), all)?;
        }
        Ok(cx.substitute(&all, &[(row.clone(), value)]))
    }

    /// The state after the step, from that before and the elements of what goes beside it.
    pub(super) fn element(&self, cx: &Context, state: &Param, operands: &Param) -> Built {
        let build = Build::new(cx);
        let body = match self.states.as_slice() {
            [one] => cx.substitute(&self.body, &[(one.clone(), cx.var(state))]),
            several => {
                let field = |k| build.field(cx.var(state), k);
                let fields = (0..).zip(several).map(|(k, s)| Ok((s.clone(), field(k)?)));
                cx.substitute(&self.body, &fields.collect::<Result<Vec<_>, TypeError>>()?)
            }
        };
        let values = match self.operands.as_slice() {
            [one] => vec![(one.element.clone(), cx.var(operands))],
            several => {
                let field = |k| build.field(cx.var(operands), k);
                let fields = (0..).zip(several).map(|(k, p)| Ok((p.element.clone(), field(k)?)));
                fields.collect::<Result<Vec<_>, TypeError>>()?
            }
        };
        Ok(cx.substitute(&body, &values))
    }

    /// What is one operand, and nothing else reads, needs no name.
    fn simplify(&mut self) {
        while let Some((param, value)) = self.shared.last().cloned() {
            let mut readers = self.operands.iter_mut().filter(|p| p.array.mentions(&param));
            match (readers.next(), readers.next()) {
                (None, _) => {}
                (Some(part), None) if part.array.as_var() == Some(&param) => part.array = value,
                _ => break,
            }
            self.shared.pop();
        }
    }
}

struct Places<'a> {
    cx: &'a Context,
    /// How many places there are.
    length: Nat,
    row: Param,
    /// Variables that are made of the state, and what each is at a place.
    known: Vec<(Param, Expr)>,
    operands: Vec<Part>,
    shared: Vec<(Param, Expr)>,
    /// What is computed at a place.
    lets: Vec<(Param, Expr)>,
}

impl Places<'_> {
    /// What an array is at a place.
    fn of(&mut self, array: &Expr) -> Result<Option<Expr>, TypeError> {
        if !self.known.iter().any(|(param, _)| array.mentions(param)) {
            return Ok(self.operand(array));
        }
        let call = match array.kind() {
            Kind::Var(param) => {
                let found = self.known.iter().find(|(known, _)| known == param);
                return Ok(found.map(|(_, at_place)| at_place.clone()));
            }
            Kind::Literal(_) | Kind::Size(..) => return Ok(None),
            Kind::Let { param, value, body } => {
                return if self.bind(param, value)? { self.of(body) } else { Ok(None) };
            }
            Kind::Call(call) => call,
        };
        match (&call.prim, call.functions.as_slice(), call.args.as_slice()) {
            (Prim::Map(MapKind::Map), [g], [xs]) if self.is_alone(g) => match self.of(xs)? {
                Some(x) => self.applied(g, x).map(Some),
                None => Ok(None),
            },
            (Prim::Zip, _, arrays) => self.all(Prim::Tuple, arrays),
            _ => Ok(None),
        }
    }

    fn all(&mut self, prim: Prim, arrays: &[Expr]) -> Result<Option<Expr>, TypeError> {
        let mut items = Vec::new();
        for array in arrays {
            let Some(item) = self.of(array)? else { return Ok(None) };
            items.push(item);
        }
        self.cx.call(prim, vec![], vec![], items).map(Some)
    }

    /// A `let` of a step; `false` where it is neither of the row alone nor of each place alone.
    fn bind(&mut self, param: &Param, value: &Expr) -> Result<bool, TypeError> {
        if !self.known.iter().any(|(known, _)| value.mentions(known)) {
            self.shared.push((param.clone(), value.clone()));
            return Ok(true);
        }
        let Some(at_place) = self.of(value)? else { return Ok(false) };
        let at_place = self.cheap(param.name(), at_place)?;
        self.known.push((param.clone(), at_place));
        Ok(true)
    }

    /// The element of an array that does not depend on the state.
    fn operand(&mut self, array: &Expr) -> Option<Expr> {
        let (element, length) = array.ty().as_array()?;
        if !self.cx.same_size(length, &self.length) {
            return None;
        }
        if let Some(part) = self.operands.iter().find(|part| is_same(&part.array, array)) {
            return Some(self.cx.var(&part.element));
        }
        let element = self.cx.fresh("operand", element.clone());
        self.operands.push(Part { element: element.clone(), array: array.clone() });
        Some(self.cx.var(&element))
    }

    /// Whether a function depends on nothing of the step but its argument.
    fn is_alone(&self, g: &Lambda) -> bool {
        let shared = self.shared.iter().map(|(param, _)| param);
        let mut own = self.known.iter().map(|(param, _)| param).chain(shared).chain([&self.row]);
        g.size.is_none() && own.all(|param| !g.body.mentions(param))
    }

    fn applied(&mut self, g: &Lambda, x: Expr) -> Built {
        let items = match x.as_call() {
            Some(Call { prim: Prim::Tuple, args, .. }) => {
                let mut items = Vec::new();
                for arg in args {
                    items.push(self.cheap("part", arg.clone())?);
                }
                Some(items)
            }
            _ => None,
        };
        match (g.params.as_slice(), items) {
            ([tuple], Some(items)) => with_components(self.cx, &g.body, tuple, &items),
            ([param], None) => {
                let x = self.cheap(param.name(), x)?;
                Ok(self.cx.substitute(&g.body, &[(param.clone(), x)]))
            }
            (params, items) => {
                let items = items.unwrap_or_default();
                let values: Vec<(Param, Expr)> = params.iter().cloned().zip(items).collect();
                Ok(self.cx.substitute(&g.body, &values))
            }
        }
    }

    /// What may be written wherever it is read: a variable for what is computed.
    fn cheap(&mut self, name: &str, value: Expr) -> Built {
        if is_view(&value) {
            return Ok(value);
        }
        let param = self.cx.fresh(name, value.ty().clone());
        self.lets.push((param.clone(), value));
        Ok(self.cx.var(&param))
    }
}

/// Whether two arrays are one variable, or one component of it.
fn is_same(a: &Expr, b: &Expr) -> bool {
    match (a.as_call(), b.as_call()) {
        (Some(one), Some(other)) if matches!(one.prim, Prim::Field(_)) => {
            let parts = one.args.iter().zip(&other.args);
            one.prim == other.prim && parts.into_iter().all(|(x, y)| is_same(x, y))
        }
        _ => a.same_node(b) || a.as_var().is_some_and(|var| b.as_var() == Some(var)),
    }
}

/// `tuple.k`
fn is_field(expr: &Expr, tuple: &Param, k: usize) -> bool {
    match expr.as_call() {
        Some(Call { prim: Prim::Field(field), args, .. }) => {
            usize::try_from(*field) == Ok(k) && args.first().and_then(Expr::as_var) == Some(tuple)
        }
        _ => false,
    }
}

/// What costs nothing to write again: atoms, and zips and tuples of views.
fn is_view(expr: &Expr) -> bool {
    let is_zip = |call: &Call| {
        matches!(call.prim, Prim::Zip | Prim::Tuple | Prim::Field(_))
            && call.args.iter().all(is_view)
    };
    expr.is_atom() || expr.as_call().is_some_and(is_zip)
}
