//! `RULE[@PLACE][:m=8,…]`: a rule, where it is applied and what is chosen.

use lift_ir::{Def, Place, Pred, Var};
use lift_rewrite::choices::{outer_parts, permutation_in, size_in, unused};
use lift_rewrite::{Arguments, Refusal, Rule, apply_in, places};
use lift_syntax::diagnostic::Diagnostic;

use super::places::named;
use crate::report::Failure;

/// One `--apply`.
pub struct Application {
    pub rule: &'static Rule,
    place: Option<Place>,
    /// Names and values as they were written: what they mean depends on the definition.
    choices: Vec<(String, String)>,
}

/// Why a rule was not applied, and what it would need to know of the sizes.
pub struct Refused {
    pub mistake: Box<Diagnostic>,
    pub condition: Option<Pred>,
}

impl From<Diagnostic> for Refused {
    fn from(mistake: Diagnostic) -> Refused {
        Refused { mistake: Box::new(mistake), condition: None }
    }
}

impl Application {
    pub fn read(text: &str) -> Result<Application, Failure> {
        let (target, choices) = match text.split_once(':') {
            Some((target, choices)) => (target, Some(choices)),
            None => (text, None),
        };
        let (name, place) = match target.split_once('@') {
            Some((name, place)) => (name.trim(), Some(place.trim())),
            None => (target.trim(), None),
        };
        if name.is_empty() {
            return Err(malformed(text, "there is no rule"));
        }
        let place = place.map(|p| p.parse().map_err(|e: String| malformed(text, &e)));
        let place = place.transpose()?;
        let choices = choices.map_or(Ok(Vec::new()), |c| read_choices(text, c))?;
        let rule = named(name)?;
        Ok(Application { rule, place, choices })
    }

    /// What was done, as in `split_join at root, m = 8`, and the definition rewritten.
    pub fn apply(&self, def: &Def) -> Result<(String, Def), Refused> {
        let chosen = self.chosen(def)?;
        let place = match &self.place {
            Some(place) => place.clone(),
            None => self.first_place(def, &chosen)?,
        };
        let arguments = self.completed(def, chosen)?;
        let new = apply_in(self.rule, def, &place, &arguments);
        let new = new.map_err(|refusal| {
            let condition = match &refusal {
                Refusal::Condition { pred, never: false } => Some(pred.clone()),
                _ => None,
            };
            Refused { mistake: Box::new(self.refused(def, &place, refusal)), condition }
        })?;
        let chosen = match arguments.to_string() {
            text if text.is_empty() => text,
            text => format!(", {text}"),
        };
        Ok((format!("{} at {place}{chosen}", self.rule.name), new))
    }

    /// What was written, in terms of the sizes of the definition.
    fn chosen(&self, def: &Def) -> Result<Arguments, Diagnostic> {
        let law = self.rule.read().map_err(|e| self.mistake(&e))?;
        let mut arguments = Arguments::none();
        for (name, value) in &self.choices {
            arguments = if law.reorderings.contains(name) {
                arguments.permutation(name, permutation_in(def, value).map_err(Diagnostic::error)?)
            } else {
                arguments.size(name, size_in(def, value).map_err(Diagnostic::error)?)
            };
        }
        Ok(arguments)
    }

    /// With a new parameter of the definition for every size that was not chosen. The dimension of
    /// a parallel map is never one: it has to be a number.
    fn completed(&self, def: &Def, chosen: Arguments) -> Result<Arguments, Diagnostic> {
        let law = self.rule.read().map_err(|e| self.mistake(&e))?;
        let is_chosen = |name: &str| self.choices.iter().any(|(chosen, _)| chosen == name);
        let open = law.parameters.iter().filter(|p| !is_chosen(p) && !law.is_dimension(p));
        let mut taken: Vec<String> = sizes(def).map(|v| v.name().to_string()).collect();
        taken.extend(def.params.iter().map(|p| p.name().to_string()));
        let mut arguments = chosen;
        for name in open {
            let new = unused(name, &taken);
            arguments = arguments.fresh(name, Var::named(&new));
            taken.push(new);
        }
        Ok(arguments)
    }

    /// The outermost place where the rule applies with these choices.
    fn first_place(&self, def: &Def, chosen: &Arguments) -> Result<Place, Diagnostic> {
        let cx = def.context();
        let fits = |arguments| {
            let found = places(&cx, self.rule, &def.body, arguments);
            found.map(|p| p.into_iter().next()).map_err(|e| self.mistake(&e))
        };
        if let Some(place) = fits(chosen)? {
            return Ok(place);
        }
        // Where other choices would do, the application there says what is wrong with these.
        if let Some(place) = fits(&Arguments::none())? {
            return Ok(place);
        }
        let text = format!("`{}` applies nowhere in `{}`", self.rule.name, def.name);
        Err(Diagnostic::error(text).note(format!("its left side is `{}`", self.rule.left)))
    }

    fn mistake(&self, refusal: &Refusal) -> Diagnostic {
        Diagnostic::error(format!("`{}` cannot be applied: {refusal}", self.rule.name))
    }

    fn refused(&self, def: &Def, place: &Place, refusal: Refusal) -> Diagnostic {
        match refusal {
            Refusal::NoPlace(place) => {
                let text = format!("`{}` has no place {place}", def.name);
                Diagnostic::error(text).help("`--places` lists the places where rules apply")
            }
            Refusal::NoParameter { .. } | Refusal::Missing { .. } => self.mistake(&refusal),
            Refusal::Form { .. }
            | Refusal::Captures { .. }
            | Refusal::Differs { .. }
            | Refusal::Condition { .. }
            | Refusal::Type(_)
            | Refusal::Changes { .. }
            | Refusal::Law(_)
            | Refusal::Other(_) => {
                let name = self.rule.name;
                Diagnostic::error(format!("`{name}` does not apply at {place}: {refusal}"))
            }
        }
    }
}

fn malformed(text: &str, reason: &str) -> Failure {
    let mistake = Diagnostic::error(format!("`--apply {text}`: {reason}"));
    Failure::of(mistake.help("write RULE, RULE@PLACE or RULE@PLACE:m=8,k=4"))
}

fn read_choices(text: &str, choices: &str) -> Result<Vec<(String, String)>, Failure> {
    let mut read: Vec<(String, String)> = Vec::new();
    for choice in outer_parts(choices) {
        let (name, value) = match choice.split_once('=') {
            Some((name, value)) => (name.trim(), value.trim()),
            None => ("", ""),
        };
        if name.is_empty() || value.is_empty() {
            return Err(malformed(text, &format!("`{}` is not NAME=VALUE", choice.trim())));
        }
        if read.iter().any(|(before, _)| before == name) {
            return Err(malformed(text, &format!("`{name}` is chosen twice")));
        }
        read.push((name.to_string(), value.to_string()));
    }
    Ok(read)
}

fn sizes(def: &Def) -> impl Iterator<Item = &Var> {
    def.sizes.iter().chain(def.parameters.iter().map(|p| &p.var))
}
