//! Whatever the text, checking it ends, in reasonable time and without a panic; and what still
//! checks prints as text that checks to the same program.

mod common;
#[path = "fuzz/typed.rs"]
mod typed;

use std::time::{Duration, Instant};

use lift_ir::Def;
use lift_syntax::check_text;
use lift_testing::{lift_files, programs};
use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence};
use typed::{SIGNATURE, typed};

/// In the least optimised build, on a busy machine.
const LONGEST: Duration = Duration::from_secs(60);

/// Tokens from which soup is made, the ones that open something deep among them.
const TOKENS: &[&str] = &[
    "def",
    "fn",
    "const",
    "test",
    "import",
    "extern",
    "where",
    "launch",
    "local",
    "global",
    "let",
    "if",
    "then",
    "else",
    "as",
    "type",
    "nat",
    "true",
    "inf",
    "len",
    "map",
    "reduce",
    "zip",
    "split",
    "join",
    "slide",
    "pad",
    "clamp",
    "gather",
    "stride",
    "iterate",
    "generate",
    "mapWrg",
    "mapLcl",
    "toLocal",
    "vectorize",
    "f",
    "x",
    "N",
    "T",
    "f32",
    "i8",
    "f32x4",
    "f32x",
    "0",
    "1",
    "128",
    "1.0",
    "3u8",
    "18446744073709551615",
    "99999999999999999999",
    "1e400",
    "\"s\"",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    "=",
    "->",
    "\\",
    "|>",
    ">>",
    "<<",
    "^",
    "|",
    "~",
    "==",
    "~=",
    "<",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&&",
    "!",
    ".0",
    "_",
    "//",
    "\n",
    "é",
    "\u{0}",
];

/// Sizes that are likely to be wrong wherever they are put.
const SIZES: &[&str] = &["0", "1", "3", "7", "4294967296", "18446744073709551615", "N", "(0 - 1)"];

/// `FUZZ=20` runs twenty times as many cases.
fn config(cases: u32) -> Config {
    let factor = std::env::var("FUZZ").ok().and_then(|f| f.parse().ok()).unwrap_or(1);
    Config {
        cases: cases.saturating_mul(factor),
        max_shrink_iters: 400,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..Config::default()
    }
}

/// All programs of the repository, cut into tokens.
fn corpus() -> Vec<Vec<String>> {
    let mut paths = [programs(), lift_files("filetests/errors")].concat();
    paths.sort();
    let files = paths.iter().map(|p| std::fs::read_to_string(p).unwrap_or_default());
    let texts = files.chain(common::well_formed());
    texts.map(|t| common::pieces(&t)).filter(|p| !p.is_empty()).collect()
}

/// Checks a text; says what is wrong with how that went.
fn examine(text: &str) -> Result<(), String> {
    let start = Instant::now();
    let checked = check_text("fuzz.lift", text);
    let rendered = checked.render(false);
    if start.elapsed() > LONGEST {
        return Err(format!("checking took {:?}", start.elapsed()));
    }
    if checked.has_errors() {
        return if rendered.trim().is_empty() { Err("errors say nothing".into()) } else { Ok(()) };
    }
    checked.program.defs.iter().try_for_each(prints_as_itself)
}

fn prints_as_itself(def: &Def) -> Result<(), String> {
    // An extern function is declared elsewhere in the file.
    if def.uses_extern().is_some() {
        return Ok(());
    }
    let printed = def.to_string();
    let again = check_text("printed.lift", &printed);
    if again.has_errors() {
        return Err(format!("does not check as printed:\n{printed}\n{}", again.render(false)));
    }
    match again.program.defs.as_slice() {
        [same] if same.alpha_eq(def) => Ok(()),
        [other] => Err(format!("prints as another program:\n{printed}\nreads as\n{other}")),
        _ => Err(format!("prints as several definitions:\n{printed}")),
    }
}

