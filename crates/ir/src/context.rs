//! What checked constructors need to know: facts about sizes, and fresh names.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use lift_nat::{Facts, Nat, Pred, Var};

use crate::{
    Call, Expr, Kind, Lambda, Literal, Param, Part, Prim, Scalar, Type, TypeError, fold_sizes,
    typing,
};

/// Makes expressions. One context belongs to one program (or one rewriting of it); expressions of
/// different contexts must not be mixed, as variables are told apart by numbers it hands out.
///
/// Facts only grow. Divisibility must be proved from them; a lower bound that a pattern needs and
/// that cannot be proved is recorded as required, assumed from then on, and checked when sizes
/// are known.
#[derive(Debug, Default)]
pub struct Context {
    facts: RefCell<Facts>,
    required: RefCell<Vec<Pred>>,
    /// The lengths an `iterate` goes through, for the size variable its function binds.
    cases: RefCell<Vec<(Var, Vec<Nat>)>>,
    next: Cell<u32>,
}

impl Context {
    pub fn new(facts: Facts) -> Context {
        Context { facts: RefCell::new(facts), ..Context::default() }
    }

    /// A context whose fresh numbers start behind those that a program already uses.
    pub fn starting_at(facts: Facts, next: u32) -> Context {
        let cx = Context::new(facts);
        cx.next.set(next);
        cx
    }

    /// One more than every number handed out so far.
    pub fn next_number(&self) -> u32 {
        self.next.get()
    }

    pub fn facts(&self) -> Facts {
        self.facts.borrow().clone()
    }

    pub fn assume(&self, pred: &Pred) {
        self.facts.borrow_mut().assume(pred);
    }

    pub fn declare_size(&self, var: &Var) {
        self.facts.borrow_mut().size(var);
    }

    /// The lower bounds that constructors needed and could not prove.
    pub fn required(&self) -> Vec<Pred> {
        self.required.borrow().clone()
    }

    fn number(&self) -> u32 {
        let number = self.next.get();
        self.next.set(number + 1);
        number
    }

    pub fn fresh(&self, name: &str, ty: Type) -> Param {
        Param::new(self.number(), name, ty)
    }

    /// A size variable that takes one of the given values.
    pub fn fresh_size_among(&self, name: &str, cases: Vec<Nat>) -> Var {
        // Number 0 is the user's own name.
        let var = Var::with_id(name, self.number() + 1);
        self.declare_among(&var, cases);
        var
    }

    /// Makes known again what the size variables bound inside an expression stand for: the lengths
    /// that each `iterate` goes through.
    pub fn adopt(&self, expr: &Expr) {
        for (_, part) in expr.places() {
            let Some(Call { prim: Prim::Iterate, sizes, functions, args }) = part.as_call() else {
                continue;
            };
            let ([times], [Lambda { size: Some(var), body, .. }], [start]) =
                (sizes.as_slice(), functions.as_slice(), args.as_slice())
            else {
                continue;
            };
            let (Some(times), Some((_, first)), Some((_, next))) =
                (times.as_int(), start.ty().as_array(), body.ty().as_array())
            else {
                continue;
            };
            let mut lengths = vec![first.clone()];
            for _ in 1..times {
                let Some(length) = lengths.last().cloned() else { break };
                let after = next.substitute(&|v| (v == var).then(|| length.clone()));
                lengths.push(self.simplify(&after));
            }
            self.declare_among(var, lengths);
        }
    }

    /// Makes known that a size variable takes one of the given values.
    pub fn declare_among(&self, var: &Var, cases: Vec<Nat>) {
        let mut facts = self.facts.borrow_mut();
        facts.length_among(var, cases.clone());
        self.cases.borrow_mut().push((var.clone(), cases));
    }

    /// A variable of an index function: nothing is known of it but what the caller declares.
    pub fn fresh_index(&self, name: &str, range: lift_nat::Range) -> Var {
        let var = Var::with_id(name, self.number() + 1);
        self.facts.borrow_mut().declare(&var, range);
        var
    }

    /// As [`Context::fresh_index`], of a variable that need not have a value: what is declared is known only where
    /// the variable is asked about.
    pub fn fresh_inside(&self, name: &str, facts: &[Pred]) -> Var {
        let var = Var::with_id(name, self.number() + 1);
        let mut known = self.facts.borrow_mut();
        facts.iter().for_each(|fact| known.assume_inside(&var, fact.clone()));
        var
    }

    /// Makes a condition known where all of its variables are there that are known to be inside something.
    pub fn assume_inside(&self, pred: &Pred) {
        let mut known = self.facts.borrow_mut();
        for var in pred.vars() {
            if var.id() != 0 {
                known.assume_inside(&var, pred.clone());
            }
        }
    }

    pub fn simplify(&self, size: &Nat) -> Nat {
        if size.as_int().is_some() || size.as_var().is_some() {
            return size.clone();
        }
        self.facts.borrow().simplify(size)
    }

    pub fn proves(&self, pred: &Pred) -> bool {
        self.facts.borrow().proves(pred)
    }

    pub fn refutes(&self, pred: &Pred) -> bool {
        self.facts.borrow().refutes(pred)
    }

    /// Whether some variables cannot be there: their facts exclude each other.
    pub fn are_nowhere(&self, vars: &BTreeSet<Var>) -> bool {
        self.facts.borrow().are_nowhere(vars)
    }

    pub fn same_size(&self, a: &Nat, b: &Nat) -> bool {
        a == b || self.facts.borrow().equal(a, b)
    }

