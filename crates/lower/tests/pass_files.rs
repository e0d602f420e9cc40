//! `filetests/passes`: for every pass what it changes, and what it leaves as it is.
//!
//! A file has cases, each with a title, what there is before, and what becomes of it:
//!
//! ```text
//! == a value that nobody reads
//! with loops N=64
//! kernel before(…) { … }
//! -- becomes
//! kernel before(…) { … }
//! ```
//!
//! The line `with` is left out where there is nothing to say: `threads` or `loops`, `shuffles` and `wide_atomics` where work-items have them, values of
//! sizes, and the bytes of all arrays as `memory=…`. In place of
//! `-- becomes` stands `-- stays`, or `-- refused: ` with the reason. What is required of the sizes stands after what there is, in lines
//! `requires`. `BLESS=1` writes what comes after `--` anew.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

use lift_kernel::{read, text, validate};
use lift_lower::{
    Condition, Options, Pass, Requirement, Stage, Target, Targets, lower_watched, passes,
};

struct Case {
    title: String,
    with: String,
    before: String,
    /// From `--` on.
    after: String,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../filetests/passes")
}

fn file(pass: &Pass) -> PathBuf {
    folder().join(format!("{}.txt", pass.name))
}

fn cases(pass: &Pass) -> Vec<Case> {
    let text = "\n".to_string() + &std::fs::read_to_string(file(pass)).unwrap_or_default();
    let parts = text.split("\n== ").skip(1);
    parts
        .map(|part| {
            let (title, rest) = part.split_once('\n').unwrap();
            let (with, rest) = match rest.strip_prefix("with ").and_then(|r| r.split_once('\n')) {
                Some((with, rest)) => (with, rest),
                None => ("", rest),
            };
            let (before, after) = rest.split_at(rest.find("\n-- ").unwrap() + 1);
            let [title, with, before] = [title, with, before].map(str::to_string);
            Case { title, with, before, after: after.trim_end().to_string() + "\n" }
        })
        .collect()
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "== {}", self.title)?;
        if !self.with.is_empty() {
            writeln!(f, "with {}", self.with)?;
        }
        write!(f, "{}{}", self.before, self.after)
    }
}

impl Case {
    fn options(&self, pass: &Pass) -> Options {
        let mut options = Options::default();
        if pass.targets == Targets::Loops {
            options.target = Target::Loops;
        }
        for word in self.with.split_whitespace() {
            match (word, word.split_once('=')) {
                ("loops", _) => options.target = Target::Loops,
                ("threads", _) => options.target = Target::Threads,
                ("shuffles", _) => options.shuffles = true,
                ("wide_atomics", _) => options.wide_atomics = true,
                (_, Some(("memory", value))) => options.memory_bytes = Some(value.parse().unwrap()),
                // The second way of the choice of this number, or the one that is counted from 0 behind a colon.
                (_, Some(("choice", value))) => {
                    let (number, way) = value.split_once(':').unwrap_or((value, "1"));
                    let way = way.parse().unwrap();
                    options.choices = options.choices.with(number.parse().unwrap(), way);
                }
                (_, Some((name, value))) => {
                    options.sizes.insert(name.to_string(), value.parse().unwrap());
                }
                _ => panic!("`{}`: what is `{word}`?", self.title),
            }
        }
        options
    }

    fn is_kernel(&self) -> bool {
        self.before.starts_with("kernel ")
    }

    /// What becomes of it, in the words of the file. A pass that is disabled changes nothing.
    fn run(&self, pass: &Pass, disabled: bool) -> String {
        let done =
            if self.is_kernel() { self.run_on_kernel(pass) } else { self.run_on_program(pass) };
        match done {
            _ if disabled => "-- stays\n".to_string(),
            Err(reason) => format!("-- refused: {reason}\n"),
            Ok(Change { before, after, required }) if before == after => {
                format!("-- stays\n{required}")
            }
            Ok(Change { after, required, .. }) => format!("-- becomes\n{after}{required}"),
        }
    }

