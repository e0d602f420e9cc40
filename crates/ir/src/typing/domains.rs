//! Points of domains and their numbers.

use lift_domain::Domain;

use super::Rule;
use crate::{Part, Scalar, Type, TypeError};

impl Rule<'_> {
    /// `i, j, … -> i32`, as many integers as the domain has indices
    pub(super) fn rank(&self, domain: &Domain) -> Result<Type, TypeError> {
        self.counted(domain)?;
        if self.call.args.len() != domain.dimensions() {
            let text = format!(
                "`{domain}` has {} indices, found {}",
                domain.dimensions(),
                self.call.args.len()
            );
            return Err(TypeError::new(Part::Whole, text));
        }
        (0..domain.dimensions()).try_for_each(|at| self.integer(at))?;
        Ok(Type::I32)
    }

    /// `r -> (i32, i32, …)`; of a number of type `i64` the indices are of that type
    pub(super) fn point(&self, domain: &Domain) -> Result<Type, TypeError> {
        self.counted(domain)?;
        self.integer(0)?;
        let index = match self.value(0)? {
            Type::Scalar(Scalar::I64) => Type::Scalar(Scalar::I64),
            _ => Type::I32,
        };
        Ok(match domain.dimensions() {
            1 => index,
            many => Type::tuple(vec![index; many]),
        })
    }

    fn counted(&self, domain: &Domain) -> Result<(), TypeError> {
        match domain.levels() {
            Some(_) => Ok(()),
            None => Err(TypeError::new(
                Part::Whole,
                format!("no formula counts the points of `{domain}`"),
            )),
        }
    }

    fn integer(&self, at: usize) -> Result<(), TypeError> {
        match self.value(at)? {
            Type::Scalar(s) if s.is_integer() => Ok(()),
            other => Err(TypeError::new(
                Part::Argument(at),
                format!("an index is an integer, found `{other}`"),
            )),
        }
    }
}
