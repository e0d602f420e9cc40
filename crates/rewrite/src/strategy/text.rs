//! Strategies from text: names get their meaning, calls of defined strategies are written out.
//!
//! A name in a strategy is an argument of the definition around, a combinator, a strategy defined in the
//! file or in the library, or a rule. Definitions do not call themselves: what repeats is said by
//! `repeat`, `somewhere`, `topdown` and the like, so that everything but those ends by itself.

mod terms;

use std::collections::BTreeMap;
use std::rc::Rc;

use lift_ir::{BinaryOp, Permutation, Place, Scalar, table};
use lift_syntax::ast::{self, Expr, ExprKind};
use lift_syntax::diagnostic::Diagnostic;

use super::Strategy;
use super::arguments::Given;
use crate::find;
use crate::rule::Rule;
use lift_syntax::suggest::nearest;

pub(super) type Read<T> = Result<T, Diagnostic>;

/// The definitions that can be called, by name; later ones hide earlier ones.
pub(super) struct Reader<'a> {
    pub definitions: BTreeMap<&'a str, &'a ast::Strategy>,
}

/// What the arguments of the definitions around stand for.
#[derive(Clone, Default)]
pub(super) struct Scope<'a> {
    /// Each with the scope in which it was written.
    bound: Vec<(&'a str, &'a Expr, Rc<Scope<'a>>)>,
    /// The definitions that are being written out, innermost last.
    within: Vec<&'a str>,
}

/// The names that are no rules and no definitions.
pub(super) const COMBINATORS: &[&str] = &[
    "seq",
    "choice",
    "any",
    "anywhere",
    "try",
    "repeat",
    "one",
    "all",
    "somewhere",
    "topdown",
    "bottomup",
    "at",
    "body",
    "argument",
    "find",
    "within",
    "normalize",
    "where",
    "id",
    "fail",
    "simplify",
];

impl<'a> Reader<'a> {
    /// A definition with nothing given to it.
    pub fn definition(&self, definition: &'a ast::Strategy) -> Read<Strategy> {
        self.call(definition, &[], definition.name.span, &Scope::default())
    }

    pub fn strategy(&self, expr: &'a Expr, scope: &Scope<'a>) -> Read<Strategy> {
        match &expr.kind {
            ExprKind::Paren(inner) => self.strategy(inner, scope),
            ExprKind::Binary(BinaryOp::Shr, first, second) => {
                Ok(self.strategy(first, scope)?.then(self.strategy(second, scope)?))
            }
            ExprKind::Name(name) => self.named(name, &[], expr, scope),
            ExprKind::Call(head, args) => match &head.kind {
                ExprKind::Name(name) => self.named(name, args, expr, scope),
                _ => Err(mistake(head, "expected the name of a strategy or rule")),
            },
            _ => Err(mistake(expr, "expected a strategy: a rule, a combinator or a defined one")),
        }
    }

    fn named(
        &self,
        name: &'a str,
        args: &'a [Expr],
        expr: &'a Expr,
        scope: &Scope<'a>,
    ) -> Read<Strategy> {
        if let Some((bound, outer)) = scope.lookup(name) {
            return match args {
                [] => self.strategy(bound, &outer),
                _ => Err(mistake(expr, format!("`{name}` is an argument and takes none itself"))),
            };
        }
        if COMBINATORS.contains(&name) {
            return self.combinator(name, args, expr, scope);
        }
        if let Some(definition) = self.definitions.get(name) {
            return self.call(definition, args, expr.span, scope);
        }
        if table::pattern(name).is_some() && find(name).is_err() {
            let text = format!("`{name}` is a pattern, not a strategy");
            return Err(mistake(expr, text).help(format!("`find({name}, …)` goes to one")));
        }
        let rule = self.rule(name, expr)?;
        let given = args.iter().map(|arg| self.given(arg, scope)).collect::<Read<Vec<Given>>>()?;
        check_given(rule, &given, args, expr)?;
        Ok(Strategy::Rule(rule, given))
    }