/// One change to a program.
#[derive(Clone, Debug)]
enum Change {
    Delete,
    Duplicate,
    Swap(prop::sample::Index),
    /// By a token from anywhere in the programs.
    Replace(prop::sample::Index, prop::sample::Index),
    Token(&'static str),
    /// By another of its kind in the program, so that there is a chance that it still checks.
    Alike(prop::sample::Index),
    /// The next number from here.
    Size(&'static str),
    /// In brackets, this deep.
    Nest(usize),
}

fn change() -> impl Strategy<Value = (prop::sample::Index, Change)> {
    let index = any::<prop::sample::Index>;
    let change = prop_oneof![
        1 => Just(Change::Delete),
        1 => Just(Change::Duplicate),
        2 => index().prop_map(Change::Swap),
        2 => (index(), index()).prop_map(|(a, b)| Change::Replace(a, b)),
        1 => prop::sample::select(TOKENS).prop_map(Change::Token),
        8 => index().prop_map(Change::Alike),
        4 => prop::sample::select(SIZES).prop_map(Change::Size),
        1 => (1usize..400).prop_map(Change::Nest),
    ];
    (index(), change)
}

fn changed(tokens: &mut Vec<String>, at: usize, change: &Change, corpus: &[Vec<String>]) {
    match change {
        Change::Delete => {
            tokens.remove(at);
        }
        Change::Duplicate => tokens.insert(at, tokens[at].clone()),
        Change::Swap(other) => {
            let other = other.index(tokens.len());
            tokens.swap(at, other);
        }
        Change::Replace(program, token) => {
            let program = &corpus[program.index(corpus.len())];
            tokens[at] = program[token.index(program.len())].clone();
        }
        Change::Alike(other) => {
            let own = kind(&tokens[at]);
            let alike: Vec<&String> = tokens.iter().filter(|t| kind(t) == own).collect();
            tokens[at] = alike[other.index(alike.len())].clone();
        }
        Change::Token(token) => tokens[at] = token.to_string(),
        Change::Size(size) => {
            let number = |t: &String| t.chars().all(|c| c.is_ascii_digit());
            if let Some(found) = tokens[at..].iter_mut().find(|t| number(t)) {
                *found = size.to_string();
            }
        }
        Change::Nest(depth) => {
            tokens[at] = format!("{}{}{}", "(".repeat(*depth), tokens[at], ")".repeat(*depth));
        }
    }
}

/// Names, whole numbers, other numbers, operators of one strength, other signs.
fn kind(token: &str) -> u32 {
    match token.chars().next() {
        Some(c) if c.is_alphabetic() => 0,
        Some(c) if c.is_ascii_digit() => 1 + u32::from(token.contains('.')),
        _ => match token {
            "+" | "-" | "*" | "/" | "%" => 3,
            "<" | "<=" | ">" | ">=" | "==" | "!=" => 4,
            "|>" => 5,
            "&" | "|" | "^" | "<<" | ">>" => 6,
            other => 6 + other.chars().map(u32::from).sum::<u32>(),
        },
    }
}

#[test]
fn every_program_prints_as_itself() {
    let mut failures = Vec::new();
    for tokens in corpus() {
        if let Err(fault) = examine(&tokens.join(" ")) {
            failures.push(fault);
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n\n"));
}

/// `min` and `max` of three sizes are calls of two, as a value and in a type.
#[test]
fn least_of_three_sizes_prints_as_itself() {
    for text in [
        "def f[N, M, K](x: [f32; N], y: [f32; M], z: [f32; K]) -> i32 = min(min(N, M), K) + max(N, max(M, K));",
        "def f[N, M, K](x: [f32; min(N, min(M, K))]) -> [f32; max(max(N, M), K)] = generate(max(max(N, M), K), \\i -> 1.0);",
    ] {
        let checked = check_text("three.lift", text);
        assert!(!checked.has_errors(), "{}", checked.render(false));
        assert_eq!(examine(text), Ok(()));
    }
}

#[test]
fn soup_is_answered() {
    proptest!(config(3000), |(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..60))| {
        let text = tokens.join(" ");
        let fine = examine(&text);
        prop_assert!(fine.is_ok(), "{}\n{text}", fine.unwrap_err());
    });
}

#[test]
fn soup_in_a_body_is_answered() {
    let body = prop_oneof![
        common::expression(),
        prop::collection::vec(prop::sample::select(TOKENS), 1..25).prop_map(|t| t.join(" ")),
    ];
    proptest!(config(3000), |(body in body)| {
        let text = format!("def f[N](x: [f32; N], y: [i32; 4]) =\n  {body};");
        let fine = examine(&text);
        prop_assert!(fine.is_ok(), "{}\n{text}", fine.unwrap_err());
    });
}

#[test]
fn expressions_print_as_themselves() {
    let [number, integer, truth, array] = typed();
    let body = prop_oneof![number, integer, truth, array];
    proptest!(config(6000), |(body in body)| {
        let text = format!("{SIGNATURE} =\n  {body};");
        let fine = examine(&text);
        prop_assert!(fine.is_ok(), "{}\n{text}", fine.unwrap_err());
    });
}

#[test]
fn changed_programs_are_answered() {
    let corpus = corpus();
    let index = any::<prop::sample::Index>();
    let changes = prop::collection::vec(change(), 1..4);
    proptest!(config(6000), |(program in index, changes in changes)| {
        let mut tokens = corpus[program.index(corpus.len())].clone();
        for (at, change) in &changes {
            if !tokens.is_empty() {
                let at = at.index(tokens.len());
                changed(&mut tokens, at, change, &corpus);
            }
        }
        let text = tokens.join(" ");
        let fine = examine(&text);
        prop_assert!(fine.is_ok(), "{}\n{text}", fine.unwrap_err());
    });
}
