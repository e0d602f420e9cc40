//! What expressions are read as, shown with every operation in parentheses.

use super::*;
use crate::ast::{Expr, ExprKind, Pattern, PatternKind, Type, TypeKind};

fn shape(expr: &Expr) -> String {
    let list = |parts: &[Expr]| parts.iter().map(shape).collect::<Vec<_>>().join(" ");
    match &expr.kind {
        ExprKind::Int(value, suffix) => {
            format!("{value}{}", suffix.map_or("", |s| s.name()))
        }
        ExprKind::Float(digits, suffix) => format!("{digits}{}", suffix.map_or("", |s| s.name())),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Limit(scalar, limit) => format!("{scalar}::{limit:?}"),
        ExprKind::Vector(scalar, width, lanes) => {
            format!("({scalar}x {} {})", shape(width), list(lanes))
        }
        ExprKind::Tuple(parts) => format!("(tuple {})", list(parts)),
        ExprKind::Array(parts) => format!("[{}]", list(parts)),
        ExprKind::Paren(inner) => format!("(paren {})", shape(inner)),
        ExprKind::Section(op) => format!("section {}", op.symbol()),
        ExprKind::Unary(op, operand) => format!("({} {})", op.symbol(), shape(operand)),
        ExprKind::Binary(op, a, b) => format!("({} {} {})", op.symbol(), shape(a), shape(b)),
        ExprKind::Cast(inner, ty) => format!("(as {} {})", shape(inner), type_shape(ty)),
        ExprKind::Pipe(a, b) => format!("(|> {} {})", shape(a), shape(b)),
        ExprKind::Call(f, arguments) => format!("({} {})", shape(f), list(arguments)),
        ExprKind::Field(inner, place) => format!("(.{place} {})", shape(inner)),
        ExprKind::Index(inner, indices) => format!("(at {} {})", shape(inner), list(indices)),
        ExprKind::Each(value, pattern, domain) => {
            format!("(each {} {} {})", shape(value), pattern_shape(pattern), shape(domain))
        }
        ExprKind::In(point, domain) => format!("(in {} {})", shape(point), shape(domain)),
        ExprKind::Range(from, to) => format!("(.. {} {})", shape(from), shape(to)),
        ExprKind::Set(set) => {
            let names: Vec<&str> = set.points.indices.iter().map(|n| n.text.as_str()).collect();
            let parent = set.points.domain.as_ref().map_or(String::new(), |d| shape(d));
            format!("{{{parent}({}) {}}}", names.join(" "), list(&set.constraints))
        }
        ExprKind::Rec(rec) => {
            format!("(rec {} {} {})", rec.name.text, shape(&rec.value), shape(&rec.body))
        }
        ExprKind::Lambda(params, body) => {
            let params: Vec<String> = params.iter().map(pattern_shape).collect();
            format!("(\\ {} -> {})", params.join(" "), shape(body))
        }
        ExprKind::Let(pattern, value, body) => {
            format!("(let {} {} {})", pattern_shape(pattern), shape(value), shape(body))
        }
        ExprKind::If(c, a, b) => format!("(if {} {} {})", shape(c), shape(a), shape(b)),
        ExprKind::Error => "error".to_string(),
    }
}

fn pattern_shape(pattern: &Pattern) -> String {
    match &pattern.kind {
        PatternKind::Name(name) => name.clone(),
        PatternKind::Wildcard => "_".to_string(),
        PatternKind::Tuple(parts) => {
            format!("({})", parts.iter().map(pattern_shape).collect::<Vec<_>>().join(" "))
        }
    }
}

