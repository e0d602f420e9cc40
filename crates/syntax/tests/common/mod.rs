//! What the tests of the parser and of the formatter share.

use proptest::prelude::*;

/// Programs that use every construct of the grammar.
pub const SAMPLES: [&str; 3] = [
    r#"
// A scalar function.
fn mult_add(acc: f32, p: (f32, f32)) -> f32 = acc + p.0 * p.1;

def dot[N](x: [f32; N], y: [f32; N]) -> f32 =
  zip(x, y) |> map(\(a, b) -> a * b) |> reduce(0.0, (+));

def mm[M, K, N](A: [[f32; K]; M], B: [[f32; N]; K]) -> [[f32; N]; M] =
  A |> map(\row ->
    transpose(B) |> map(\col ->
      zip(row, col) |> map(\(a, b) -> a * b) |> reduce(0.0, (+))));

// Every decision is explicit.
def partial_dot[N](x: [f32; N], y: [f32; N]) -> [f32; N / 128]
  where N % 128 == 0, N > 0 && N <= 65536
  launch local(64) global(N / 2)
  launch local(1) =
  zip(x, y) |> split(128) |> mapWrg(0)(\chunk ->
    chunk |> split(2)
          |> mapLcl(0)(\two -> two |> reduceSeq(0.0, mult_add) |> toLocal(id))
          |> iterate(6, \xs -> xs |> split(2)
               |> mapLcl(0)(\two -> two |> reduceSeq(0.0, (+)) |> toLocal(id)))
          |> mapLcl(0)(toGlobal(id)))
  |> join;

test dot_small: dot([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]) == 32.0;
test mm_small:  mm([[1.0, 2.0]], [[3.0], [4.0]]) ~= [[11.0]];
"#,
    r#"
import "lib/other.lift";
const T = 16;
const WEIGHTS = [1, 2, -3, 4u8, 5i64, inf, -x];
extern "opencl,cuda,c" fn raw(x: f32, y: f32x4) -> f32 = "return \"x\" \\ y;\n";
def generic[m, n, T: type, U: type; K = min(4, m), L](
  f: T -> U, g: (T, U) -> T, h: ((T, U)) -> T, k: (nat, nat), b: boundary, p: permutation,
  v: f32x{m}, xss: [[T; m]; n]) -> [[U; m]; n] =
  let (a, (b, _)) = f(xss, k,);
  let c = -a.0.1 as f64 as f32;
  if a < c && !(b == 1.5e-3f64) || false then f32x4(1, 2, 3, 4)[0] else if b != 2 then i8::max
  else (f >> g(1)(2) >> \x y -> x % y - 1)(a, [b], ());
"#,
    r#"
fn clamped(x: f32) = let y = x * x; y + (1.0 - y) / 2.0;
def stencil[N](x: [f32; N]) = x |> pad(1, 1, clamp) |> slide(3, 1) |> map(\w -> w |> reduce(0.0, (+)));
test piped: [1.0, 2.0] |> map(\x -> x == 1.0) == let t = true; [t, false];
"#,
];

/// Replaces the one thing in the samples that is meant to be wrong in the parser's tests only.
pub fn well_formed() -> Vec<String> {
    SAMPLES.iter().map(|text| text.replace(", ())", ")")).collect()
}

/// Cuts a program into pieces no token crosses; comments are dropped.
pub fn pieces(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    for line in text.lines() {
        let mut rest = line.split("//").next().unwrap_or("");
        while let Some(first) = rest.chars().next() {
            let word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            let length = if first.is_whitespace() {
                rest.len() - rest.trim_start().len()
            } else if first == '"' {
                let mut escaped = false;
                let end = rest.char_indices().skip(1).find(|(_, c)| {
                    let end = *c == '"' && !escaped;
                    escaped = *c == '\\' && !escaped;
                    end
                });
                end.map_or(rest.len(), |(at, _)| at + 1)
            } else if word(first) {
                // The sign of an exponent belongs to its number.
                let plain = rest.find(|c| !word(c)).unwrap_or(rest.len());
                let number = first.is_ascii_digit() && rest[..plain].ends_with('e');
                if number {
                    plain + 1 + rest[plain + 1..].find(|c| !word(c)).unwrap_or(0)
                } else {
                    plain
                }
            } else {
                let double =
                    ["|>", "<<", ">>", "||", "&&", "==", "!=", "<=", ">=", "~=", "->", "::"];
                if double.iter().any(|d| rest.starts_with(d)) { 2 } else { first.len_utf8() }
            };
            let (piece, left) = rest.split_at(length);
            if !piece.trim().is_empty() {
                pieces.push(piece.to_string());
            }
            rest = left;
        }
    }
    pieces
}

/// Text of random expressions, names of all lengths in them.
pub fn expression() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        Just("1".to_string()),
        Just("2.5e3f64".to_string()),
        Just("true".to_string()),
        Just("(*)".to_string()),
        Just("f32::max".to_string()),
        "[a-d]_[a-z]{0,30}",
    ];
    leaf.prop_recursive(6, 60, 4, |inner| {
        let list = proptest::collection::vec(inner.clone(), 1..5).prop_map(|v| v.join(", "));
        let enclosed = inner.clone().prop_map(|e| format!("({e})"));
        let enclosed = proptest::collection::vec(enclosed, 1..5).prop_map(|v| v.join(", "));
        let op = proptest::sample::select(vec![
            "|>", "<<", ">>", "||", "&&", "|", "&", "^", "==", "!=", "<", "<=", ">", ">=", "+",
            "-", "*", "/", "%",
        ]);
        prop_oneof![
            (inner.clone(), op, inner.clone()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            (inner.clone(), list.clone()).prop_map(|(f, args)| format!("({f})({args})")),
            ("[f-h]_[a-z]{0,20}", list.clone()).prop_map(|(f, args)| format!("{f}({args})")),
            // Directly inside brackets `|` is a bar.
            enclosed.prop_map(|args| format!("[{args}]")),
            (inner.clone(), inner.clone())
                .prop_map(|(e, n)| format!("[ ({e}) | (i, j) in grid[{n}, 2] ]")),
            (inner.clone(), inner.clone())
                .prop_map(|(e, n)| format!("(({e}) in {{ line[{n}](i) | i < 3 }})")),
            list.prop_map(|args| format!("({args})")),
            inner.clone().prop_map(|e| format!("\\x (y, _) -> {e}")),
            inner.clone().prop_map(|e| format!("-{e}")),
            inner.clone().prop_map(|e| format!("({e}) as [f32x4; N]")),
            inner.clone().prop_map(|e| format!("({e}).0[1]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("let v = {a}; {b}")),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(a, b, c)| format!("if {a} then {b} else {c}")),
        ]
    })
    .boxed()
}
