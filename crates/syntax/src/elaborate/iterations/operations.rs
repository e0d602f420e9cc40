//! Operations that are called by name with a domain: `view`, `over`, `flat`, `tabulate`, `rank`, `point`.

use std::sync::Arc;

use lift_domain::Domain;
use lift_ir::{Expr, Prim, Scalar, Span};

use super::super::apply::{Lets, arity};
use super::super::domains::{Operation, Used, shown};
use super::super::errors::{Parts, all, error};
use super::super::{Elaborator, Given, Hint, Result};
use super::wrong_indices;

impl<'a> Elaborator<'a> {
    /// `view(D, m)` and its like.
    pub(in crate::elaborate) fn domain_operation(
        &self,
        operation: Operation,
        given: &[Given<'a>],
        span: Span,
        hint: Hint,
    ) -> Result<Expr> {
        if given.len() != operation.arguments() {
            let name = format!("{operation:?}").to_lowercase();
            return Err(arity(&name, operation.arguments(), given.len(), span));
        }
        match (operation, given) {
            (Operation::Flat, [array]) => {
                let array = self.value(array, Hint::None)?;
                self.flat(array, span)
            }
            (Operation::View, [domain, array]) => {
                let (used, at) = self.given_domain(domain)?;
                let array = self.value(array, Hint::None)?;
                self.view(&used, array, at, span, hint)
            }
            (Operation::Over, [domain, array]) => {
                let (used, _) = self.given_domain(domain)?;
                let array = self.value(array, hint)?;
                self.over(&used, array, span)
            }
            (Operation::Tabulate, [domain, function]) => {
                let (used, at) = self.given_domain(domain)?;
                let function = self.given_function(function)?;
                let names = vec![None; used.points.dimensions()];
                self.tabulate(&used, &names, at, span, hint, &mut |point, hint| {
                    let values = point.iter().map(|(v, _)| Given::Value(v.clone(), function.span));
                    self.apply(&function, values.collect(), function.span, hint)
                })
            }
            (Operation::Rank, [domain, Given::Ast(point, env)]) => {
                let (used, _) = self.given_domain(domain)?;
                let point = self.point_values(point, &used, env)?;
                self.call(Prim::Rank(Arc::new(used.points)), point, span)
            }
            (Operation::Point, [domain, number]) => {
                let (used, _) = self.given_domain(domain)?;
                let number = self.value(number, Hint::None)?;
                self.call(Prim::Point(Arc::new(used.points)), vec![number], span)
            }
            _ => {
                let name = format!("{operation:?}").to_lowercase();
                error(span, format!("`{name}` is not supported here yet"))
            }
        }
    }

    fn given_domain(&self, given: &Given<'a>) -> Result<(Used, Span)> {
        match given {
            Given::Ast(ast, env) => Ok((self.domain(ast, env)?, ast.span)),
            Given::Value(_, span) => error(*span, "a domain is expected here"),
        }
    }

    /// The elements of a nested array one after the other.
    fn flat(&self, array: Expr, span: Span) -> Result<Expr> {
        if array.ty().as_array().is_none() {
            return error(span, format!("`flat` takes an array, found `{}`", array.ty()));
        }
        if let Some(domain) = self.packed_domain(array.ty()) {
            let count = self.counted(&domain, span)?;
            return Ok(self.cx.renamed(array, &count));
        }
        let mut found = array;
        while found.ty().as_array().is_some_and(|(element, _)| element.as_array().is_some()) {
            found = self.call(Prim::Join, vec![found], span)?;
        }
        Ok(found)
    }

    /// An array of as many elements as a domain has points, as the array over it.
    fn over(&self, used: &Used, array: Expr, span: Span) -> Result<Expr> {
        let lengths = self.lengths(used, span)?;
        let count = self.counted(used, span)?;
        match array.ty().as_array() {
            Some((_, length)) if self.cx.same_size(length, &count) => {}
            _ => {
                let text = format!(
                    "`{}` has `{}` points, which is not proved of the length of `{}`",
                    used.text,
                    self.cx.simplify(&count),
                    array.ty()
                );
                return error(span, text);
            }
        }
        if used.points.extents().is_none() {
            let length = lengths.first().cloned().unwrap_or(count);
            return Ok(self.cx.renamed(array, &length));
        }
        let mut found = array;
        for length in lengths.iter().skip(1).rev() {
            let parts = Parts::of(span);
            found = self.build(Prim::Split, vec![length.clone()], vec![], vec![found], &parts)?;
        }
        Ok(found)
    }

    /// An array seen through a domain: the element at the point that each point means.
    fn view(
        &self,
        used: &Used,
        array: Expr,
        domain_span: Span,
        span: Span,
        hint: Hint,
    ) -> Result<Expr> {
        let (root, meant) = used.root();
        if let Some(domain) = self.packed_domain(array.ty()) {
            return self.view_of_packed(used, &domain, array, domain_span, span, hint);
        }
        let mut lengths = Vec::new();
        let mut ty = array.ty();
        while let (Some((element, length)), true) =
            (ty.as_array(), lengths.len() < root.dimensions())
        {
            lengths.push(length.clone());
            ty = element;
        }
        if lengths.len() < root.dimensions() {
            let text = format!(
                "`{}` is a view of arrays with {} indices, found `{}`",
                used.text,
                root.dimensions(),
                array.ty()
            );
            return error(span, text);
        }
        let held = Domain::of_extents(&lengths);
        if let Some(open) = held.open_condition(&meant, &used.points, &self.cx.facts()) {
            let text = format!(
                "`{}` may have points outside `{}`: `{}` is not proved",
                used.text,
                array.ty(),
                shown(&open)
            );
            return error(domain_span, text);
        }
        let mut lets = Lets::new();
        let array = self.shared("seen", array, &mut lets);
        let names = vec![None; used.points.dimensions()];
        let made = self.tabulate(used, &names, domain_span, span, hint, &mut |point, _| {
            let point: Vec<Expr> = point.iter().map(|(value, _)| value.clone()).collect();
            let mut found = array.clone();
            for index in &meant {
                let index = self.affine_value(index, &point, Scalar::I32, span)?;
                found = self.element(index, found, span, [span, span])?;
            }
            Ok(found)
        })?;
        Ok(self.close(lets, made))
    }
}

impl<'a> Elaborator<'a> {
    /// As [`Elaborator::view`], of an array over a domain that is no box.
    fn view_of_packed(
        &self,
        used: &Used,
        domain: &Used,
        array: Expr,
        domain_span: Span,
        span: Span,
        hint: Hint,
    ) -> Result<Expr> {
        let (root, meant) = used.root();
        let same = root.dimensions() == domain.points.dimensions();
        let open = domain.points.open_condition(&meant, &used.points, &self.cx.facts());
        if let Some(open) = open.filter(|_| same) {
            let text = format!(
                "`{}` may have points outside `{}`: `{}` is not proved",
                used.text,
                domain.text,
                shown(&open)
            );
            return error(domain_span, text);
        }
        if !same {
            return Err(wrong_indices(domain, root.dimensions(), domain_span));
        }
        let mut lets = Lets::new();
        let array = self.shared("seen", array, &mut lets);
        let names = vec![None; used.points.dimensions()];
        let made = self.tabulate(used, &names, domain_span, span, hint, &mut |point, _| {
            let point: Vec<Expr> = point.iter().map(|(value, _)| value.clone()).collect();
            let meant = meant.iter().map(|i| self.affine_value(i, &point, Scalar::I32, span));
            self.at_point(array.clone(), domain, all(meant)?, span)
        })?;
        Ok(self.close(lets, made))
    }
}