    fn rule(&self, name: &str, expr: &Expr) -> Read<&'static Rule> {
        find(name).map_err(|_| {
            let rules = crate::rules();
            let known = rules.iter().map(|r| r.name);
            let known =
                known.chain(self.definitions.keys().copied()).chain(COMBINATORS.iter().copied());
            let meant = nearest(name, known);
            let text = format!("there is no rule or strategy `{name}`");
            mistake(expr, text).help_if(meant.map(|m| format!("did you mean `{m}`?")))
        })
    }

    /// A defined strategy, written out.
    fn call(
        &self,
        definition: &'a ast::Strategy,
        args: &'a [Expr],
        span: lift_ir::Span,
        scope: &Scope<'a>,
    ) -> Read<Strategy> {
        let name = definition.name.text.as_str();
        if scope.within.contains(&name) {
            return Err(Diagnostic::error(format!("`{name}` calls itself"))
                .at(span, "here")
                .help("`repeat`, `somewhere`, `topdown` and `bottomup` do things again"));
        }
        let (expected, given) = (definition.names.len(), args.len());
        if expected != given {
            let names: Vec<&str> = definition.names.iter().map(|n| n.text.as_str()).collect();
            let text = match expected {
                0 => format!("`{name}` takes no arguments"),
                1 => format!("`{name}` takes 1 argument, not {given}"),
                _ => format!("`{name}` takes {expected} arguments, not {given}"),
            };
            let mistake = Diagnostic::error(text).at(span, "here");
            return Err(match names.as_slice() {
                [] => mistake,
                names => mistake.note(format!("it is `{name}({})`", names.join(", "))),
            });
        }
        let mut inner = Scope { bound: Vec::new(), within: scope.within.clone() };
        inner.within.push(name);
        let outer = Rc::new(scope.clone());
        for (param, arg) in definition.names.iter().zip(args) {
            inner.bound.push((&param.text, arg, Rc::clone(&outer)));
        }
        Ok(self.strategy(&definition.body, &inner)?.named(name))
    }

    fn combinator(
        &self,
        name: &str,
        args: &'a [Expr],
        expr: &'a Expr,
        scope: &Scope<'a>,
    ) -> Read<Strategy> {
        let strategies =
            || args.iter().map(|arg| self.strategy(arg, scope)).collect::<Read<Vec<_>>>();
        let boxed = |arg: &'a Expr| self.strategy(arg, scope).map(Box::new);
        match (name, args) {
            ("id", []) => Ok(Strategy::Id),
            ("simplify", []) => Ok(Strategy::Simplify),
            ("fail", []) => Ok(Strategy::Fail("it always does".to_string())),
            ("seq", [_, ..]) => Ok(Strategy::Seq(strategies()?)),
            ("choice", [_, ..]) => Ok(Strategy::Choice(strategies()?)),
            ("any", [_, ..]) => Ok(Strategy::Any(strategies()?)),
            ("anywhere", [s]) => Ok(Strategy::Anywhere(boxed(s)?)),
            ("try", [s]) => Ok(Strategy::Try(boxed(s)?)),
            ("repeat", [s]) => Ok(Strategy::Repeat(boxed(s)?)),
            ("one", [s]) => Ok(Strategy::One(boxed(s)?)),
            ("all", [s]) => Ok(Strategy::All(boxed(s)?)),
            ("somewhere", [s]) => Ok(Strategy::Somewhere(boxed(s)?)),
            ("topdown", [s]) => Ok(Strategy::Topdown(boxed(s)?)),
            ("bottomup", [s]) => Ok(Strategy::Bottomup(boxed(s)?)),
            ("at", [place, s]) => Ok(Strategy::At(read_place(place)?, boxed(s)?)),
            ("body", [s]) => Ok(Strategy::Body(boxed(s)?)),
            ("argument", [s]) => Ok(Strategy::Argument(None, boxed(s)?)),
            ("argument", [index, s]) => Ok(Strategy::Argument(Some(number(index)?), boxed(s)?)),
            ("find", [condition, s]) => {
                Ok(Strategy::Find(self.condition(condition, scope)?, boxed(s)?))
            }
            ("within", [condition, s]) => {
                let body = Box::new(Strategy::Body(boxed(s)?));
                Ok(Strategy::Find(self.condition(condition, scope)?, body))
            }
            ("where", [condition]) => Ok(Strategy::Where(self.condition(condition, scope)?)),
            ("normalize", [_, ..]) => {
                let rules = args.iter().map(|arg| self.rule_alone(arg)).collect::<Read<_>>()?;
                Ok(Strategy::Normalize(rules))
            }
            _ => {
                let takes = match name {
                    "id" | "simplify" | "fail" => "nothing",
                    "seq" | "choice" | "any" => "strategies",
                    "at" => "a place such as `root.0.1` and a strategy",
                    "argument" => "a strategy, or a number and a strategy",
                    "find" | "within" => "a condition and a strategy",
                    "where" => "a condition",
                    "normalize" => "rules",
                    _ => "one strategy",
                };
                Err(mistake(expr, format!("`{name}` takes {takes}")))
            }
        }
    }

    fn rule_alone(&self, expr: &Expr) -> Read<&'static Rule> {
        let ExprKind::Name(name) = &expr.kind else {
            return Err(mistake(expr, "expected the name of a rule"));
        };
        let rule = self.rule(name, expr)?;
        match slots(rule, expr)?.first() {
            None => Ok(rule),
            Some((chosen, _)) => {
                let text = format!("`normalize` chooses nothing, and `{name}` needs `{chosen}`");
                let help = format!("write `repeat(somewhere({name}(…)))`");
                Err(mistake(expr, text).help(help))
            }
        }
    }

    fn given(&self, expr: &'a Expr, scope: &Scope<'a>) -> Read<Given> {
        match &expr.kind {
            ExprKind::Paren(inner) => self.given(inner, scope),
            ExprKind::Name(name) => match (scope.lookup(name), name.as_str()) {
                (Some((bound, outer)), _) => self.given(bound, &outer),
                (None, "reverse") => Ok(Given::Permutation(Permutation::Reverse)),
                (None, _) => self.size(expr, scope).map(Given::Size),
            },
            ExprKind::Call(head, args) => match (&head.kind, args.as_slice()) {
                (ExprKind::Name(name), [step]) if name == "stride" => {
                    Ok(Given::Permutation(Permutation::Stride(self.size(step, scope)?)))
                }
                (ExprKind::Name(name), [by]) if name == "shift" => {
                    Ok(Given::Permutation(Permutation::Shift(self.size(by, scope)?)))
                }
                _ => self.size(expr, scope).map(Given::Size),
            },
            _ => self.size(expr, scope).map(Given::Size),
        }
    }

    /// What a name stands for that therefore is no size.
    fn meaning(&self, name: &str) -> Option<&'static str> {
        if COMBINATORS.contains(&name) || self.definitions.contains_key(name) {
            return Some("a strategy");
        }
        if find(name).is_ok() {
            return Some("a rule");
        }
        if table::pattern(name).is_some() {
            return Some("a pattern");
        }
        Scalar::from_name(name).map(|_| "a type")
    }
}