    fn run_on_kernel(&self, pass: &Pass) -> Result<Change, String> {
        let kernels = read(&self.before).unwrap_or_else(|e| panic!("`{}`: {e}", self.title));
        let mut change = Change::default();
        for kernel in &kernels {
            validate(kernel).unwrap_or_else(|e| panic!("`{}`: {}", self.title, e.join("; ")));
            change.before += &text(kernel);
            let plan = pass.of_kernel(kernel, &self.options(pass)).map_err(|e| e.message)?;
            for kernel in &plan.kernels {
                validate(kernel).unwrap_or_else(|e| panic!("`{}`: {}", self.title, e.join("; ")));
                change.after += &text(kernel);
            }
            change.required += &requires(&plan.requirements);
        }
        Ok(change)
    }

    /// A pass is given what the passes before it make of a program.
    fn run_on_program(&self, pass: &Pass) -> Result<Change, String> {
        let checked = lift_syntax::check_text("case.lift", &self.before);
        assert!(!checked.has_errors(), "`{}`: {}", self.title, checked.render(false));
        let [def] = checked.program.defs.as_slice() else { panic!("`{}`: one def", self.title) };
        let options = self.options(pass);
        let before = lift_rewrite::formatted(def);
        let (mut last, mut change) = ((before, String::new()), None);
        let watch = &mut |done: &Pass, stage: Stage<'_>| {
            let (now, required) = match stage {
                Stage::Program(p) => (lift_rewrite::formatted(&p.def), requires(&p.requirements)),
                Stage::Plan(plan) => {
                    (plan.kernels.iter().map(text).collect(), requires(&plan.requirements))
                }
            };
            if done.name == pass.name {
                let required = required.strip_prefix(&last.1).unwrap().to_string();
                let (before, after) = (last.0.clone(), now.clone());
                change = Some(Change { before, after, required });
            }
            last = (now, required);
        };
        let lowered = lower_watched(def, &options, watch);
        match (change, lowered) {
            (Some(change), _) => Ok(change),
            (None, Err(error)) => Err(error.message),
            (None, Ok(_)) => panic!("`{}`: the pass is not for this target", self.title),
        }
    }
}

/// What a pass made of a case.
#[derive(Default)]
struct Change {
    before: String,
    after: String,
    /// Of the sizes, by this pass.
    required: String,
}

fn requires(requirements: &[Requirement]) -> String {
    let mut text = String::new();
    for Requirement { condition, reason, .. } in requirements {
        let condition = match condition {
            Condition::Holds(pred) => pred.to_string(),
            Condition::Permutes { length, .. } => format!("a permutation of {length}"),
        };
        writeln!(text, "requires {condition}, or {reason}").unwrap();
    }
    text
}

#[test]
fn passes_do_what_their_files_say() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut faults = Vec::new();
    for pass in passes() {
        let mut cases = cases(pass);
        for case in &mut cases {
            let found = case.run(pass, false);
            if found != case.after {
                faults.push(format!("`{}`, {}:\n{found}", pass.name, case.title));
                case.after = found;
            }
        }
        if bless {
            let texts: Vec<String> = cases.iter().map(Case::to_string).collect();
            std::fs::write(file(pass), texts.join("\n")).unwrap();
        }
    }
    assert!(bless || faults.is_empty(), "{}", faults.join("\n"));
}

/// A pass that did nothing would be noticed by its own file, and what it leaves as it is stands there too. Nothing is left
/// as it is where programs become kernels.
#[test]
fn every_pass_has_a_case_that_fails_without_it_and_one_it_leaves_alone() {
    let mut faults = Vec::new();
    for pass in passes() {
        let cases = cases(pass);
        if cases.iter().all(|case| case.run(pass, true) == case.after) {
            faults.push(format!("`{}` is not missed by any case", pass.name));
        }
        let stays = cases.iter().any(|case| case.after == "-- stays\n");
        if !stays && pass.name != "translate" {
            faults.push(format!("`{}` has no case that it leaves as it is", pass.name));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_file_is_that_of_a_pass_and_titles_differ() {
    let names: BTreeSet<String> = passes().iter().map(|p| format!("{}.txt", p.name)).collect();
    let files = std::fs::read_dir(folder()).unwrap();
    let files: BTreeSet<String> =
        files.map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(files, names);
    for pass in passes() {
        let mut titles: BTreeMap<String, usize> = BTreeMap::new();
        cases(pass).into_iter().for_each(|case| *titles.entry(case.title).or_default() += 1);
        assert!(titles.values().all(|count| *count == 1), "{}: {titles:?}", pass.name);
    }
}
