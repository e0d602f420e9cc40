//! Signatures of definitions, as the user would write them.

use std::fmt;

use lift_ir::{Def, Span};
use lift_syntax::Checked;
use lift_syntax::ast::{self, Item};
use lift_syntax::parser::parse;
use lift_syntax::source::Sources;
use serde_json::{Value, json};

use crate::report::MAIN_FILE;

/// One definition from the outside.
pub struct Signature {
    name: String,
    sizes: Vec<String>,
    /// Type variables; a definition that has any is expanded where it is called.
    types: Vec<String>,
    /// With their defaults.
    parameters: Vec<(String, Option<String>)>,
    params: Vec<(String, String)>,
    /// A definition that is only ever expanded need not say.
    result: Option<String>,
    wheres: Vec<String>,
    implied: Vec<String>,
    /// Cannot run by itself.
    generic: bool,
    entry: bool,
}

/// The signatures of the file itself, in its order; imported definitions are not repeated.
pub fn signatures(checked: &Checked) -> Vec<Signature> {
    let entry = checked.program.entry().map(|d| d.name.as_str());
    let parsed = parse(MAIN_FILE, checked.sources.text(MAIN_FILE));
    let defs = parsed.file.items.iter().filter_map(|item| match item {
        Item::Def(def) => Some(def),
        Item::Fn(_)
        | Item::Extern(_)
        | Item::Const(_)
        | Item::Domain(_)
        | Item::Import(_)
        | Item::Test(_) => None,
    });
    defs.map(|written| match checked.program.def(&written.name.text) {
        Some(def) => Signature::of(def, entry == Some(def.name.as_str())),
        None => Signature::written(written, &checked.sources),
    })
    .collect()
}

impl Signature {
    pub fn of(def: &Def, entry: bool) -> Signature {
        let parameter = |p: &lift_ir::Parameter| {
            (p.var.to_string(), p.default.as_ref().map(ToString::to_string))
        };
        Signature {
            name: def.name.clone(),
            sizes: def.sizes.iter().map(ToString::to_string).collect(),
            types: Vec::new(),
            parameters: def.parameters.iter().map(parameter).collect(),
            params: said(def.params.iter().map(|p| p.ty().to_string()), &def.said.params)
                .zip(&def.params)
                .map(|(ty, param)| (param.name().into(), ty))
                .collect(),
            result: said([def.ret.to_string()].into_iter(), std::slice::from_ref(&def.said.ret))
                .next(),
            wheres: def.wheres.iter().map(|c| c.pred.to_string()).collect(),
            implied: def.implied.iter().map(ToString::to_string).collect(),
            generic: false,
            entry,
        }
    }

    /// Of a definition with type or function parameters there is only the text.
    fn written(def: &ast::Def, sources: &Sources) -> Signature {
        let text = |span: Span| one_line(sources.snippet(span));
        let generics = |types: bool| {
            let own = def.generics.iter().filter(move |g| g.is_type == types);
            own.map(|g| g.name.text.clone()).collect()
        };
        let parameter =
            |p: &ast::Parameter| (p.name.text.clone(), p.default.as_ref().map(|d| text(d.span)));
        Signature {
            name: def.name.text.clone(),
            sizes: generics(false),
            types: generics(true),
            parameters: def.parameters.iter().map(parameter).collect(),
            params: def.params.iter().map(|p| (p.name.text.clone(), text(p.ty.span))).collect(),
            result: def.ret.as_ref().map(|ty| text(ty.span)),
            wheres: def.wheres.iter().map(|e| text(e.span)).collect(),
            implied: Vec::new(),
            generic: true,
            entry: false,
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is expanded where it is called and cannot run by itself.
    pub fn is_generic(&self) -> bool {
        self.generic
    }

    pub fn json(&self) -> Value {
        let parameters = self.parameters.iter();
        let params = self.params.iter();
        json!({
            "name": self.name,
            "sizes": self.sizes,
            "types": self.types,
            "parameters": parameters
                .map(|(name, default)| json!({ "name": name, "default": default }))
                .collect::<Value>(),
            "params": params
                .map(|(name, ty)| json!({ "name": name, "type": ty }))
                .collect::<Value>(),
            "result": self.result,
            "where": self.wheres,
            "implied": self.implied,
            "generic": self.generic,
            "entry": self.entry,
        })
    }
}

/// `def f[M, N; T = 16](x: [f32; N]) -> f32 where N % T == 0`, with what the body needs besides
/// its clauses on lines of their own: `  needs 3 <= N`.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "def {}", self.name)?;
        let types = self.types.iter().map(|t| format!("{t}: type"));
        let generics: Vec<String> = self.sizes.iter().cloned().chain(types).collect();
        let parameters = self.parameters.iter().map(|(name, default)| match default {
            Some(default) => format!("{name} = {default}"),
            None => name.clone(),
        });
        let parameters: Vec<String> = parameters.collect();
        match (generics.is_empty(), parameters.is_empty()) {
            (true, true) => {}
            (_, true) => write!(f, "[{}]", generics.join(", "))?,
            (_, false) => write!(f, "[{}; {}]", generics.join(", "), parameters.join(", "))?,
        }
        let params: Vec<String> =
            self.params.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        write!(f, "({})", params.join(", "))?;
        if let Some(result) = &self.result {
            write!(f, " -> {result}")?;
        }
        if !self.wheres.is_empty() {
            write!(f, " where {}", self.wheres.join(", "))?;
        }
        self.implied.iter().try_for_each(|clause| write!(f, "\n  needs {clause}"))
    }
}

/// Types as they were said, with the names of domains, where that was kept.
fn said<'s>(
    types: impl Iterator<Item = String> + 's,
    said: &'s [String],
) -> impl Iterator<Item = String> + 's {
    let said = said.iter().map(Some).chain(std::iter::repeat(None));
    types.zip(said).map(|(ty, said)| match said {
        Some(said) if !said.is_empty() => said.clone(),
        _ => ty,
    })
}

fn one_line(text: &str) -> String {
    // Comments end at the line, and nothing in a signature holds `//` otherwise.
    let lines = text.lines().map(|l| l.split("//").next().unwrap_or(""));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}
