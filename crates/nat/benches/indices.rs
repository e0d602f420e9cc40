//! What a compiler asks of the arithmetic, over and over.

use lift_nat::{Facts, Nat, Var, default_facts, parse, parse_assumptions};

fn main() {
    divan::main();
}

const FACTS: &str = "N % 64 == 0, M % 64 == 0, K % 8 == 0, wy < N/64, wx < M/64, \
    ly < 8, lx < 8, ry < 8, rx < 8, t < K/8, k < 8, s < 2";
const SYMBOLIC: &str = "N % T == 0, M % T == 0, K % S == 0, wy < N/T, wx < M/T, \
    ly < T, lx < T, t < K/S, k < S";

/// Reads of the two tiles, the exchange through local memory, and the write of the result.
const INDICES: [&str; 9] = [
    "((wy*64 + ly*8 + ry)*K + t*8 + k) / K * K + ((wy*64 + ly*8 + ry)*K + t*8 + k) % K",
    "((wy*64 + ly*8 + ry)*K + t*8 + k) / K / 64",
    "((wy*64 + ly*8 + ry)*K + t*8 + k) / K % 64 / 8",
    "((wy*64 + ly*8 + ry)*K + t*8 + k) % K / 8",
    "((t*8 + k)*M + wx*64 + lx*8 + rx) % M % 64 / 8",
    "((t*8 + k)*M + wx*64 + lx*8 + rx) / (8*M)",
    "(s*64*4 + ly*32 + lx*4) / 64 * 64 + (s*64*4 + ly*32 + lx*4) % 64",
    "(((wy*(M/64) + wx)*64 + ly*8 + ry)*64 + lx*8 + rx) / 64 / 64 / (M/64) * 64",
    "(((wy*(M/64) + wx)*64 + ly*8 + ry)*64 + lx*8 + rx) / 64 / 64 % (M/64) * 64",
];
const SYMBOLIC_INDICES: [&str; 5] = [
    "((wy*T + ly)*K + t*S + k) / K / T",
    "((wy*T + ly)*K + t*S + k) / K % T",
    "((wy*T + ly)*K + t*S + k) % K / S",
    "((t*S + k)*M + wx*T + lx) % M % T",
    "((wy*(M/T) + wx)*T*T + ly*T + lx) / (T*T) % (M/T)",
];

fn setting(facts: &str, indices: &[&str]) -> (Facts, Vec<Nat>) {
    let read = |text: &&str| parse(text).expect("an expression");
    let indices: Vec<Nat> = indices.iter().map(read).collect();
    let given = parse_assumptions(facts).expect("assumptions");
    (default_facts(&indices.iter().collect::<Vec<_>>(), &given), indices)
}

#[divan::bench]
fn state_the_facts() -> Facts {
    let given = parse_assumptions(FACTS).expect("assumptions");
    default_facts(&[], &given)
}

#[divan::bench]
fn tiled_multiplication(bencher: divan::Bencher) {
    let (facts, indices) = setting(FACTS, &INDICES);
    bencher.bench(|| indices.iter().map(|n| facts.simplify(n)).collect::<Vec<_>>());
}

#[divan::bench]
fn symbolic_tiles(bencher: divan::Bencher) {
    let (facts, indices) = setting(SYMBOLIC, &SYMBOLIC_INDICES);
    bencher.bench(|| indices.iter().map(|n| facts.simplify(n)).collect::<Vec<_>>());
}

#[divan::bench]
fn compare_equal_sizes(bencher: divan::Bencher) {
    let mut facts = Facts::new();
    let v = Var::named("N");
    facts.size(&v);
    let (a, b) = (Nat::var(&v) * Nat::int(2) + Nat::ONE, Nat::ONE + Nat::var(&v) * Nat::int(2));
    bencher.bench(|| facts.equal(&a, &b));
}

#[divan::bench]
fn compare_divided_sizes(bencher: divan::Bencher) {
    let (facts, sizes) = setting("N % 64 == 0", &["N/64*64", "N"]);
    bencher.bench(|| facts.equal(&sizes[0], &sizes[1]));
}

#[divan::bench]
fn prove_in_bounds(bencher: divan::Bencher) {
    let (facts, sizes) = setting("i < N, j < M", &["i*M + j", "N*M"]);
    bencher.bench(|| facts.less(&sizes[0], &sizes[1]));
}
