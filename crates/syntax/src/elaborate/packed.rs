//! Arrays over domains that are no boxes, while a program is checked and afterwards.
//!
//! Until a definition is finished, the length of such an array is a variable that stands for the domain. Domains of the
//! same points have the same variable, so types are equal where the domains are. In the end it becomes the number of
//! points.

use lift_ir::{
    Call, Clause, Context, Expr, Kind, Launch, Nat, OVER, Param, Pred, Prim, Range, Span, Type, Var,
};

use super::domains::Used;
use super::errors::{Errors, error};
use super::iterations::varying;
use super::{Elaborator, Result};
use crate::diagnostic::Diagnostic;

/// A domain that is the length of an array.
pub(super) struct Packed {
    var: Var,
    domain: Used,
    count: Nat,
}

impl<'a> Elaborator<'a> {
    /// The length that stands for a domain.
    pub(super) fn packed_length(&self, domain: &Used, span: Span) -> Result<Nat> {
        if domain.points.sizes().iter().any(|v| self.mentions_index(&Nat::var(v))) {
            return Err(varying(domain, span));
        }
        let facts = self.cx.facts();
        let same = |p: &Packed| p.domain.points.same_points(&domain.points, &facts);
        if let Some(known) = self.packed.borrow().iter().find(|p| same(p)) {
            return Ok(Nat::var(&known.var));
        }
        let Some(levels) = domain.points.levels() else {
            return Err(Errors::one(
                Diagnostic::error(format!("no formula counts the points of `{}`", domain.text))
                    .at(span, "it has numbers that are too large")
                    .help("have smaller factors, or cut it into several domains"),
            ));
        };
        let count = self.cx.simplify(levels.count());
        let name = format!("{OVER}{}", domain.text);
        let var = self.cx.fresh_index(&name, Range::at_least(Nat::ZERO));
        let length = Nat::var(&var);
        self.packed.borrow_mut().push(Packed { var, domain: domain.clone(), count });
        Ok(length)
    }

    /// The domain of an array that is packed.
    pub(super) fn packed_domain(&self, ty: &Type) -> Option<Used> {
        let var = ty.as_array()?.1.as_var()?;
        let packed = self.packed.borrow();
        packed.iter().find(|p| p.var == *var).map(|p| p.domain.clone())
    }

    /// What takes arrays by their order takes none over a domain.
    pub(super) fn refuse_packed(&self, name: &str, args: &[Expr], spans: &[Span]) -> Result<()> {
        for (arg, span) in args.iter().zip(spans) {
            if let Some(domain) = self.packed_domain(arg.ty()) {
                let text = format!("`{name}` takes no array over `{}`", domain.text);
                let help = "`flat(a)` is the array of its elements, in the order of the points";
                return Err(Errors::one(Diagnostic::error(text).at(*span, "").help(help)));
            }
        }
        Ok(())
    }

    /// Arrays that are zipped are over one domain.
    pub(super) fn expect_one_domain(&self, args: &[Expr], spans: &[Span]) -> Result<()> {
        let Some(first) = args.first() else { return Ok(()) };
        for (arg, span) in args.iter().zip(spans) {
            let packed = [first, arg].iter().any(|a| self.packed_domain(a.ty()).is_some());
            let same = match (first.ty().as_array(), arg.ty().as_array()) {
                (Some((_, n)), Some((_, m))) => n == m,
                _ => true,
            };
            if packed && !same {
                let text = format!(
                    "`zip` takes arrays over one domain, found `{}` and `{}`",
                    first.ty(),
                    arg.ty()
                );
                return error(*span, text);
            }
        }
        Ok(())
    }

    fn count_of(&self, var: &Var) -> Option<Nat> {
        self.packed.borrow().iter().find(|p| p.var == *var).map(|p| p.count.clone())
    }

    /// Whether a condition says that there are not fewer points than none.
    pub(super) fn is_of_count(&self, pred: &Pred) -> bool {
        let Pred::Le(low, high) = pred else { return false };
        *low == Nat::ZERO && self.packed.borrow().iter().any(|p| p.count == *high)
    }

    pub(super) fn finished(&self, expr: &Expr) -> Expr {
        if self.packed.borrow().is_empty() {
            return expr.clone();
        }
        let sized = self.cx.substitute_sizes(expr, &|v| self.count_of(v));
        without_whole_takes(&self.cx, &sized)
    }

    pub(super) fn finished_type(&self, ty: &Type) -> Type {
        ty.map_sizes(&|n| self.finished_size(n))
    }

    pub(super) fn finished_param(&self, param: &Param) -> Param {
        self.cx.substitute_param(param, &|v| self.count_of(v))
    }

    /// A size as it was written, unless it counts points.
    fn finished_size(&self, size: &Nat) -> Nat {
        match self.packed.borrow().iter().any(|p| size.mentions(&p.var)) {
            true => self.cx.simplify(&size.substitute(&|v| self.count_of(v))),
            false => size.clone(),
        }
    }

    pub(super) fn finished_pred(&self, pred: &Pred) -> Pred {
        pred.substitute(&|v| self.count_of(v))
    }

    pub(super) fn finished_clause(&self, clause: Clause) -> Clause {
        Clause { pred: self.finished_pred(&clause.pred), span: clause.span }
    }

    pub(super) fn finished_launch(&self, launch: &Launch) -> Launch {
        launch.clauses().fold(Launch::default(), |found, (clause, sizes)| {
            found.with(clause, sizes.iter().map(|n| self.finished_size(n)).collect())
        })
    }
}

/// `take(n, xs)` of an array of length n is the array: `flat` and `over` move nothing.
fn without_whole_takes(cx: &Context, expr: &Expr) -> Expr {
    let whole = |call: &Call| {
        let (size, array) = (call.sizes.first()?, call.args.first()?);
        let (_, length) = array.ty().as_array()?;
        (call.prim == Prim::Take && cx.same_size(size, length)).then(|| array.clone())
    };
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => expr.clone(),
        Kind::Let { param, value, body } => {
            let (value, body) = (without_whole_takes(cx, value), without_whole_takes(cx, body));
            match cx.let_in(param.clone(), value, body) {
                Ok(made) => placed(made, expr),
                Err(_) => expr.clone(),
            }
        }
        Kind::Call(call) => match whole(call) {
            Some(array) => without_whole_takes(cx, &array),
            None => {
                let mut functions = call.functions.clone();
                for f in &mut functions {
                    f.body = without_whole_takes(cx, &f.body);
                }
                let args = call.args.iter().map(|a| without_whole_takes(cx, a)).collect();
                match cx.call(call.prim.clone(), call.sizes.clone(), functions, args) {
                    Ok(made) => placed(made, expr),
                    Err(_) => expr.clone(),
                }
            }
        },
    }
}

fn placed(made: Expr, from: &Expr) -> Expr {
    match from.span() {
        Some(span) => made.with_span(span),
        None => made,
    }
}
