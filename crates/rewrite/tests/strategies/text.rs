//! Strategies as text: what is printed reads back to the same, and what cannot be read is told.

use lift_rewrite::strategy::library;
use lift_syntax::parser::parse_strategies;

use super::*;

#[test]
fn what_is_printed_reads_back_to_the_same() {
    for text in [
        "id",
        "fail",
        "simplify",
        "map_fusion",
        "split_join(8)",
        "split_join(N / 2)",
        "split_join(2*m + 1)",
        "split_join(min(N, 4))",
        "split_join(max(N, 4))",
        "split_join(N - 1)",
        "split_join(N % 4)",
        "reduce_reorder(reverse)",
        "reduce_reorder(stride(N / 4))",
        "reduce_reorder(shift(1))",
        "map_to_glb(1)",
        "map_fusion >> map_to_seq >> id",
        "choice(map_fusion >> map_to_seq, id, fail)",
        "try(repeat(one(all(somewhere(topdown(bottomup(id)))))))",
        "at(root, id)",
        "at(root.0.1.2, body(argument(argument(1, map_fusion))))",
        "find(map, id)",
        "find(let || value, id)",
        "find(contains(reduce) && !(zip), id)",
        "find(holds(map, of(map, value)), id)",
        "where(length % 4 == 0)",
        "where(length == N && inner <= 4)",
        "where((map || reduce) && contains(zip))",
        "where(map || (reduce && contains(zip)))",
        "where(length < N || inner != 3)",
        "normalize(map_fusion, map_identity)",
    ] {
        let read = strategy(text);
        assert_eq!(read.to_string(), text);
        assert_eq!(format!("{:?}", strategy(&read.to_string())), format!("{read:?}"), "{text}");
    }
    assert_eq!(strategy("split_join(ceil_div(N, 4))").to_string(), "split_join((N + 3) / 4)");
    assert_eq!(strategy("(map_fusion) >> (id)").to_string(), "map_fusion >> id");
    assert_eq!(strategy("seq(id, fail >> id)").to_string(), "id >> fail >> id");
    assert_eq!(strategy("within(map, id)").to_string(), "find(map, body(id))");
    assert_eq!(strategy("where(4 > length)").to_string(), "where(length < 4)");
    assert_eq!(Strategy::Seq(Vec::new()).to_string(), "id");
    assert_eq!(Strategy::Choice(Vec::new()).to_string(), "fail");
}

#[test]
fn named_strategies_are_written_out_in_full() {
    let named = strategy("somewhere(tile(4, 8))");
    assert_eq!(named.to_string(), "somewhere(tile)");
    let full = format!("{named:#}");
    assert!(full.starts_with("somewhere(split_join(4) >> "), "{full}");
    assert_eq!(format!("{:#}", strategy(&full)), full);
    let outcome = |text: &str| ran(MM, text).unwrap().def.to_string();
    assert_eq!(outcome(&format!("{:#}", strategy("tile(m, k)"))), outcome("tile(m, k)"));
}

/// Every strategy of the library can be called with the right number of arguments of some sort.
#[test]
fn the_library_can_be_read_and_its_names_are_its_own() {
    let mut names = Vec::new();
    for (theme, text) in library() {
        let (definitions, mistakes) = parse_strategies(0, text);
        assert!(mistakes.is_empty(), "{theme}: {mistakes:?}");
        for definition in definitions {
            let name = definition.name.text;
            assert!(lift_rewrite::find(&name).is_err(), "`{name}` is a rule");
            assert!(!names.contains(&name), "`{name}` twice");
            let read = |with: &str| {
                let given = vec![with; definition.names.len()].join(", ");
                let call = if given.is_empty() { name.clone() } else { format!("{name}({given})") };
                read_strategy(0, &call)
            };
            let unknown =
                |mistakes: &Vec<Diagnostic>| told(mistakes.clone()).contains("there is no");
            // Sizes and strategies as arguments: what is misspelt is unknown with either.
            assert!(!read("8").is_err_and(|m| unknown(&m)), "{name}");
            assert!(!read("id").is_err_and(|m| unknown(&m)), "{name}");
            names.push(name);
        }
    }
    assert!(names.len() >= 3);
}

#[test]
fn mistakes_say_what_was_expected() {
    for (text, expected) in [
        (
            "map_fusoin",
            "there is no rule or strategy `map_fusoin`; help: did you mean `map_fusion`?",
        ),
        (
            "somewhre(id)",
            "there is no rule or strategy `somewhre`; help: did you mean `somewhere`?",
        ),
        ("tlie(4, 4)", "there is no rule or strategy `tlie`; help: did you mean `tile`?"),
        ("map", "`map` is a pattern, not a strategy; help: `find(map, …)` goes to one"),
        ("somewhere(3)", "expected a strategy: a rule, a combinator or a defined one"),
        ("split_join(map_fusion)", "expected a size, and `map_fusion` is a rule"),
        ("split_join(tile)", "expected a size, and `tile` is a strategy"),
        ("split_join(try)", "expected a size, and `try` is a strategy"),
        ("split_join(map)", "expected a size, and `map` is a pattern"),
        ("split_join(f32)", "expected an expression, found the type `f32`"),
        ("split_join(1.5)", "expected a size"),
        ("split_join(id >> id)", "expected a size, and `id` is a strategy"),
        ("split_join(4, 8)", "`split_join` takes 1 parameter, not 2; it is `split_join(m)`"),
        ("map_fusion(4)", "`map_fusion` takes no parameters"),
        ("split_join(reverse)", "`m` of `split_join` is a size, not a permutation"),
        (
            "reduce_reorder(4)",
            "`p` of `reduce_reorder` is a permutation, not a size; help: write `reverse`, `stride(8)` or \
             `shift(1)`",
        ),
        (
            "reduce_reorder",
            "`p` of `reduce_reorder` must be chosen; help: write it as in `reduce_reorder(reverse)`",
        ),
        ("map_to_glb", "`d` of `map_to_glb` must be chosen; help: write it as in `map_to_glb(0)`"),
        ("tile", "`tile` takes 2 arguments, not 0; it is `tile(m, k)`"),
        ("interchange(3)", "`interchange` takes no arguments"),
        ("try", "`try` takes one strategy"),
        ("try(id, id)", "`try` takes one strategy"),
        ("id(id)", "`id` takes nothing"),
        ("choice()", "`choice` takes strategies"),
        ("at(id)", "`at` takes a place such as `root.0.1` and a strategy"),
        ("at(0.1, id)", "expected a place such as `root.0.1`"),
        ("argument(id, id)", "expected the number of an argument"),
        ("argument()", "`argument` takes a strategy, or a number and a strategy"),
        ("find(id)", "`find` takes a condition and a strategy"),
        ("find(reduceSqe, id)", "there is no pattern `reduceSqe`; help: did you mean `reduceSeq`?"),
        ("where(contains(!map))", "expected the name of a pattern"),
        ("where()", "`where` takes a condition"),
        ("normalize()", "`normalize` takes rules"),
        ("normalize(map_fusion(3))", "expected the name of a rule"),
        (
            "normalize(split_join)",
            "`normalize` chooses nothing, and `split_join` needs `m`; help: write \
             `repeat(somewhere(split_join(…)))`",
        ),
        ("", "expected an expression, found the end of the text"),
        ("id id", "expected the end of the expression, found `id`"),
    ] {
        assert_eq!(mistake(text), expected, "{text}");
    }
    assert!(
        mistake("where(3)").starts_with("expected a condition; help: write the name of a pattern")
    );
    assert_eq!(mistake("where(length + 1)"), "expected a comparison of sizes");
}
