//! Where a search looks: points, some of them at random, and those near others.

use std::cell::OnceCell;
use std::collections::HashSet;

use fastrand::Rng;

use crate::parameters::{Bounds, Choices, Values};
use crate::space::Space;

/// A low-level program, by its number, with values for its parameters.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Point {
    pub variant: usize,
    pub values: Values,
}

/// What there is to choose from.
pub trait Ground {
    /// Some point; nothing where none is found soon.
    fn some(&self, random: &mut Rng) -> Option<Point>;

    /// A point that is much like this one and has not been tried; nothing where none is found soon.
    fn near(&self, point: &Point, tried: &HashSet<Point>, random: &mut Rng) -> Option<Point>;
}

/// How often something that may not work out is tried.
const ATTEMPTS: usize = 40;

/// One in so many times, another program gets the same values.
const CHANGES_OF_PROGRAM: usize = 4;

/// The programs of a space at given sizes.
pub struct Programs<'s> {
    space: &'s Space,
    sizes: &'s Values,
    bounds: &'s Bounds,
    choices: Vec<OnceCell<Choices>>,
    /// The numbers of the programs, by origin.
    origins: Vec<Vec<usize>>,
}

impl<'s> Programs<'s> {
    pub fn new(space: &'s Space, sizes: &'s Values, bounds: &'s Bounds) -> Programs<'s> {
        let mut names: Vec<&str> = Vec::new();
        let mut origins: Vec<Vec<usize>> = Vec::new();
        for (index, variant) in space.variants.iter().enumerate() {
            match names.iter().position(|name| *name == variant.origin) {
                Some(known) => origins[known].push(index),
                None => {
                    names.push(variant.origin);
                    origins.push(vec![index]);
                }
            }
        }
        let choices = space.variants.iter().map(|_| OnceCell::new()).collect();
        Programs { space, sizes, bounds, choices, origins }
    }

    /// What may be chosen for a program; nothing where there is no such program.
    pub fn choices(&self, variant: usize) -> Option<&Choices> {
        let def = &self.space.variants.get(variant)?.def;
        let made = || Choices::new(def, self.sizes, self.bounds);
        Some(self.choices.get(variant)?.get_or_init(made))
    }

    /// Another program with the same values, of the same origin.
    fn other_program(&self, point: &Point, random: &mut Rng) -> Option<Point> {
        let kin = self.origins.iter().find(|kin| kin.contains(&point.variant))?;
        let variant = *random.choice(kin)?;
        let fits = self.choices(variant)?.allows(&point.values);
        fits.then(|| Point { variant, values: point.values.clone() })
    }

    /// The same program with one or two values a step away, or anywhere.
    fn other_values(&self, point: &Point, random: &mut Rng) -> Option<Point> {
        let choices = self.choices(point.variant)?;
        let mut values = point.values.clone();
        let open: Vec<(&str, &[i128])> = choices.parameters().collect();
        for _ in 0..random.usize(1..=2) {
            let (name, all) = *random.choice(&open)?;
            let at = all.iter().position(|v| values.get(name) == Some(v))?;
            let step = match random.usize(..5) {
                0 | 1 => at.checked_add(1),
                2 | 3 => at.checked_sub(1),
                _ => Some(random.usize(..all.len())),
            };
            values.insert(name.to_string(), *step.and_then(|at| all.get(at))?);
        }
        choices.allows(&values).then_some(Point { variant: point.variant, values })
    }
}

impl Ground for Programs<'_> {
    fn some(&self, random: &mut Rng) -> Option<Point> {
        for _ in 0..ATTEMPTS {
            // There are many of some origins, and they are not the better for it.
            let kin = random.choice(&self.origins)?;
            let variant = *random.choice(kin)?;
            let choices = self.choices(variant)?;
            let mut order = |values: &[i128]| {
                let mut values = values.to_vec();
                random.shuffle(&mut values);
                values
            };
            if let Some(values) = choices.some(&mut order) {
                return Some(Point { variant, values });
            }
        }
        None
    }

    fn near(&self, point: &Point, tried: &HashSet<Point>, random: &mut Rng) -> Option<Point> {
        for _ in 0..ATTEMPTS {
            let found = match random.usize(..CHANGES_OF_PROGRAM) {
                0 => self.other_program(point, random),
                _ => self.other_values(point, random),
            };
            if let Some(found) = found.filter(|point| !tried.contains(point)) {
                return Some(found);
            }
        }
        None
    }
}
