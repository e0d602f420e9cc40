//! Index functions of data-layout patterns, composed as compilers compose them, come out as the
//! index a person would write.

use lift_nat::{Facts, Nat, Pred, default_facts, parse, parse_assumptions};

fn nat(text: &str) -> Nat {
    parse(text).expect("an expression")
}

fn given(text: &str) -> Vec<Pred> {
    parse_assumptions(text).expect("assumptions")
}

/// A position in nested arrays, outermost first.
type At = Vec<Nat>;

/// `join` of rows of `m`: position `i` is `(i / m, i % m)`.
fn join(mut at: At, m: &str) -> At {
    let i = at.remove(0);
    at.splice(0..0, [i.div(&nat(m)), i.rem(&nat(m))]);
    at
}

/// `split` into rows of `n`: position `(i, j)` is `i * n + j`.
fn split(mut at: At, n: &str) -> At {
    let (i, j) = (at.remove(0), at.remove(0));
    at.insert(0, i * nat(n) + j);
    at
}

fn transpose(mut at: At) -> At {
    at.swap(0, 1);
    at
}

/// A layout under a `map`: the outermost index is not touched.
fn map(mut at: At, f: impl FnOnce(At) -> At) -> At {
    let first = at.remove(0);
    let mut at = f(at);
    at.insert(0, first);
    at
}

/// `[n][m]` in tiles `[n/h][m/w][h][w]`.
fn tile(at: At, h: &str, w: &str) -> At {
    // split(h), then split(w) inside, then the two middle dimensions change places
    let at = map(at, transpose);
    let at = map(at, |at| map(at, |at| split(at, w)));
    split(at, h)
}

fn untile(at: At, h: &str, w: &str) -> At {
    let at = join(at, h);
    let at = map(at, |at| map(at, |at| join(at, w)));
    map(at, transpose)
}

fn flat(at: At, m: &str) -> Nat {
    let at = split(at, m);
    at.into_iter().next().expect("a position")
}

fn at(text: &str) -> At {
    text.split(',').map(|t| nat(t.trim())).collect()
}

fn facts(n: &Nat, assumed: &str) -> Facts {
    default_facts(&[n], &given(assumed))
}

#[track_caller]
fn is(n: &Nat, assumed: &str, expected: &str) {
    let facts = facts(n, assumed);
    let simple = facts.simplify(n);
    assert_eq!(simple.to_string(), expected, "\n{n}\n[{assumed}]");
}

#[track_caller]
fn comes_out(text: &str, assumed: &str, expected: &str) {
    is(&nat(text), assumed, expected);
}

const TILES: &str = "y < N/h, x < M/w, a < h, b < w, N % h == 0, M % w == 0, h >= 1, w >= 1";

#[test]
fn a_tile_of_a_matrix() {
    let index = flat(tile(at("y, x, a, b"), "h", "w"), "M");
    is(&index, TILES, "h*y*M + a*M + w*x + b");
}

#[test]
fn flattening_and_splitting_again_is_nothing() {
    // The linear position of the tile's element, split into rows again and flattened again.
    let index = flat(tile(at("y, x, a, b"), "h", "w"), "M");
    let again = flat(join(vec![index.clone()], "M"), "M");
    is(&again, TILES, &index.to_string());
    let rows = join(vec![index], "M");
    is(&rows[0], TILES, "h*y + a");
    is(&rows[1], TILES, "w*x + b");
}

#[test]
fn tiles_of_tiles_joined_again_are_the_matrix() {
    for (h, w, assumed) in [
        ("h", "w", "i < N, j < M, N % h == 0, M % w == 0, h >= 1, w >= 1"),
        ("16", "32", "i < N, j < M, N % 16 == 0, M % 32 == 0"),
        ("16", "32", "i < N, j < M"),
    ] {
        let through = tile(untile(at("i, j"), h, w), h, w);
        is(&through[0], assumed, "i");
        is(&through[1], assumed, "j");
        let back = untile(tile(at("y, x, a, b"), h, w), h, w);
        let assumed = "a < h, b < w, h >= 1, w >= 1".replace('h', h).replace('w', w);
        for (n, expected) in back.iter().zip(["y", "x", "a", "b"]) {
            is(n, &assumed, expected);
        }
    }
}

#[test]
fn two_levels_of_blocking() {
    let assumed = "N % 64 == 0, K % 8 == 0, wg < N/64, l < 8, r < 8, t < K/8, k < 8";
    // [N][K] in rows of 64, each in 8 of 8; columns in tiles of 8.
    let row = split(split(at("wg, l, r"), "8"), "8").remove(0);
    is(&row, assumed, "64*wg + 8*l + r");
    let index = row * nat("K") + split(at("t, k"), "8").remove(0);
    let back = join(vec![index.clone()], "K");
    is(&back[0].div(&nat("64")), assumed, "wg");
    is(&back[0].rem(&nat("64")).div(&nat("8")), assumed, "l");
    is(&back[0].rem(&nat("8")), assumed, "r");
    is(&back[1].div(&nat("8")), assumed, "t");
    is(&back[1].rem(&nat("8")), assumed, "k");
}