fn type_shape(ty: &Type) -> String {
    let list = |parts: &[Type]| parts.iter().map(type_shape).collect::<Vec<_>>().join(" ");
    match &ty.kind {
        TypeKind::Scalar(scalar) => scalar.to_string(),
        TypeKind::Vector(scalar, width) => format!("({scalar}x {})", shape(width)),
        TypeKind::Name(name) => name.clone(),
        TypeKind::Tuple(parts) => format!("(tuple {})", list(parts)),
        TypeKind::Array(element, size) => format!("[{} {}]", type_shape(element), shape(size)),
        TypeKind::Over(element, domain) => {
            format!("[{} in {}]", type_shape(element), shape(domain))
        }
        TypeKind::Function(params, result) => {
            format!("({} -> {})", list(params), type_shape(result))
        }
        TypeKind::Nat => "nat".to_string(),
        TypeKind::Boundary => "boundary".to_string(),
        TypeKind::Permutation => "permutation".to_string(),
        TypeKind::Error => "error".to_string(),
    }
}

#[track_caller]
fn reads(text: &str, expected: &str) {
    let (expr, diagnostics) = parse_expr(0, text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert_eq!(shape(&expr), expected);
    assert_eq!(expr.span, Span::new(0, 0, text.len() as u32), "the place is the whole text");
}

#[track_caller]
fn reads_type(text: &str, expected: &str) {
    let parsed = parse(0, &format!("def f(x: {text}) = x;"));
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let ast::Item::Def(def) = &parsed.file.items[0] else { panic!("not a def") };
    assert_eq!(type_shape(&def.params[0].ty), expected);
}

#[test]
fn operators_bind_by_strength_and_to_the_left() {
    reads("a |> b || c && d == e + f * g", "(|> a (|| b (&& c (== d (+ e (* f g))))))");
    reads("a * b + c < d && e || f |> g", "(|> (|| (&& (< (+ (* a b) c) d) e) f) g)");
    reads("a == b | c ^ d & e << f + g", "(== a (| b (^ c (& d (<< e (+ f g))))))");
    reads("a - b >> c & d ^ e | f < g", "(< (| (^ (& (>> (- a b) c) d) e) f) g)");
    reads("a << b >> c << d", "(<< (>> (<< a b) c) d)");
    reads("x |> f >> g |> h", "(|> (|> x (>> f g)) h)");
    reads("~a & -~b", "(& (~ a) (- (~ b)))");
    reads("map((^)) >> map((>>))", "(>> (map section ^) (map section >>))");
    reads("a - b + c", "(+ (- a b) c)");
    reads("a < b == c", "(== (< a b) c)");
    reads("x |> f |> g", "(|> (|> x f) g)");
}

#[test]
fn signs_casts_and_what_follows_an_operand() {
    reads("-x as f32", "(- (as x f32))");
    reads("-a.0 * !b", "(* (- (.0 a)) (! b))");
    reads("x as f32 as i8 + 1", "(+ (as (as x f32) i8) 1)");
    reads("f(a)(b).0.1[i + 1]", "(at (.1 (.0 ((f a) b))) (+ i 1))");
    reads("a - -b", "(- a (- b))");
}

#[test]
fn lambda_let_and_if_extend_to_the_right() {
    reads("x |> \\y -> e |> g", "(|> x (\\ y -> (|> e g)))");
    reads("\\acc (a, (b, _)) -> a + b", "(\\ acc (a (b _)) -> (+ a b))");
    reads("let x = 1; let y = 2; x + y", "(let x 1 (let y 2 (+ x y)))");
    reads("1 + if c then a else b + 2", "(+ 1 (if c a (+ b 2)))");
    reads("-let x = 1; x + 1", "(- (let x 1 (+ x 1)))");
    reads("\\(x) ((y),) -> x + y", "(\\ x y -> (+ x y))");
}

#[test]
fn brackets_and_sections() {
    reads("(a)", "(paren a)");
    reads("(a,)", "(paren a)");
    reads("(a, b,)", "(tuple a b)");
    reads("[a, [b],]", "[a [b]]");
    reads("f((+), (-), (==), (||))", "(f section + section - section == section ||)");
    reads("(-x)", "(paren (- x))");
    reads("f()", "(f )");
}

#[test]
fn numbers_and_names() {
    reads("[1, 1u8, 1.0, 1e-3, 1.5f64, 1f32]", "[1 1u8 1.0 1e-3 1.5f64 1f32]");
    reads("f32::min + inf", "(+ f32::Min inf)");
    reads("f32x4(a)[0]", "(at (f32x 4 a) 0)");
    reads("f32x{2 * m}(a, b)", "(f32x (* 2 m) a b)");
    reads(
        "[local, global, type, nat, boundary, in, f32x, f32x4y]",
        "[local global type nat boundary in f32x f32x4y]",
    );
}

#[test]
fn domains_and_iterations() {
    reads("[ m[x, y] | (x, y) in grid[h, w] ]", "(each (at m x y) (x y) (at grid h w))");
    reads("[(a | b) | i in line[n]]", "(each (paren (| a b)) i (at line n))");
    reads("[let a = 1; \\x -> a || b | i in d]", "(each (let a 1 (\\ x -> (|| a b))) i d)");
    reads("[if c then a else b |> f | _ in d]", "(each (if c a (|> b f)) _ d)");
    reads("[e | k in s[r] + 1 .. s[r + 1]]", "(each e k (.. (+ (at s r) 1) (at s (+ r 1))))");
    reads("[e | k in 0..n]", "(each e k (.. 0 n))");
    reads("(i, j) in upper[n] && c", "(&& (in (tuple i j) (at upper n)) c)");
    reads("i + 1 in d", "(in (+ i 1) d)");
    reads(
        "count({ grid[n, n](i, j) | i <= j < n })",
        "(count {(at grid n n)(i j) (< (<= i j) n)})",
    );
    reads("rec t = [1 | i in d]; t", "(rec t (each 1 i d) t)");
    reads("rec t: i64 = [1 | i in d]; t", "(rec t (each 1 i d) t)");
    reads("xs[a | b]", "(at xs (| a b))");
    // They are names wherever they do not stand in their place.
    reads("[rec, domain, view, over]", "[rec domain view over]");
    reads("let x = i in d; x", "(let x (in i d) x)");
}

#[test]
fn types() {
    reads_type("[[f32x4; K + 1]; M]", "[[(f32x 4) (+ K 1)] M]");
    reads_type("[[f32; K] in upper[n]]", "[[f32 K] in (at upper n)]");
    reads_type("[T in { (i) | i < n }]", "[T in {(i) (< i n)}]");
    reads_type("(T, U) -> V", "(T U -> V)");
    reads_type("((T, U)) -> V", "((tuple T U) -> V)");
    reads_type("(T -> U) -> V -> W", "((T -> U) -> (V -> W))");
    reads_type(
        "((nat, boundary), f16x{m}, permutation)",
        "(tuple (tuple nat boundary) (f16x m) permutation)",
    );
    reads_type("(f32)", "f32");
}

/// What is read of a text with one mistake in it.
#[track_caller]
fn recovers(text: &str, expected: &str) {
    let (expr, diagnostics) = parse_expr(0, text);
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    assert_eq!(shape(&expr), expected);
}

#[test]
fn what_stands_around_a_mistake_is_read() {
    // A forgotten comma, and a bracket of another shape.
    recovers("f(a b, c)", "(f a b c)");
    recovers("[a b c]", "[a b c]");
    recovers("f(a], b)", "(f a b)");
    recovers("f(a])", "(f a)");
    recovers("f(a, : b, c) + d", "(+ (f a error c) d)");
    // A forgotten `;`, at the end of a line and within.
    recovers("let x = 1\nx + 1", "(let x 1 (+ x 1))");
    recovers("let x = 1 2; x + 1", "(let x 1 (+ x 1))");
    // Other signs in place of `=`.
    recovers("let x := 1; x", "(let x 1 x)");
    recovers("let x == 1; x", "(let x 1 x)");
    recovers("let x y = 1; x", "(let x 1 x)");
    recovers("if a b then c else d", "(if a c d)");
    recovers("if a then c d else e", "(if a c e)");
}

#[test]
fn items_around_a_mistake_are_read() {
    let names = |text: &str| -> Vec<String> {
        let parsed = parse(0, text);
        assert_eq!(parsed.diagnostics.len(), 1, "{text}\n{:?}", parsed.diagnostics);
        let name = |item: &ast::Item| match item {
            ast::Item::Fn(item) => item.name.text.clone(),
            ast::Item::Def(item) => item.name.text.clone(),
            ast::Item::Const(item) => item.name.text.clone(),
            ast::Item::Test(item) => item.name.text.clone(),
            ast::Item::Extern(item) => item.name.text.clone(),
            ast::Item::Import(item) => item.path.clone(),
            ast::Item::Domain(item) => item.name.text.clone(),
        };
        parsed.file.items.iter().map(name).collect()
    };
    assert_eq!(names("const a = 1 2; 3\n  + 4;\nconst b = 2;"), ["a", "b"]);
    assert_eq!(names("const a = 1 const b = 2;"), ["a", "b"]);
    assert_eq!(names("test t = a == b; const c = 1;"), ["t", "c"]);
    assert_eq!(names("const = 1; const b = 2;"), ["b"]);
    assert_eq!(names("nonsense \"c\" fn f(x: f32) = x;\nconst b = 2;"), ["f", "b"]);
}

#[test]
fn the_width_of_a_vector_has_its_own_place() {
    let (expr, _) = parse_expr(0, "f32x16(a)");
    let ExprKind::Vector(_, width, _) = &expr.kind else { panic!("not a vector") };
    assert_eq!(width.span, Span::new(0, 4, 6));
}

#[test]
fn types_are_read_also_where_their_colon_is_missing() {
    for text in ["def f(x f32, y: i8) = x;", "def f(x = : f32, y: i8) = x;"] {
        let parsed = parse(0, text);
        assert_eq!(parsed.diagnostics.len(), 1, "{text}");
        let ast::Item::Def(def) = &parsed.file.items[0] else { panic!("not a def") };
        let types: Vec<String> = def.params.iter().map(|p| type_shape(&p.ty)).collect();
        assert_eq!(types, ["f32", "i8"], "{text}");
    }
}

#[test]
fn the_sides_of_a_test() {
    let sides = |text: &str| {
        let parsed = parse(0, text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        let [ast::Item::Test(test)] = parsed.file.items.as_slice() else { panic!("not a test") };
        (shape(&test.left), test.approximate, shape(&test.right))
    };
    let expected = |l: &str, a: bool, r: &str| (l.to_string(), a, r.to_string());
    assert_eq!(sides("test t: a + 1 == b;"), expected("(+ a 1)", false, "b"));
    assert_eq!(sides("test t: f(a == b) ~= [c];"), expected("(f (== a b))", true, "[c]"));
    assert_eq!(sides("test t: x |> f == y |> g;"), expected("(|> x f)", false, "(|> y g)"));
    assert_eq!(
        sides("test t: let x = a == b; if a == b then x else y == true;"),
        expected("(let x (== a b) (if (== a b) x y))", false, "true")
    );
}

#[test]
fn every_part_of_a_def() {
    let text = "def f[M, T: type; K = 16, L](g: T -> T, xs: [T; M]) -> [T; M]
        where M % K == 0 && M > 1, L < M
        launch local(16, K) global(M) launch rows(4) global(1) = xs;";
    let parsed = parse(0, text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let [ast::Item::Def(def)] = parsed.file.items.as_slice() else { panic!("not a def") };
    let generics: Vec<_> = def.generics.iter().map(|g| (g.name.text.as_str(), g.is_type)).collect();
    assert_eq!(generics, [("M", false), ("T", true)]);
    let defaults: Vec<_> = def.parameters.iter().map(|p| p.default.as_ref().map(shape)).collect();
    assert_eq!(defaults, [Some("16".to_string()), None]);
    let wheres: Vec<_> = def.wheres.iter().map(shape).collect();
    assert_eq!(wheres, ["(&& (== (% M K) 0) (> M 1))", "(< L M)"]);
    let counts = |l: &ast::Launch| l.clauses.iter().map(|(c, n)| (c.name(), n.len())).collect();
    let counts: Vec<Vec<_>> = def.launches.iter().map(counts).collect();
    assert_eq!(counts, [vec![("local", 2), ("global", 1)], vec![("global", 1), ("rows", 1)]]);
    assert_eq!(def.span, Span::new(0, 0, text.len() as u32));
}
