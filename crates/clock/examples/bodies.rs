//! Prints the bodies of a set: `cargo run -p lift-clock --example bodies a 6 102`.

use lift_clock::bodies::{Set, programs};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize| args.get(k).and_then(|n| n.parse::<u64>().ok()).unwrap_or(1);
    let set = match args.first().map(String::as_str) {
        Some("a") => Set::A,
        Some("b") => Set::B,
        _ => Set::D,
    };
    for text in programs(set, number(1) as usize, number(2)) {
        println!("{text}");
    }
}
