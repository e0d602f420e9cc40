//! What work-items of a warp give each other is counted: the way it goes, and how long the next step waits.
#![allow(clippy::unwrap_used)]

use lift_clock::{Counts, Description, Sizes, Time, like, predict_kernel};
use lift_runtime::Language;

/// A warp that folds numbers of a type so many times.
fn folded(ty: &str, times: usize) -> (Counts, Time) {
    let step =
        |k: usize| format!("var other{k}: {ty} = shuffle(16: acc)\nacc = (acc + other{k})\n");
    let text = format!(
        "kernel k(read global x: {ty}[N] align 16, write global r: {ty}[N] align 16, N: size)
           launch local(32) global(N) threads
         {{
           thread wg0 = group(0) below N / 32
           thread l0 = local(0) below 32
           var acc: {ty} = x[32*wg0 + l0]
           {}
           r[32*wg0 + l0] = acc
         }}",
        (0..times).map(step).collect::<String>()
    );
    let kernels = lift_kernel::read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let sizes = Sizes::from([("N".to_string(), 1 << 20)]);
    let found = predict_kernel(&kernels[0], &sizes, &machine()).unwrap();
    (found.kernels[0].counts.clone(), found.kernels[0].time.clone())
}

fn machine() -> Description {
    like(Language::Cuda, 100_000).unwrap()
}

#[test]
fn a_word_of_each_lane_goes_the_way_of_local_memory() {
    let warps = f64::from(1 << 15);
    assert_eq!(folded("f32", 0).0.local_rounds, 0.0);
    assert_eq!(folded("f32", 5).0.local_rounds, 5.0 * warps);
    assert_eq!(folded("f64", 5).0.local_rounds, 10.0 * warps);
    let local = |time: Time| time.components["local"];
    assert_eq!(2.0 * local(folded("f32", 5).1), local(folded("f64", 5).1));
}

/// A sum and a shuffle wait for each other as long as seven sums do.
#[test]
fn the_next_step_waits_for_a_shuffle() {
    let (counts, _) = folded("f32", 20);
    assert_eq!(counts.chain["shuffle"], 20.0);
    assert_eq!(counts.chain["f32.add"], 20.0);
    let waits = |times: usize| folded("f32", times).1.components["latency"];
    let each = (waits(40) - waits(20)) / 20.0;
    // In each of the waves.
    let seven = 7.0 * machine().get("f32.add.latency").unwrap() * 1e-6;
    assert!(each >= 0.999 * seven, "{each} {seven}");
}
