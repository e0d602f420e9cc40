//! How soon searches find a good candidate, replayed on what databases hold: median over 20 seeds of the trials until
//! one has 90 % of the best speed.
//!
//! cargo run --release -p lift-lang-explore --example replay -- tune.db ...

use std::error::Error;

use lift_explore::tune::{Learning, Random, RecordedSpace, Search};
use lift_store::Store;

const SEEDS: u64 = 20;
const SHARE: f64 = 0.9;

fn main() -> Result<(), Box<dyn Error>> {
    println!("| program | sizes | candidates | random | learning |");
    println!("|---|---|---|---|---|");
    for path in std::env::args().skip(1) {
        let store = Store::open(&path)?;
        for problem in store.problems()? {
            let key = store.key(problem)?;
            let recorded = RecordedSpace::new(&store, problem)?;
            let sizes: Vec<String> = key.sizes.values().map(ToString::to_string).collect();
            println!(
                "| `{}` | {} | {} | {} | {} |",
                key.name,
                sizes.join(" x "),
                recorded.len(),
                median(&recorded, Random::new),
                median(&recorded, Learning::new),
            );
        }
    }
    Ok(())
}

fn median<S: Search>(recorded: &RecordedSpace, search: fn(u64) -> S) -> f64 {
    let mut trials: Vec<usize> =
        (0..SEEDS).map(|seed| recorded.trials_to(SHARE, search(seed))).collect();
    trials.sort_unstable();
    let middle = trials.len() / 2;
    (trials[middle - 1] + trials[middle]) as f64 / 2.0
}
