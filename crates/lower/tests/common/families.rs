//! Programs of any length, in families: what compiling them costs is to grow with their length alone.

/// A family: its name, and its program of length n.
pub type Family = (&'static str, fn(usize) -> String);

pub const FAMILIES: [Family; 12] = [
    ("maps", maps),
    ("integer_maps", integer_maps),
    ("horner", horner),
    ("additions", additions),
    ("scalar_lets", scalar_lets),
    ("conditions", conditions),
    ("generates", generates),
    ("piped_generates", piped_generates),
    ("fourier", fourier),
    ("bitonic", bitonic),
    ("stencils", stencils),
    ("rows", rows),
];

const HEAD: &str = "def main[N](x: [f32; N]) -> [f32; N] =\n";

fn repeated(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}

fn maps(n: usize) -> String {
    let chain = repeated(n, |_| " |> map(\\a -> a * c + 1.0)".into());
    format!("def main[N](x: [f32; N], c: f32) -> [f32; N] =\n  x{chain};\n")
}

fn integer_maps(n: usize) -> String {
    let chain = repeated(n, |k| format!(" |> map(\\a -> a * c - {k})"));
    format!("def main[N](x: [i32; N], c: i32) -> [i32; N] =\n  x{chain};\n")
}

fn horner(n: usize) -> String {
    let value = (0..n).fold("1.0".to_string(), |inner, k| format!("({inner} * a + {k}.5)"));
    format!("{HEAD}  x |> map(\\a -> {value});\n")
}

fn additions(n: usize) -> String {
    let more = repeated(n, |_| " + a".into());
    format!("{HEAD}  x |> map(\\a -> a{more});\n")
}

fn scalar_lets(n: usize) -> String {
    let lets = repeated(n, |k| format!("let a{} = a{k} * a{k} + 0.5; ", k + 1));
    format!("{HEAD}  x |> map(\\a0 -> {lets}a{n});\n")
}

fn conditions(n: usize) -> String {
    let chain = repeated(n, |k| format!(" |> map(\\a -> if a > {k}.0 then a * 0.5 else a + 1.0)"));
    format!("{HEAD}  x{chain};\n")
}

fn generates(n: usize) -> String {
    let lets = repeated(n, |k| {
        let (y, next) = (format!("y{k}"), k + 1);
        format!("  let y{next} = generate(N, \\i -> {y}[i] + {y}[(i + {next}) % N]);\n")
    });
    format!("{HEAD}  let y0 = x;\n{lets}  y{n};\n")
}

fn piped_generates(n: usize) -> String {
    let chain =
        repeated(n, |k| format!(" |> (\\y -> generate(N, \\i -> y[i] + y[(i + {}) % N]))", k + 1));
    format!("{HEAD}  x{chain};\n")
}

/// Stockham's steps, the numbers as pairs.
fn fourier(n: usize) -> String {
    let steps = repeated(n, |k| {
        let half = 1u64 << (k % 10);
        format!(
            " |> (\\y -> generate(N, \\o -> let a = y[o / {} * {half} + o % {half}]; let b = y[(o / {} * {half} + o % {half} + N / 2) % N]; if o / {half} % 2 == 1 then (a.0 - b.0, a.1 - b.1) else (a.0 + b.0, a.1 + b.1)))",
            2 * half,
            2 * half
        )
    });
    format!("def main[N](x: [(f32, f32); N]) -> [(f32, f32); N] =\n  x{steps};\n")
}

fn bitonic(n: usize) -> String {
    let passes = repeated(n, |k| {
        let far = 1u64 << (k % 10);
        format!(
            " |> (\\y -> generate(N, \\i -> let low = i / {far} % 2 == 0; let other = if low then (i + {far}) % N else i - {far}; if low then min(y[i], y[other]) else max(y[i], y[other])))"
        )
    });
    format!("{HEAD}  x{passes};\n")
}

fn stencils(n: usize) -> String {
    let chain = repeated(n, |_| {
        " |> pad(1, 1, clamp) |> slide(3, 1) |> map(\\w -> w[0] * 0.25 + w[1] * 0.5 + w[2] * 0.25)"
            .into()
    });
    format!("{HEAD}  x{chain};\n")
}

/// What is computed for rows is read by all of their elements, and again by the next step.
fn rows(n: usize) -> String {
    let chain = repeated(n, |_| {
        " |> map(\\row -> let e = row |> map(\\a -> exp(a)); let s = e |> reduce(0.0, (+)); e |> map(\\a -> a / s))".into()
    });
    format!("def main[N](x: [[f32; N]; N]) -> [[f32; N]; N] =\n  x{chain};\n")
}
