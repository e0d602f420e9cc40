//! What a search found, told in the end: the program, and about it in comments, so that the whole is a program.

use std::path::Path;

use lift::tune::{Best, Finalist, Tuned};
use lift_explore::phase;
use serde_json::{Value, json};

use crate::rates::Rates;
use crate::run::short;

pub fn json(tuned: &Tuned, rates: &Rates) -> Value {
    let best = tuned.best.as_ref().map(|best| {
        let mut best = json!({
            "id": best.id,
            "kernel_ms": best.ms,
            "derivation": best.derivation,
            "parameters": best.parameters,
            "global": best.global,
            "local": best.local,
            "text": best.text,
        });
        rates.add_to(&mut best);
        best
    });
    let finalist = |l: &Finalist| json!({ "id": l.hash, "kernel_ms": l.ms, "ties": l.ties });
    json!({
        "best": best,
        "default_ms": tuned.default_ms,
        "finalists": tuned.progress.finalists.iter().map(finalist).collect::<Vec<Value>>(),
        "tried": tuned.progress.tried,
        "failed": tuned.progress.failed,
        "skipped": tuned.progress.skipped,
        "hopeless": tuned.progress.hopeless,
        "seconds": tuned.progress.elapsed.as_secs_f64(),
        "phases": tuned.counts,
    })
}

/// Without the program where that is in a file already.
pub fn text(tuned: &Tuned, rates: &Rates, written: Option<&Path>) -> String {
    let mut lines = match &tuned.best {
        Some(best) => about_best(best, tuned, rates),
        None if tuned.progress.tried == 0 => {
            vec!["there was no time for any candidate".to_string()]
        }
        None => vec!["no candidate was right".to_string()],
    };
    lines.push(tried(tuned));
    lines.extend(phase::in_order(&tuned.counts).iter().map(|(name, n)| format!("{name}: {n}")));
    let comments: String = lines.iter().map(|line| format!("// {line}\n")).collect();
    match (&tuned.best, written) {
        (Some(_), Some(path)) => format!("// wrote {}\n{comments}", path.display()),
        (Some(best), None) => format!("{}\n\n{comments}", best.text.trim_end()),
        (None, _) => comments,
    }
}

fn about_best(best: &Best, tuned: &Tuned, rates: &Rates) -> Vec<String> {
    let mut lines =
        vec![format!("{} ms{}{}", short(best.ms), told(rates), against_default(best, tuned))];
    if !best.parameters.is_empty() {
        lines.push(format!("parameters: {}", best.parameters.replace(',', ", ")));
    }
    let ties = tuned.progress.finalists.iter().filter(|finalist| finalist.ties).count();
    if ties > 0 {
        lines.push(format!("{ties} more may well be as fast"));
    }
    let rules = best.rules();
    if rules.is_empty() {
        lines.push("the program as it is, by default lowering".to_string());
    } else {
        lines.push(format!("derived by {} rules:", rules.len()));
        lines.extend(wrapped(&in_short(&rules)));
    }
    lines
}

/// `, 12.3 GB/s, 4.5 GFLOP/s`
fn told(rates: &Rates) -> String {
    rates.told().iter().map(|rate| format!(", {rate}")).collect()
}

/// `, 2.50 times as fast as the default lowering (0.5 ms)`
fn against_default(best: &Best, tuned: &Tuned) -> String {
    match tuned.default_ms {
        Some(ms) if best.ms > 0.0 => {
            let times = short(ms / best.ms);
            format!(", {times} times as fast as the default lowering ({} ms)", short(ms))
        }
        _ => String::new(),
    }
}

/// `10 tried in 3 s: 6 ok, 1 far slower, 1 crashed, 2 wrong`
fn tried(tuned: &Tuned) -> String {
    let progress = &tuned.progress;
    let failed: usize = progress.failed.values().sum();
    let mut kinds =
        vec![format!("{} ok", progress.tried.saturating_sub(failed + progress.skipped))];
    if progress.skipped > 0 {
        kinds.push(format!("{} far slower", progress.skipped));
    }
    kinds.extend(progress.failed.iter().map(|(kind, n)| format!("{n} {kind}")));
    let seconds = progress.elapsed.as_secs_f64();
    let hopeless = match progress.hopeless {
        0 => String::new(),
        n => format!("; {n} not run, as they are predicted to be far slower"),
    };
    format!("{} tried in {seconds:.0} s: {}{hopeless}", progress.tried, kinds.join(", "))
}

/// Without the places, and equal ones in a row as one: `split_join m = 8`, `map_fission x3`.
fn in_short(rules: &[&str]) -> Vec<String> {
    let short = |rule: &&str| {
        let (name, rest) = rule.split_once(" at ").unwrap_or((rule, ""));
        rest.split_once(", ").map_or(name.to_string(), |(_, chosen)| format!("{name} {chosen}"))
    };
    let all: Vec<String> = rules.iter().map(short).collect();
    let told = |group: &[String]| match group {
        [] => None,
        [one] => Some(one.clone()),
        [first, ..] => Some(format!("{first} x{}", group.len())),
    };
    all.chunk_by(|a, b| a == b).filter_map(told).collect()
}

/// Lines of such parts, with commas between.
fn wrapped(parts: &[String]) -> Vec<String> {
    const WIDTH: usize = 96;
    let mut lines = vec![" ".to_string()];
    for (index, part) in parts.iter().enumerate() {
        let comma = if index + 1 < parts.len() { "," } else { "" };
        match lines.last_mut() {
            Some(line) if line.len() + part.len() < WIDTH => {
                line.push_str(&format!(" {part}{comma}"));
            }
            _ => lines.push(format!("  {part}{comma}")),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_told_in_short() {
        let rules =
            ["split_join at 0.1, m = LY*RM", "copy at root", "copy at 0", "map_to_lcl at 0, d = 1"];
        assert_eq!(in_short(&rules), ["split_join m = LY*RM", "copy x2", "map_to_lcl d = 1"]);
    }

    #[test]
    fn long_lists_are_wrapped_and_nothing_is_lost() {
        let parts: Vec<String> = (0..40).map(|n| format!("rule_{n}")).collect();
        let lines = wrapped(&parts);
        assert!(lines.len() > 3 && lines.iter().all(|line| line.len() < 100));
        let words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
        assert_eq!(words.join(" "), parts.join(", "));
    }
}
