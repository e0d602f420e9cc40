//! How far the search is: a bar on a terminal, lines elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use lift::tune::Progress;

use crate::report::remark;
use crate::run::short;

/// Where there is no terminal, a line that says nothing new comes so often.
const SILENCE: Duration = Duration::from_secs(10);

/// How often the clock on the bar goes on.
const TICK: Duration = Duration::from_millis(250);

pub struct Show {
    budget: Budget,
    bar: Option<ProgressBar>,
    best: Option<f64>,
    last: Instant,
}

impl Show {
    pub fn new(trials: usize, time: Option<Duration>) -> Show {
        let bar = std::io::stderr().is_terminal().then(|| bar(trials));
        Show { budget: Budget { trials, time }, bar, best: None, last: Instant::now() }
    }

    /// The bar, where there is one.
    pub fn bar(&self) -> Option<ProgressBar> {
        self.bar.clone()
    }

    pub fn tell(&mut self, progress: &Progress) {
        let text = self.budget.line(progress);
        if let Some(bar) = &self.bar {
            bar.set_position(progress.tried as u64);
            bar.set_message(text);
        } else if self.best != progress.best_ms || self.last.elapsed() > SILENCE {
            remark(&format!("{} of {} tried, {text}", progress.tried, self.budget.trials));
            self.last = Instant::now();
        }
        self.best = progress.best_ms;
    }

    /// Makes room for what comes next.
    pub fn done(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(trials: usize) -> ProgressBar {
    let bar = ProgressBar::new(trials as u64);
    let style = ProgressStyle::with_template("{elapsed} {wide_bar} {pos}/{len} {msg}");
    // The template is a constant; were it wrong, the usual bar would do.
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(TICK);
    bar
}

/// What may be spent.
struct Budget {
    trials: usize,
    time: Option<Duration>,
}

impl Budget {
    /// `3 failed (2 wrong, 1 crashed), best 0.1234 ms, about 12 s left`
    fn line(&self, progress: &Progress) -> String {
        let best =
            progress.best_ms.map_or("none yet".to_string(), |ms| format!("{} ms", short(ms)));
        let left = self
            .left(progress)
            .map_or(String::new(), |left| format!(", about {} s left", left.as_secs_f64().ceil()));
        format!("{}, best {best}{left}", failures(progress))
    }

    /// How long it may still take at this pace; nothing before there is a pace.
    fn left(&self, progress: &Progress) -> Option<Duration> {
        let of_trials = progress.tried as f64 / self.trials.max(1) as f64;
        let elapsed = progress.elapsed.as_secs_f64();
        let of_time = self.time.map_or(0.0, |time| elapsed / time.as_secs_f64());
        let done = of_trials.max(of_time).min(1.0);
        Duration::try_from_secs_f64(elapsed / done - elapsed).ok()
    }
}

/// `3 failed (1 crashed, 2 wrong), 4 far slower`
fn failures(progress: &Progress) -> String {
    let mut text = format!("{} failed", progress.failed.values().sum::<usize>());
    if !progress.failed.is_empty() {
        let kinds: Vec<String> =
            progress.failed.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        text.push_str(&format!(" ({})", kinds.join(", ")));
    }
    if progress.skipped > 0 {
        text.push_str(&format!(", {} far slower", progress.skipped));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(tried: usize, seconds: u64) -> Progress {
        let elapsed = Duration::from_secs(seconds);
        Progress { tried, elapsed, ..Progress::default() }
    }

    fn left(trials: usize, time: Option<u64>, progress: &Progress) -> Option<u64> {
        let budget = Budget { trials, time: time.map(Duration::from_secs) };
        budget.left(progress).map(|left| left.as_secs())
    }

    #[test]
    fn the_estimate_follows_what_runs_out_first() {
        assert_eq!(left(100, None, &progress(25, 10)), Some(30));
        assert_eq!(left(100, Some(20), &progress(25, 10)), Some(10));
        assert_eq!(left(100, Some(1000), &progress(25, 10)), Some(30));
        assert_eq!(left(100, None, &progress(100, 10)), Some(0));
        assert_eq!(left(100, Some(5), &progress(1, 10)), Some(0));
        assert_eq!(left(100, None, &progress(0, 10)), None);
    }

    #[test]
    fn a_line_says_what_failed_and_how() {
        let mut now = progress(5, 10);
        let budget = Budget { trials: 10, time: None };
        assert_eq!(budget.line(&now), "0 failed, best none yet, about 10 s left");
        now.best_ms = Some(0.25);
        now.failed = [("wrong".to_string(), 2), ("crashed".to_string(), 1)].into();
        assert_eq!(
            budget.line(&now),
            "3 failed (1 crashed, 2 wrong), best 0.2500 ms, about 10 s left"
        );
        (now.failed, now.skipped) = (Default::default(), 4);
        assert_eq!(budget.line(&now), "0 failed, 4 far slower, best 0.2500 ms, about 10 s left");
    }
}
