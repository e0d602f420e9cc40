//! Places: paths that name any sub-expression.

use std::fmt;
use std::str::FromStr;

use crate::{Call, Context, Expr, Kind, Lambda, TypeError};

/// A path from the root, one child number a step; the root is the empty path.
///
/// Children are numbered as [`Expr::children`] lists them. Written `1.0.2`, the root `root`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Place(pub Vec<u32>);

impl Place {
    pub fn root() -> Place {
        Place::default()
    }

    pub fn child(&self, index: u32) -> Place {
        let mut path = self.0.clone();
        path.push(index);
        Place(path)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("root");
        }
        for (i, step) in self.0.iter().enumerate() {
            write!(f, "{}{step}", if i > 0 { "." } else { "" })?;
        }
        Ok(())
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        if text == "root" {
            return Ok(Place::root());
        }
        let steps: Result<Vec<u32>, _> = text.split('.').map(str::parse).collect();
        steps.map(Place).map_err(|_| {
            format!("`{text}` is not a place: expected numbers as in `0.1.2`, or `root`")
        })
    }
}

impl Expr {
    /// The sub-expression at a place.
    pub fn at(&self, place: &Place) -> Option<&Expr> {
        place.0.iter().try_fold(self, |expr, step| expr.children().get(*step as usize).copied())
    }

    /// Whether something holds of the expression or of one inside it.
    pub fn has(&self, holds: impl Fn(&Expr) -> bool) -> bool {
        let mut pending = vec![self];
        while let Some(expr) = pending.pop() {
            if holds(expr) {
                return true;
            }
            match expr.kind() {
                Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => {}
                Kind::Let { value, body, .. } => pending.extend([value, body]),
                Kind::Call(call) => pending.extend(call.children()),
            }
        }
        false
    }

    /// Every place with its sub-expression, parents before children, in order.
    pub fn places(&self) -> Vec<(Place, &Expr)> {
        let mut found = Vec::new();
        let mut pending = vec![(Place::root(), self)];
        while let Some((place, expr)) = pending.pop() {
            let children = expr.children();
            for (index, child) in children.into_iter().enumerate().rev() {
                pending.push((place.child(index as u32), child));
            }
            found.push((place, expr));
        }
        found
    }
}

impl Context {
    /// `root` with the sub-expression at `place` replaced. Nodes above it are checked again where the type below
    /// them is another one.
    /// `None` where there is no such place.
    pub fn replace_at(
        &self,
        root: &Expr,
        place: &Place,
        new: &Expr,
    ) -> Option<Result<Expr, TypeError>> {
        self.replace_along(root, &place.0, new)
    }

    fn replace_along(
        &self,
        expr: &Expr,
        path: &[u32],
        new: &Expr,
    ) -> Option<Result<Expr, TypeError>> {
        let Some((step, rest)) = path.split_first() else {
            return Some(Ok(new.clone()));
        };
        let step = *step as usize;
        let old = *expr.children().get(step)?;
        let child = match self.replace_along(old, rest, new)? {
            Ok(child) => child,
            Err(error) => return Some(Err(error)),
        };
        let same_type = child.ty() == old.ty();
        let rebuilt = match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => return None,
            Kind::Let { param, value, body } => match step {
                0 => self.let_in(param.clone(), child, body.clone()),
                _ => self.let_in(param.clone(), value.clone(), child),
            },
            Kind::Call(Call { prim, sizes, functions, args }) => {
                let (mut functions, mut args) = (functions.clone(), args.clone());
                let bodies = functions.len();
                match functions.get_mut(step) {
                    Some(Lambda { body, .. }) => *body = child,
                    None => *args.get_mut(step - bodies)? = child,
                }
                let call = Call { prim: prim.clone(), sizes: sizes.clone(), functions, args };
                if same_type {
                    self.call_of_type(call, expr.ty())
                } else {
                    self.call(call.prim, call.sizes, call.functions, call.args)
                }
            }
        };
        Some(rebuilt.map(|e| match expr.span() {
            Some(span) => e.with_span(span),
            None => e,
        }))
    }
}
