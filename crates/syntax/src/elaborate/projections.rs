//! Projections: domains addressed by the points of one set, each of which means a point of another.

use lift_domain::Domain;
use lift_ir::{BinaryOp, Nat, Span};

use super::domains::{Used, shown};
use super::errors::error;
use super::scope::{Binding, Env};
use super::{Elaborator, Result};
use crate::ast::{self, ExprKind};

impl<'a> Elaborator<'a> {
    /// The points of one domain that those of another mean.
    pub(super) fn projection(
        &self,
        domain: &'a ast::Domain,
        by: Used,
        address: &'a ast::Points,
        env: &Env<'a>,
    ) -> Result<Used> {
        let set = &domain.set;
        let Some(parent) = &set.points.domain else {
            return error(
                set.points.span,
                "a projection is of a domain, as in `{ grid[n, n](a, b) | … }`",
            );
        };
        let parent = self.domain(parent, env)?;
        self.expect_indices(&parent, &set.points)?;
        let (mut inner, own) = (env.clone(), address.indices.len());
        let indices = address.indices.iter().chain(&set.points.indices);
        for (k, name) in indices.enumerate() {
            inner = inner.bind(&name.text, Binding::Size(Domain::index(k)));
        }
        let mut equations = Vec::new();
        for ast in &set.constraints {
            match &ast.kind {
                ExprKind::Binary(BinaryOp::Eq, left, right) => {
                    equations.push(self.size(left, &inner)? - self.size(right, &inner)?);
                }
                _ => return error(ast.span, "a projection is given by equations, as in `a == j`"),
            }
        }
        let wanted = parent.points.dimensions();
        let solved = solved(equations, own, wanted);
        let Some((point, _)) = solved.filter(|(_, left)| left.is_empty()) else {
            let text = format!(
                "this is no function: the equations do not give each index of `{}` by those of `{}`",
                parent.text, by.text
            );
            return error(set.span, text);
        };
        self.inside_parent(&parent, &by, &point, set.span)?;
        let meaning = match &parent.meaning {
            None => (parent.points.clone(), point),
            Some((root, further)) => {
                let through = |n: &Nat| {
                    n.substitute(&|v| {
                        let k = (0..wanted).find(|k| Domain::index_var(*k) == *v)?;
                        point.get(k).cloned()
                    })
                };
                (root.clone(), further.iter().map(through).collect())
            }
        };
        Ok(Used { text: String::new(), named: None, meaning: Some(meaning), ..by })
    }

    /// Each point means one of the parent; what that needs of sizes alone is required of whoever gives them.
    fn inside_parent(&self, parent: &Used, by: &Used, point: &[Nat], span: Span) -> Result<()> {
        let mut known = self.cx.facts();
        for _ in 0..32 {
            let Some(open) = parent.points.open_condition(point, &by.points, &known) else {
                return Ok(());
            };
            let dimensions = 0..by.points.dimensions();
            let of_index = dimensions.into_iter().any(|k| open.mentions(&Domain::index_var(k)));
            if of_index || !self.required(&open) {
                let text = format!(
                    "a point of `{}` may mean none of `{}`: `{}` is not proved",
                    by.text,
                    parent.text,
                    shown(&open)
                );
                return error(span, text);
            }
            known.assume(&open);
        }
        error(span, "this projection has too many conditions")
    }
}

/// The indices `own ..` of some equations in terms of the first ones, each equation being 0, and what has to be 0 besides; `None`
/// where they are not determined.
pub(super) fn solved(
    mut equations: Vec<Nat>,
    own: usize,
    wanted: usize,
) -> Option<(Vec<Nat>, Vec<Nat>)> {
    let mut found: Vec<Option<Nat>> = vec![None; wanted];
    for _ in 0..wanted {
        let (coefficients, at, k) = equations.iter().enumerate().find_map(|(at, equation)| {
            let (coefficients, _) = lift_domain::affine(equation, own + wanted).ok()?;
            let k =
                (0..wanted).find(|k| coefficients.get(own + k).is_some_and(|c| c.abs() == 1))?;
            Some((coefficients, at, k))
        })?;
        let equation = equations.swap_remove(at);
        let sign = coefficients.get(own + k).copied().unwrap_or(1);
        let var = Domain::index_var(own + k);
        let value = Domain::index(own + k) - equation * Nat::int(sign);
        let replace = |n: &Nat| n.substitute(&|v| (*v == var).then(|| value.clone()));
        equations = equations.iter().map(replace).collect();
        for known in found.iter_mut().flatten() {
            *known = replace(known);
        }
        found[k] = Some(value);
    }
    equations.retain(|e| *e != Nat::ZERO);
    let point: Option<Vec<Nat>> = found.into_iter().collect();
    let free = |n: &Nat| (0..wanted).all(|k| !n.mentions(&Domain::index_var(own + k)));
    let all_free = |p: &Vec<Nat>| p.iter().chain(&equations).all(free);
    point.filter(all_free).map(|point| (point, equations))
}
