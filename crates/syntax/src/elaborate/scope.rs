//! What names mean: local bindings over declarations over the prelude over built-ins.

use std::collections::HashMap;
use std::rc::Rc;

use lift_ir::{Expr, Nat, Pred, Type};

use super::functions::Function;
use super::ragged::Ragged;
use super::recurrences::Recurrence;
use crate::ast;

/// The declarations of one set of files that share a namespace.
#[derive(Default)]
pub(crate) struct Declarations<'a> {
    pub(crate) by_name: HashMap<&'a str, Declaration<'a>>,
    /// Domains have names of their own kind.
    pub(crate) domains: HashMap<&'a str, &'a ast::Domain>,
}

#[derive(Clone, Copy)]
pub(crate) enum Declaration<'a> {
    Fn(&'a ast::Fn),
    Extern(&'a ast::Extern),
    Def(&'a ast::Def),
    Const(&'a ast::Const),
}

impl<'a> Declaration<'a> {
    pub(crate) fn name(self) -> &'a ast::Name {
        match self {
            Declaration::Fn(f) => &f.name,
            Declaration::Extern(e) => &e.name,
            Declaration::Def(d) => &d.name,
            Declaration::Const(c) => &c.name,
        }
    }

    /// The declaration an item makes, if it makes one.
    pub(crate) fn of(item: &'a ast::Item) -> Option<Declaration<'a>> {
        match item {
            ast::Item::Fn(f) => Some(Declaration::Fn(f)),
            ast::Item::Extern(e) => Some(Declaration::Extern(e)),
            ast::Item::Def(d) => Some(Declaration::Def(d)),
            ast::Item::Const(c) => Some(Declaration::Const(c)),
            ast::Item::Domain(_) | ast::Item::Import(_) | ast::Item::Test(_) => None,
        }
    }
}

/// The user's declarations and those of the prelude.
pub(super) struct Module<'a> {
    pub user: Declarations<'a>,
    pub prelude: Declarations<'a>,
    pub stage: Stage,
}

/// How far a program is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Low-level patterns stand where they may stand, and results have a memory.
    Finished,
    /// Typed, but rules are still to be applied: some patterns may have been lowered before others.
    Underway,
}

/// Whose names are visible: the prelude does not see what the user declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Home {
    User,
    Prelude,
}

impl<'a> Module<'a> {
    /// A declaration as seen from `home`, and where it is itself at home.
    pub(super) fn find(&self, home: Home, name: &str) -> Option<(Declaration<'a>, Home)> {
        let prelude = self.prelude.by_name.get(name).map(|d| (*d, Home::Prelude));
        match home {
            Home::Prelude => prelude,
            Home::User => self.user.by_name.get(name).map(|d| (*d, Home::User)).or(prelude),
        }
    }
}

impl<'a> Module<'a> {
    /// A domain as seen from `home`, and where it is itself at home.
    pub(super) fn domain(&self, home: Home, name: &str) -> Option<(&'a ast::Domain, Home)> {
        let prelude = self.prelude.domains.get(name).map(|d| (*d, Home::Prelude));
        match home {
            Home::Prelude => prelude,
            Home::User => self.user.domains.get(name).map(|d| (*d, Home::User)).or(prelude),
        }
    }
}

/// What a local name is bound to.
#[derive(Clone)]
pub(super) enum Binding<'a> {
    Value(Expr),
    Size(Nat),
    /// The index of an iteration: a value, and a variable that stands for it in the sizes of domains.
    Index(Expr, Nat),
    /// An array over a range, which is never made.
    Ragged(Rc<Ragged<'a>>),
    /// The array that a `rec` describes, inside the description.
    Rec(Rc<Recurrence>),
    /// A tuple of sizes.
    Sizes(Vec<Binding<'a>>),
    Type(Type),
    Function(Rc<Function<'a>>),
    /// A permutation or boundary, as it was written.
    Rule(&'a ast::Expr, Env<'a>),
}

/// Local bindings, innermost first; cheap to extend and to keep.
#[derive(Clone)]
pub(super) struct Env<'a> {
    pub home: Home,
    locals: Option<Rc<Local<'a>>>,
    /// What the branches around say of indices.
    known: Rc<Vec<Pred>>,
}

struct Local<'a> {
    name: &'a str,
    binding: Binding<'a>,
    outer: Option<Rc<Local<'a>>>,
}

impl<'a> Env<'a> {
    pub(super) fn new(home: Home) -> Env<'a> {
        Env { home, locals: None, known: Rc::default() }
    }

    pub(super) fn bind(&self, name: &'a str, binding: Binding<'a>) -> Env<'a> {
        let local = Local { name, binding, outer: self.locals.clone() };
        Env { locals: Some(Rc::new(local)), ..self.clone() }
    }

    /// The same names in a branch in which something more is known.
    pub(super) fn knowing(&self, more: Vec<Pred>) -> Env<'a> {
        if more.is_empty() {
            return self.clone();
        }
        let known = self.known.iter().cloned().chain(more).collect();
        Env { known: Rc::new(known), ..self.clone() }
    }

    pub(super) fn known(&self) -> &[Pred] {
        &self.known
    }

    pub(super) fn get(&self, name: &str) -> Option<&Binding<'a>> {
        let mut local = self.locals.as_deref();
        while let Some(here) = local {
            if here.name == name {
                return Some(&here.binding);
            }
            local = here.outer.as_deref();
        }
        None
    }

    /// The names in scope, for suggestions.
    pub(super) fn names(&self) -> Vec<&'a str> {
        let mut names = Vec::new();
        let mut local = self.locals.as_deref();
        while let Some(here) = local {
            names.push(here.name);
            local = here.outer.as_deref();
        }
        names
    }
}

/// Chains are unlinked one by one: a long one dropped at once would recurse.
impl Drop for Local<'_> {
    fn drop(&mut self) {
        let mut outer = self.outer.take();
        while let Some(local) = outer {
            outer = Rc::try_unwrap(local).ok().and_then(|mut local| local.outer.take());
        }
    }
}