/// The parameters of a rule in the order in which they are given; true for sizes.
fn slots(rule: &'static Rule, expr: &Expr) -> Read<Vec<(&'static str, bool)>> {
    let law = rule.read().map_err(|e| mistake(expr, e.to_string()))?;
    let sizes = law.parameters.iter().map(|name| (name.as_str(), true));
    Ok(sizes.chain(law.reorderings.iter().map(|name| (name.as_str(), false))).collect())
}

/// That a rule is given what it takes. Sizes may be left out; those of a parallel map's dimension and permutations
/// may not.
fn check_given(rule: &'static Rule, given: &[Given], args: &[Expr], expr: &Expr) -> Read<()> {
    let (slots, name) = (slots(rule, expr)?, rule.name);
    if given.len() > slots.len() {
        let names: Vec<&str> = slots.iter().map(|(name, _)| *name).collect();
        let text = match slots.len() {
            0 => format!("`{name}` takes no parameters"),
            count => format!("`{name}` takes {}, not {}", parameters(count), given.len()),
        };
        let note = format!("it is `{name}({})`", names.join(", "));
        let text = mistake(expr, text);
        return Err(if names.is_empty() { text } else { text.note(note) });
    }
    for ((slot, is_size), (given, arg)) in slots.iter().zip(given.iter().zip(args)) {
        match (given, is_size) {
            (Given::Size(_), true) | (Given::Permutation(_), false) => {}
            (Given::Size(_), false) => {
                let text = format!("`{slot}` of `{name}` is a permutation, not a size");
                return Err(mistake(arg, text).help("write `reverse`, `stride(8)` or `shift(1)`"));
            }
            (Given::Permutation(_), true) => {
                let text = format!("`{slot}` of `{name}` is a size, not a permutation");
                return Err(mistake(arg, text));
            }
        }
    }
    let law = rule.read().map_err(|e| mistake(expr, e.to_string()))?;
    let must = |(slot, is_size): &&(&str, bool)| !*is_size || law.is_dimension(slot);
    match slots.iter().skip(given.len()).find(must) {
        None => Ok(()),
        Some((slot, is_size)) => {
            let such = if *is_size { "0" } else { "reverse" };
            let text = format!("`{slot}` of `{name}` must be chosen");
            Err(mistake(expr, text).help(format!("write it as in `{name}({such})`")))
        }
    }
}

fn parameters(count: usize) -> String {
    if count == 1 { "1 parameter".to_string() } else { format!("{count} parameters") }
}

impl<'a> Scope<'a> {
    fn lookup(&self, name: &str) -> Option<(&'a Expr, Rc<Scope<'a>>)> {
        let (_, expr, outer) = self.bound.iter().rev().find(|(n, ..)| *n == name)?;
        Some((expr, Rc::clone(outer)))
    }
}

/// `root.0.1`
fn read_place(expr: &Expr) -> Read<Place> {
    match &expr.kind {
        ExprKind::Name(name) if name == "root" => Ok(Place::root()),
        ExprKind::Field(inner, index) => Ok(read_place(inner)?.child(*index)),
        _ => Err(mistake(expr, "expected a place such as `root.0.1`")),
    }
}

fn number(expr: &Expr) -> Read<u32> {
    let value = match &expr.kind {
        ExprKind::Int(value, None) => u32::try_from(*value).ok(),
        _ => None,
    };
    value.ok_or_else(|| mistake(expr, "expected the number of an argument"))
}

pub(super) fn mistake(expr: &Expr, text: impl Into<String>) -> Diagnostic {
    Diagnostic::error(text).at(expr.span, "here")
}
