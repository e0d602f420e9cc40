//! Whatever the text, checking it ends, in reasonable time and without a panic; and what still
//! checks prints as text that checks to the same program.

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use lift_ir::Def;
use lift_syntax::check_text;
use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence};

/// In the least optimised build, on a busy machine.
const LONGEST: Duration = Duration::from_secs(5);

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

fn config(cases: u32) -> Config {
    Config {
        cases,
        max_shrink_iters: 400,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..Config::default()
    }
}

/// All programs of the repository, cut into tokens.
fn corpus() -> Vec<Vec<String>> {
    let mut paths = common::programs();
    let filetests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests");
    for folder in ["errors", "language"] {
        let Ok(entries) = std::fs::read_dir(filetests.join(folder)) else { continue };
        let found = entries.flatten().map(|e| e.path());
        paths.extend(found.filter(|p| p.extension().is_some_and(|e| e == "lift")));
    }
    paths.sort();
    let files = paths.iter().map(|p| std::fs::read_to_string(p).unwrap());
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
            "|>" | ">>" => 5,
            other => 6 + other.chars().map(u32::from).sum::<u32>(),
        },
    }
}

/// Expressions that check, or nearly: of one type each, over the variables of `TYPED`.
fn typed() -> [BoxedStrategy<String>; 4] {
    let number = prop_oneof![
        Just("a"),
        Just("0.5"),
        Just("-2.0"),
        Just("1"),
        Just("3.5f32"),
        Just("p.1"),
        Just("inf"),
        Just("x[0]"),
        Just("x[k]"),
        Just("v[1]"),
        Just("N as f32"),
        Just("head(x)"),
        Just("f32::max"),
    ]
    .prop_map(str::to_string);
    let integer = prop_oneof![
        Just("k"),
        Just("3"),
        Just("-1"),
        Just("N"),
        Just("p.0"),
        Just("y[2]"),
        Just("len(x) + 1"),
        Just("i32::min"),
        Just("(N / 2) * 2"),
        Just("-N"),
        Just("2u8 as i32"),
    ]
    .prop_map(str::to_string);
    let array = prop_oneof![
        Just("x"),
        Just("[1.0, a, 2]"),
        Just("repeat(N, a)"),
        Just("generate(4, \\i -> i as f32)"),
    ]
    .prop_map(str::to_string);
    let [n0, i0, a0] = [number.boxed(), integer.boxed(), array.boxed()];
    let mut all = [n0.clone(), i0.clone(), Just("true".to_string()).boxed(), a0.clone()];
    for _ in 0..4 {
        let [n, i, b, a] = all.clone();
        let op = || prop::sample::select(vec!["+", "-", "*", "/", "%"]);
        let compare = || prop::sample::select(vec!["<", "<=", ">", ">=", "==", "!="]);
        let fold = prop::sample::select(vec!["reduce", "reduceSeq", "reduceSeqUnroll"]);
        let number = prop_oneof![
            n0.clone(),
            (n.clone(), op(), n.clone()).prop_map(|(a, op, b)| format!("({a}) {op} {b}")),
            (n.clone(), op(), n.clone()).prop_map(|(a, op, b)| format!("{a} {op} ({b})")),
            n.clone().prop_map(|a| format!("-({a})")),
            (n.clone(), n.clone()).prop_map(|(a, b)| format!("max({a}, {b})")),
            (b.clone(), n.clone(), n.clone())
                .prop_map(|(c, a, b)| format!("(if {c} then {a} else {b})")),
            (n.clone(), n.clone()).prop_map(|(a, b)| format!("(let t = {a}; t * t - {b})")),
            (n.clone(), i.clone())
                .prop_map(|(a, b)| format!("(\\(q, r) -> q + r as f32)(({a}, {b}))")),
            i.clone().prop_map(|i| format!("({i}) as f32")),
            (fold, n.clone(), a.clone()).prop_map(|(f, z, a)| format!("{f}({z}, (+), {a})")),
            (n.clone(), a.clone(), n.clone())
                .prop_map(|(z, a, n)| format!("({a} |> reduceSeq({z}, \\s e -> s * e + {n}))")),
            (n.clone(), i.clone(), n.clone())
                .prop_map(|(a, b, c)| format!("({a}, ({b}, {c})).1.1")),
            (n.clone(), n.clone()).prop_map(|(a, b)| format!("dot(v, f32x4({a}) * {b})")),
        ]
        .boxed();
        let integer = prop_oneof![
            i0.clone(),
            (i.clone(), op(), i.clone()).prop_map(|(a, op, b)| format!("({a}) {op} {b}")),
            (i.clone(), op(), i.clone()).prop_map(|(a, op, b)| format!("{a} {op} ({b})")),
            n.clone().prop_map(|n| format!("({n}) as i32")),
            (i.clone(), i.clone()).prop_map(|(a, b)| format!("min({a}, {b})")),
            i.clone().prop_map(|i| format!("({i}) as i64 as i8 as i32")),
            i.clone().prop_map(|i| format!("y[abs({i}) % 4]")),
            i.clone().prop_map(|i| format!("reduceSeq(0, \\c e -> c + e * ({i}), y)")),
            (b.clone(), i.clone()).prop_map(|(b, i)| format!("select({b}, {i}, 7)")),
        ]
        .boxed();
        let truth = prop_oneof![
            (n.clone(), compare(), n.clone()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            (i.clone(), compare(), i.clone()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            (b.clone(), b.clone()).prop_map(|(a, b)| format!("({a}) && !({b}) || {a}")),
        ]
        .boxed();
        let array = prop_oneof![
            a0.clone(),
            (n.clone(), a.clone()).prop_map(|(n, a)| format!("map(\\e -> e * {n}, {a})")),
            (a.clone(), n.clone()).prop_map(|(a, n)| format!("({a} |> map(\\x -> {n} - x))")),
            a.clone().prop_map(|a| format!("({a} |> split(1) |> join)")),
            a.clone().prop_map(|a| format!("(zip({a}, {a}) |> map(\\(l, r) -> l + r))")),
            a.clone().prop_map(|a| format!("(unzip(zip({a}, {a}))).1")),
            a.clone()
                .prop_map(|a| format!("({a} |> pad(1, 2, clamp) |> slide(4, 1) |> map(head))")),
            (a.clone(), n.clone()).prop_map(|(a, n)| format!("pad_value(1, 0, {n}, {a})")),
            a.clone().prop_map(|a| format!("({a} |> gather(\\i -> len - 1 - i))")),
            a.clone().prop_map(|a| format!("({a} |> scatter(shift(1)) |> gather(reverse))")),
            a.clone().prop_map(|a| format!("(let s = {a}; concat(s, drop(1, s)))")),
            (a.clone(), n.clone()).prop_map(|(a, n)| format!("scan({n}, (+), {a})")),
            a.clone().prop_map(|a| format!("iterate(2, \\s -> s |> pad(1, 1, wrap), {a})")),
            a.clone().prop_map(|a| format!("iterate(3, map((*)(2.0)), {a})")),
            a.clone().prop_map(|a| format!("({a} |> map(toPrivate(id)) |> mapSeq(id))")),
            (i.clone(), n.clone())
                .prop_map(|(i, n)| format!("generate(3, \\k -> (k + {i}) as f32 * {n})")),
            n.clone().prop_map(|n| format!(
                "([v, f32x4({n})] |> map(vectorize(4, \\s -> s + a)) |> as_scalar)"
            )),
        ]
        .boxed();
        all = [number, integer, truth, array];
    }
    all
}

const TYPED: &str = "def f[N](x: [f32; N], y: [i32; 4], a: f32, k: i32, p: (i32, f32), v: f32x4)";

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

#[test]
fn soup_is_answered() {
    proptest!(config(1500), |(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..60))| {
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
    proptest!(config(1500), |(body in body)| {
        let text = format!("def f[N](x: [f32; N], y: [i32; 4]) =\n  {body};");
        let fine = examine(&text);
        prop_assert!(fine.is_ok(), "{}\n{text}", fine.unwrap_err());
    });
}

#[test]
fn expressions_print_as_themselves() {
    let [number, integer, truth, array] = typed();
    let body = prop_oneof![number, integer, truth, array];
    proptest!(config(1500), |(body in body)| {
        let text = format!("{TYPED} =\n  {body};");
        let fine = examine(&text);
        prop_assert!(fine.is_ok(), "{}\n{text}", fine.unwrap_err());
    });
}

#[test]
fn changed_programs_are_answered() {
    let corpus = corpus();
    let index = any::<prop::sample::Index>();
    let changes = prop::collection::vec(change(), 1..4);
    proptest!(config(900), |(program in index, changes in changes)| {
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
