//! Loading programs: reading files, following imports, checking everything.

use std::path::{Path, PathBuf};

use lift_ir::{Program, Span};

use crate::ast::{self, Item};
use crate::diagnostic::Diagnostic;
use crate::elaborate::{self, Stage};
use crate::parser::parse;
use crate::source::Sources;

const PRELUDE: &str = include_str!("prelude.lift");

/// A program and everything there is to say about it.
pub struct Checked {
    pub sources: Sources,
    /// The definitions without errors.
    pub program: Program,
    pub diagnostics: Vec<Diagnostic>,
}

impl Checked {
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// All diagnostics as text.
    pub fn render(&self, color: bool) -> String {
        crate::diagnostic::render(&self.diagnostics, &self.sources, color)
    }
}

/// Checks a program on disk; fails only where the file itself cannot be read.
pub fn check_file(path: &Path) -> Result<Checked, String> {
    let text = read(path)?;
    let mut loader = Loader::default();
    loader.load(&path.display().to_string(), text, Some(path));
    Ok(loader.check(Stage::Finished))
}

/// Checks a program given as text; it cannot import files.
pub fn check_text(name: &str, text: &str) -> Checked {
    let mut loader = Loader::default();
    loader.load(name, text.to_string(), None);
    loader.check(Stage::Finished)
}

/// Checks a program given as text that imports files as one in this folder would.
pub fn check_text_in(folder: &Path, name: &str, text: &str) -> Checked {
    let mut loader = Loader::default();
    loader.load(name, text.to_string(), Some(&folder.join(name)));
    loader.check(Stage::Finished)
}

/// Types a program in the middle of a derivation: where low-level patterns stand is not checked.
pub fn check_step(name: &str, text: &str) -> Checked {
    let mut loader = Loader::default();
    loader.load(name, text.to_string(), None);
    loader.check(Stage::Underway)
}

fn read(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    String::from_utf8(bytes).map_err(|_| format!("{} is not UTF-8 text", path.display()))
}

#[derive(Default)]
struct Loader {
    sources: Sources,
    /// Imported files before those that import them.
    files: Vec<ast::File>,
    /// Canonical paths of what is loaded or being loaded: each file counts once.
    seen: Vec<PathBuf>,
    diagnostics: Vec<Diagnostic>,
}

impl Loader {
    fn load(&mut self, name: &str, text: String, path: Option<&Path>) {
        if let Some(path) = path {
            self.seen.push(path.canonicalize().unwrap_or_else(|_| path.to_path_buf()));
        }
        let file = self.sources.add(name, text);
        let parsed = parse(file, self.sources.text(file));
        self.diagnostics.extend(parsed.diagnostics);
        for item in &parsed.file.items {
            if let Item::Import(import) = item {
                self.import(&import.path, import.span, path);
            }
        }
        self.files.push(parsed.file);
    }

    fn import(&mut self, name: &str, span: Span, from: Option<&Path>) {
        let Some(from) = from else {
            let text = "a program that is not a file cannot import one";
            return self.diagnostics.push(Diagnostic::error(text).at(span, ""));
        };
        let path = from.parent().unwrap_or(Path::new("")).join(name);
        if path.canonicalize().is_ok_and(|p| self.seen.contains(&p)) {
            return;
        }
        match read(&path) {
            Ok(text) => self.load(&path.display().to_string(), text, Some(&path)),
            Err(error) => self.diagnostics.push(Diagnostic::error(error).at(span, "imported here")),
        }
    }

    fn check(mut self, stage: Stage) -> Checked {
        let prelude = self.sources.add("prelude", PRELUDE);
        let parsed = parse(prelude, PRELUDE);
        self.diagnostics.extend(parsed.diagnostics);
        let unparsed = !self.diagnostics.is_empty();
        let files: Vec<&ast::File> = self.files.iter().collect();
        let (program, mut diagnostics) = elaborate::check(&files, &parsed.file, stage);
        if unparsed {
            // What could not be parsed may be what declares the name.
            diagnostics.retain(|d| !d.message.starts_with("nothing is called"));
        }
        self.diagnostics.extend(diagnostics);
        Checked { sources: self.sources, program, diagnostics: self.diagnostics }
    }
}
