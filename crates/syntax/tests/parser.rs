//! The parser on whole files: what it reports, and that no text upsets it.

mod common;

use common::{SAMPLES, expression, pieces, well_formed};
use lift_syntax::diagnostic::render;
use lift_syntax::parser::{Parsed, parse, parse_expr};
use lift_syntax::source::Sources;
use lift_testing::programs;
use proptest::prelude::*;

fn messages(text: &str) -> Vec<String> {
    parse(0, text).diagnostics.into_iter().map(|d| d.message).collect()
}

fn rendered(text: &str) -> String {
    let mut sources = Sources::new();
    let file = sources.add("test.lift", text);
    render(&parse(file, text).diagnostics, &sources, false)
}

#[test]
fn the_samples_and_the_programs_have_no_errors() {
    for text in well_formed() {
        assert_eq!(rendered(&text), "");
    }
    for path in programs() {
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(rendered(&text), "", "{}", path.display());
    }
}

#[test]
fn independent_errors_are_all_reported_and_each_once() {
    let text = "
def a(x: f32) -> f32 = (x + 1;
def b(x: f32) -> f32 = x + ;
def c(x f32, y: ) = f(a b, c d];
def d() = g([1, 2;
def e() = let y = 1 +; y * ;
misspelled bar;
def f() = x)) + (y;
const g = 1;
";
    assert_eq!(
        messages(text),
        [
            "expected `)` to close this `(`, found `;`",
            "expected an expression, found `;`",
            "expected `:` and the type of the parameter, found `f32`",
            "expected a type, found `)`",
            "expected `,` or `)`, found `b`",
            "expected `]` to close this `[`, found `;`",
            "expected an expression, found `;`",
            "expected an expression, found `;`",
            "expected `fn`, `def`, `const`, `domain`, `import`, `test` or `extern`, found `misspelled`",
            "`)` closes nothing",
        ]
    );
    assert_eq!(parse(0, text).file.items.len(), 7);
}

#[test]
fn one_token_too_few_or_too_many_is_no_avalanche() {
    let (mut texts, mut errors) = (0, 0);
    for sample in well_formed() {
        let parts = pieces(&sample);
        for at in 0..parts.len() {
            let (mut fewer, mut more) = (parts.clone(), parts.clone());
            fewer.remove(at);
            more.insert(at, parts[at].clone());
            for text in [fewer.join(" "), more.join(" ")] {
                let count = messages(&text).len();
                assert!(count <= 4, "{text}\n{:?}", messages(&text));
                texts += 1;
                errors += count;
            }
        }
    }
    assert!(errors < texts, "{errors} errors in {texts} texts");
}

#[test]
fn a_missing_bracket_names_the_one_it_would_close() {
    let text = rendered("def f() = g(\n  1,\n  2;\n");
    assert!(text.contains("test.lift:3:4"), "{text}");
    assert!(text.contains("expected `)` to close this `(`"), "{text}");
    assert!(text.contains("opened here"), "{text}");
}

#[test]
fn a_missing_semicolon_is_reported_where_it_belongs() {
    let text = rendered("const a = 1\n\nconst b = 2;");
    assert!(text.contains("test.lift:1:12"), "{text}");
    assert_eq!(messages("const a = 1"), ["expected `;`, found the end of the text"]);
}

#[test]
fn likely_mistakes_come_with_a_remedy() {
    let cases = [
        ("def f() = map(\\x => x, xs);", "a lambda is written `\\x -> body`"),
        ("def f() = map(\\x x, xs);", "a lambda is written `\\x -> body`"),
        ("def f() = map(\\x, y -> x, xs);", "parameters are separated by spaces"),
        ("fun f(x: f32) = x;", "a scalar function starts with `fn`"),
        ("func f(x: f32) = x;", "a scalar function starts with `fn`"),
        ("def f() = let x = 1 in x;", "a `let` is written `let x = value; body`"),
        ("def f[N](x: [f32; N]) where N % 4 = 0 = x;", "equality is written `==`"),
        ("def f() = if a = b then c else d;", "equality is written `==`"),
        ("def f() = a ** b;", "a power is written `pow(x, y)`"),
        ("def f() = a and b;", "write `&&`"),
        ("def f() = f32(a);", "a cast is written `x as f32`"),
        ("def f() = ();", "there is no empty tuple"),
        ("def f() = xs.len;", "a function is applied as in `len(x)`"),
        ("def f() = if a then b;", "if c then a else b"),
        ("def f(x: f32): f32 = x;", "the result type follows `->`"),
        ("def f(f32 x) = x;", "the type follows the name: `name: f32`"),
        ("def f(x: f32) { x }", "a body is written `= expression;`"),
        ("def f(x: [f32, 3]) = x;", "an array type is written `[element; size]`"),
        ("def f() = |x| x;", "a lambda is written `\\x -> body`"),
        ("const a = 1_000;", "digits are not separated"),
        ("const a: i32 = 1;", "leave out the `:` and the type"),
        ("const a = map(+, xs);", "such as `(*)`"),
        ("test t: a = b;", "equality is written `==`"),
        ("def f() = x → y;", "the arrow is written `->`"),
        ("def f() = x /* no */;", "comments start with `//`"),
        ("def f() = x ≠ y;", "write `!=`"),
        ("def f() = x ≤ y;", "write `<=`"),
        ("def f() = x ≥ y;", "write `>=`"),
        ("def f() = x × y;", "multiplication is written `*`"),
        ("def f() = x − y;", "minus is written `-`"),
        ("def f() = map(λ, xs);", "a lambda is written `\\x -> body`"),
        ("def f() =\u{a0}x;", "write a plain one"),
        ("const a = ’;", "a string is written between `\"` quotes"),
        ("# no", "comments start with `//`"),
        ("def f() = a ~= b;", "`~=` stands in tests only, outside all brackets"),
        ("def f() = a or b;", "write `||`"),
        ("def f() = let a = 1 in a;", "a `let` is written `let x = value; body`"),
        ("def f() = [1 | 2, 3];", "an iteration is written `[ e | (x, y) in D ]`"),
        (
            "def f() = [1, 2 | 3];",
            "a bit-or directly inside brackets stands in parentheses: `[(a | b), c]`",
        ),
        (
            "def f() = [i | i in line[3], i < 2];",
            "choose a value by `[ if c then e else z | i in D ]`",
        ),
        ("def f() = a in b in c;", "put one of them in parentheses"),
        ("def f() = a mod b;", "write `%`"),
        ("def f() = f 1;", "arguments stand in parentheses: `f(x)`"),
        ("def f() = (a -> b);", "a lambda is written `\\x -> body`"),
        ("def f() = (a => b);", "the arrow of a lambda is written `->`"),
        ("def f() = (x: f32);", "the types of expressions are not written"),
        ("def f() = (x := 1);", "a value is named by `let x = value; body`"),
        ("def f() = a { b };", "there are no blocks: parentheses group expressions"),
        ("def f() = { b };", "there are no blocks: parentheses group expressions"),
        ("def f() = +1;", "there is no sign `+`"),
        ("def f() = |> g;", "something must stand on the left of it"),
        ("def f() = &x;", "there are no references: leave out the `&`"),
        ("def f() = _(x);", "`_` stands for a parameter that is not used"),
        ("def f(x: &f32) = x;", "there are no references: leave out the `&`"),
        ("def f(x: 4) = x;", "an array type is written `[element; size]`"),
        ("def f(f32x4 x) = x;", "the type follows the name: `name: f32x4`"),
        ("const a = 0x10;", "numbers are written in decimal"),
        ("const a = 1q;", "the suffixes are the scalar types"),
        ("def f(x: f32) f32 = x;", "the result type follows `->`"),
        ("def f(x: f32) [f32; 4] = x;", "the result type follows `->`"),
        ("def f(x: f32) => f32 = x;", "the result type follows `->`"),
        ("define f(x: f32) = x;", "did you mean `def`?"),
        ("val a = 1;", "did you mean `const`?"),
        ("use \"x.lift\";", "did you mean `import`?"),
        ("assert t: a == b;", "did you mean `test`?"),
        ("def f(x: f32x99999999999999999999) = x;", "widths are 2, 3, 4, 8 and 16"),
    ];
    for (text, remedy) in cases {
        let shown = rendered(text);
        assert!(shown.contains(remedy), "{text}\n{shown}");
        assert_eq!(parse(0, text).diagnostics.len(), 1, "{shown}");
    }
    assert_eq!(messages("const a := 1;"), ["expected `=` and the body, found `:=`"]);
}

#[test]
fn numbers_that_are_none() {
    assert_eq!(messages("const a = 18446744073709551616;"), ["this number is too large"]);
    assert_eq!(messages("const a = 18446744073709551615;").len(), 0);
    assert_eq!(messages("const a = 1.5u8;"), ["`u8` holds no fractions or exponents"]);
    assert_eq!(messages("const a = 1bool;"), ["unknown suffix `bool` of a number"]);
}

const DEEP: &str = "this expression is nested too deeply (limit 256)";
const LONG: &str = "this expression is nested too deeply (limit 2000 links in a chain)";

#[test]
fn too_deep_is_one_error() {
    for opener in [
        "(",
        "[",
        "f(",
        "\\x -> ",
        "-",
        "!",
        "- !",
        "(1, ",
        "if x then y else ",
        "x[",
        "if ",
        "let y = ",
        "f32x{",
        "1 + (2 * ",
        "a |> b || c && d == e | f ^ g & h << i + j * (",
    ] {
        let text = format!("def f() = {}x;\ndef g() = ;", opener.repeat(10_000));
        let expected = [DEEP, "expected an expression, found `;`"];
        assert_eq!(messages(&text), expected, "{opener}");
    }
    for (opener, closer) in [("[", "; 1]"), ("(", ")"), ("T -> ", "")] {
        let (open, close) = (opener.repeat(10_000), closer.repeat(10_000));
        assert_eq!(messages(&format!("def f(x: {open}f32{close}) = x;")), [DEEP], "{opener}");
    }
    let text = format!("def f() = \\{}x -> x;", "(".repeat(10_000));
    assert_eq!(messages(&text), [DEEP]);
}

#[test]
fn too_long_a_chain_is_one_error() {
    for link in [" + 1", "(a)", ".0", "[0]", " |> f", " >> f", " as f32", " * 2 + 1 * 2"] {
        let text = format!("const a = x{};", link.repeat(20_000));
        assert_eq!(messages(&text), [LONG], "{link}");
    }
    let text = format!("const a = {} 1;", "let x = 1; ".repeat(20_000));
    assert_eq!(messages(&text), [LONG]);
    // The chains of several levels add up.
    let closers = format!("{})", " + 1".repeat(20)).repeat(200);
    let text = format!("const a = {}x{closers};", "(".repeat(200));
    assert_eq!(messages(&text), [LONG]);
}

#[test]
fn what_is_allowed_may_be_dropped_cloned_and_formatted() {
    let nested =
        |open: &str, close: &str, n: usize| format!("{}1{}", open.repeat(n), close.repeat(n));
    let text = [
        format!("const a = {};", nested("(", ")", 256)),
        format!(
            "const a = {};",
            nested("a |> b || c && d == e | f ^ g & h << i + j * (", ")", 150)
        ),
        format!("const a = {};", nested("\\x -> ", "", 256)),
        format!("const a = {};", nested("f(\\x -> ", ")", 128)),
        format!("const a = 1{};", " + 1".repeat(1999)),
        format!("const a = x{};", " |> f(2 * 3)".repeat(1990)),
        format!("const a = x{};", "(a)".repeat(1990)),
        format!("def a() = {} x;", "let x = 1; ".repeat(1990)),
    ]
    .join("\n");
    let parsed = parse(0, &text);
    assert_eq!(rendered(&text), "");
    let formatted = lift_syntax::format::format(&parsed, &text);
    assert!(parse(0, &formatted).diagnostics.is_empty());
    drop(parsed.clone());
}

#[test]
fn long_bad_input_is_answered_at_once() {
    for part in [
        "(",
        ")",
        "[(",
        "def ",
        "def f(",
        "let ",
        "\"",
        "\\",
        "@ x ",
        "1 2 ",
        "f(1 2 ",
        "/* ",
        "if then else ",
        ";",
        "test a: ",
        "extern fn ",
        "[a; ",
        "é",
        "\0",
        "f(a]",
        "where ",
        "a = ",
        "f32x",
        ".0",
        "// \n",
    ] {
        let text = part.repeat(200_000 / part.len());
        let start = std::time::Instant::now();
        well_behaved(&text);
        assert!(start.elapsed().as_secs() < 60, "{part:?}: {:?}", start.elapsed());
    }
}

/// Parses and renders, and checks what must hold for any text.
fn well_behaved(text: &str) -> Parsed {
    let parsed = parse(0, text);
    let mut sources = Sources::new();
    sources.add("test.lift", text);
    for diagnostic in &parsed.diagnostics {
        for label in &diagnostic.labels {
            let (start, end) = (label.span.start as usize, label.span.end as usize);
            assert!(text.get(start..end).is_some(), "{start}..{end} in {text:?}");
        }
    }
    let shown = render(&parsed.diagnostics, &sources, false);
    assert_eq!(shown.is_empty(), parsed.diagnostics.is_empty());
    assert!(shown.len() < 200_000, "{}", shown.len());
    let tree = format!("{:?}", parsed.file);
    if parsed.diagnostics.is_empty() {
        assert!(!tree.contains("kind: Error"), "{text}");
    }
    for place in tree.split("Span { ").skip(1) {
        let number = |key: &str| -> usize {
            let digits = place.split_once(key).map_or("", |p| p.1);
            let digits = digits.split(|c: char| !c.is_ascii_digit()).next().unwrap_or("");
            digits.parse().expect("a span has two numbers")
        };
        let (start, end) = (number("start: "), number("end: "));
        assert!(text.get(start..end).is_some(), "{start}..{end} in {text:?}");
    }
    parsed
}

fn vocabulary() -> Vec<String> {
    let mut words: Vec<String> = SAMPLES.iter().flat_map(|text| pieces(text)).collect();
    words.extend(
        [
            "&",
            "|",
            "**",
            "=>",
            ":=",
            "{",
            "}",
            "@",
            "é",
            "\0",
            "\"",
            "\\",
            "// c\n",
            "/*",
            "λ",
            "1e",
            "99999999999999999999",
            "type",
            "local",
            "in",
            "\n",
        ]
        .map(String::from),
    );
    words.sort();
    words.dedup();
    words
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in "\\PC{0,80}") {
        well_behaved(&text);
        parse_expr(0, &text);
    }

    #[test]
    fn token_soup(
        words in proptest::collection::vec(proptest::sample::select(vocabulary()), 0..60),
        gap in proptest::sample::select(vec!["", " ", "\n"]),
    ) {
        well_behaved(&words.join(gap));
        parse_expr(0, &words.join(gap));
    }

    #[test]
    fn mutated_samples(
        sample in 0..3usize,
        edits in proptest::collection::vec((any::<prop::sample::Index>(), 0..4usize, any::<prop::sample::Index>()), 1..6),
    ) {
        let mut parts = pieces(SAMPLES[sample]);
        for (place, edit, other) in edits {
            let (at, other) = (place.index(parts.len()), other.index(parts.len()));
            match edit {
                0 => { parts.remove(at); }
                1 => { let part = parts[at].clone(); parts.insert(at, part); }
                2 => parts.swap(at, other),
                _ => parts[at] = parts[other].clone(),
            }
        }
        let parsed = well_behaved(&parts.join(" "));
        // A few edits make a few errors, not an avalanche.
        prop_assert!(parsed.diagnostics.len() <= 40, "{:?}", messages(&parts.join(" ")));
    }

    #[test]
    fn random_expressions_are_well_formed(e in expression()) {
        let (_, diagnostics) = parse_expr(0, &e);
        prop_assert!(diagnostics.is_empty(), "{e}\n{diagnostics:?}");
    }
}