#[test]
fn threads_share_the_loading_of_a_tile() {
    let assumed = "ly < 16, lx < 16, s < 4";
    let e = nat("(16*ly + lx) + 256*s");
    is(&e.div(&nat("256")), assumed, "s");
    is(&e.rem(&nat("16")), assumed, "lx");
    is(&e.div(&nat("16")), assumed, "16*s + ly");
    is(&e.rem(&nat("256")).div(&nat("16")), assumed, "ly");
    is(&e.div(&nat("16")).rem(&nat("16")), assumed, "ly");
    comes_out("(l + 256*s) / 32", "l < 256", "8*s + l / 32");
    comes_out("(l + 256*s) % 32", "l < 256", "l % 32");
}

#[test]
fn linearised_positions_come_apart() {
    let assumed = "i < N, j < M, k < K";
    comes_out("((i*M + j)*K + k) / (M*K)", assumed, "i");
    comes_out("((i*M + j)*K + k) % (M*K) / K", assumed, "j");
    comes_out("((i*M + j)*K + k) / K % M", assumed, "j");
    comes_out("((i*M + j)*K + k) % K", assumed, "k");
    comes_out("((i*M + j)*K + k) / (N*M*K)", assumed, "0");
    comes_out("((i*M + j)*K + k) % (N*M*K)", assumed, "i*K*M + j*K + k");
    comes_out("(i*M + j) / (M*K)", "j < M", "i / K");
    comes_out("(i*M + j) % (M*K)", "j < M", "M*(i % K) + j");
    comes_out("(a*3 + b) / 6", "b < 3", "a / 2");
}

#[test]
fn strides_and_reversals() {
    comes_out("(n - 1 - i + n*j) / n", "i < n", "j");
    comes_out("(n - 1 - i + n*j) % n", "i < n", "n - i - 1");
    comes_out("N - 1 - (N - 1 - i)", "i < N", "i");
    // A strided order and back.
    let stride = |i: &str| format!("(({i}) / (n/s) + s*(({i}) % (n/s)))");
    let assumed = "a < s, b < n/s, n % s == 0, s >= 1, n >= 1";
    comes_out(&stride("a*(n/s) + b"), assumed, "b*s + a");
    let back = |i: &str| format!("(({i}) / s + (n/s)*(({i}) % s))");
    comes_out(&back(&stride("i")), "i < n, n % s == 0, s >= 1, n >= 1", "i");
}

#[test]
fn windows_and_borders() {
    comes_out("max(0, min(i - 1, N - 1))", "1 <= i, i <= N", "i - 1");
    comes_out("min(i, N - 1)", "i < N", "i");
    comes_out("max(i + 1, N)", "i < N", "N");
    comes_out("if i < N then i % N else 0", "", "if i < N then i else 0");
    comes_out("if i < N then i else 0", "i < N", "i");
    comes_out("(N - 3 + 1) / 1", "N >= 3", "N - 2");
    comes_out("(W + 2 - 18) / 16 + 1", "W % 16 == 0", "W / 16");
    comes_out("((N - 2) / 16) * 16 + 2", "(N - 2) % 16 == 0", "N");
    comes_out("(16*t + i) / 18", "t < 1, i < 18", "0");
}

#[test]
fn repeated_remainders_and_quotients() {
    comes_out("(a % (b*c)) % b", "b >= 1, c >= 1", "a % b");
    comes_out("(a % (b*c)) / b", "b >= 1, c >= 1", "a / b % c");
    comes_out("a / b / c", "", "a / (b*c)");
    comes_out("a % n % n", "n >= 1", "a % n");
    comes_out("a / n % n % n", "n >= 1", "a / n % n");
    comes_out("(a % n + n) % n", "n >= 1", "a % n");
    comes_out("(a % 4) / 4", "", "0");
    comes_out("(x*n + y*n + z) % n", "n >= 1", "z % n");
    comes_out("(i + 5) % 4", "", "(i + 1) % 4");
    comes_out("(4*(i/4) + i%4) * 2", "", "2*i");
}

#[test]
fn facts_about_divisibility_compose() {
    comes_out("N % 12", "N % 4 == 0, N % 6 == 0", "0");
    comes_out("N % 4", "N % T == 0, T % 4 == 0", "0");
    comes_out("N / T * T", "N % T == 0, T % 4 == 0", "N");
    comes_out("N / 4 * 4", "N % T == 0, T % 4 == 0", "N");
    comes_out("(M*K) / 4 * 4", "M*K % 4 == 0", "K*M");
    comes_out("(M*K*3 + 8) % 4", "M*K % 4 == 0", "0");
    comes_out("N / M", "N == 2*M", "2");
    comes_out("N / 3", "2*N == 3*M", "M / 2");
    comes_out("N + N/128", "N % 128 == 0", "N + N / 128");
    comes_out("(N + 2) / 4", "N % 128 == 0", "N / 4");
    comes_out("N*M / (N/4)", "N % 4 == 0", "4*M");
    comes_out("(i + j*(N/4)) / (N/4)", "N % 4 == 0, i < N/4", "j");
    comes_out("(N/4)*4 + N%4", "", "N");
}