    /// Equal types, their sizes equal as arithmetic under the known facts.
    pub fn same_type(&self, a: &Type, b: &Type) -> bool {
        match (a, b) {
            (Type::Scalar(s), Type::Scalar(t)) => s == t,
            (Type::Vector(s, m), Type::Vector(t, n)) => s == t && self.same_size(m, n),
            (Type::Tuple(s), Type::Tuple(t)) => {
                s.len() == t.len() && s.iter().zip(t.iter()).all(|(s, t)| self.same_type(s, t))
            }
            (Type::Array(s, m), Type::Array(t, n)) => self.same_size(m, n) && self.same_type(s, t),
            (Type::Scalar(_) | Type::Vector(..) | Type::Tuple(_) | Type::Array(..), _) => false,
        }
    }

    pub fn simplify_type(&self, ty: &Type) -> Type {
        ty.map_sizes(&|size| self.simplify(size))
    }

    /// Proves a lower bound or requires it from whoever fixes the sizes.
    /// Fails where it can never hold.
    pub fn require(&self, pred: &Pred) -> Result<(), Pred> {
        if self.proves(pred) {
            return Ok(());
        }
        let cases = self.cases.borrow();
        if let Some((var, values)) = cases.iter().find(|(var, _)| pred.vars().contains(var)) {
            let (var, values) = (var.clone(), values.clone());
            drop(cases);
            return values.iter().try_for_each(|value| {
                self.require(&pred.substitute(&|v| (*v == var).then(|| value.clone())))
            });
        }
        drop(cases);
        if self.refutes(pred) {
            return Err(pred.clone());
        }
        let pred = self.facts.borrow().simplify_pred(pred);
        self.assume(&pred);
        self.required.borrow_mut().push(pred);
        Ok(())
    }

    // Constructors.

    pub fn var(&self, param: &Param) -> Expr {
        Expr::from_parts(Kind::Var(param.clone()), param.ty().clone(), None)
    }

    pub fn literal(&self, literal: Literal) -> Expr {
        Expr::from_parts(Kind::Literal(literal), Type::Scalar(literal.scalar()), None)
    }

    /// A size as a value of `i32` or `i64`.
    pub fn size(&self, size: &Nat, scalar: Scalar) -> Result<Expr, TypeError> {
        if !matches!(scalar, Scalar::I32 | Scalar::I64) {
            return Err(TypeError::new(
                Part::Whole,
                format!("a size is an `i32` or `i64`, not `{scalar}`"),
            )
            .help(format!("write `{} as {scalar}`", parenthesised(size))));
        }
        let size = self.simplify(size);
        match size.as_int() {
            Some(value) => match Literal::int(scalar, value) {
                Some(literal) => Ok(self.literal(literal)),
                None => Err(TypeError::new(
                    Part::Whole,
                    format!("{value} is not a value of `{scalar}`"),
                )),
            },
            None => Ok(Expr::from_parts(Kind::Size(size, scalar), Type::Scalar(scalar), None)),
        }
    }

    pub fn let_in(&self, param: Param, value: Expr, body: Expr) -> Result<Expr, TypeError> {
        if !self.same_type(param.ty(), value.ty()) {
            return Err(TypeError::new(
                Part::Argument(0),
                format!("expected `{}`, found `{}`", param.ty(), value.ty()),
            ));
        }
        let ty = body.ty().clone();
        Ok(Expr::from_parts(Kind::Let { param, value, body }, ty, None))
    }

    pub fn call(
        &self,
        prim: Prim,
        sizes: Vec<Nat>,
        functions: Vec<Lambda>,
        args: Vec<Expr>,
    ) -> Result<Expr, TypeError> {
        let sizes = sizes.iter().map(|s| self.simplify(s)).collect();
        let call = Call { prim, sizes, functions, args };
        if let Some(component) = written_out(&call) {
            return Ok(component.clone());
        }
        if let Some((size, scalar)) = fold_sizes::fold(self, &call) {
            return match size.as_int().and_then(|value| Literal::int(scalar, value)) {
                Some(literal) => Ok(self.literal(literal)),
                None => self.size(&size, scalar),
            };
        }
        let ty = typing::type_of(self, &call)?;
        Ok(Expr::from_parts(Kind::Call(call), self.simplify_type(&ty), None))
    }

    /// An array under a type that says its length in another way. Whoever asks for it knows that the lengths are the same,
    /// and makes them so before the program is finished.
    pub fn renamed(&self, array: Expr, length: &Nat) -> Expr {
        let Some((element, _)) = array.ty().as_array() else { return array };
        let ty = Type::array(element.clone(), length.clone());
        let call = Call {
            prim: Prim::Take,
            sizes: vec![length.clone()],
            functions: Vec::new(),
            args: vec![array.clone()],
        };
        Expr::from_parts(Kind::Call(call), ty, array.span())
    }

    /// A call whose parts have the types of those of another one, which has the type `ty`.
    pub(crate) fn call_of_type(&self, call: Call, ty: &Type) -> Result<Expr, TypeError> {
        if written_out(&call).is_some() || fold_sizes::fold(self, &call).is_some() {
            return self.call(call.prim, call.sizes, call.functions, call.args);
        }
        Ok(Expr::from_parts(Kind::Call(call), ty.clone(), None))
    }
}

/// The component that a projection of a written-out tuple takes: `(a, b).0` is `a`.
fn written_out(call: &Call) -> Option<&Expr> {
    let (Prim::Field(index), [tuple]) = (&call.prim, call.args.as_slice()) else { return None };
    match tuple.as_call() {
        Some(Call { prim: Prim::Tuple, args, .. }) => args.get(*index as usize),
        _ => None,
    }
}

/// `N` or `(N + 1)`: a size as an operand of any operator.
fn parenthesised(size: &Nat) -> String {
    if size.as_var().is_some() || size.as_int().is_some() {
        size.to_string()
    } else {
        format!("({size})")
    }
}
