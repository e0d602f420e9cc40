//! What a search records: candidates, measurements and itself, as the store has them.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use lift_ir::LaunchClause;
use lift_store::{Durations, Measurement, Outcome, Run};

use super::choose::Choice;
use super::{Progress, Request};
use crate::candidate::Candidate;
use crate::measure::{Measured, Verdict};
use crate::phase::Phase;
use crate::space::Space;

/// How many there were on the way, by phase.
pub fn counts(space: &Space, progress: &Progress) -> BTreeMap<String, u64> {
    let measured = [
        (Phase::Measured, progress.tried),
        (Phase::WithTheKernelsOfAnother, progress.same_kernels),
    ];
    let all = space.counts.iter().map(|(phase, n)| (*phase, *n)).chain(measured);
    all.map(|(phase, n)| (phase.name().to_string(), n as u64)).collect()
}

pub(super) fn run_of(request: &Request) -> Run {
    let time = request.timetable.time();
    let time = time.map_or(String::new(), |t| format!(", {} s", t.as_secs_f64()));
    Run {
        method: request.method.name().to_string(),
        seed: request.seed,
        budget: format!("{} trials{time}", request.trials),
        version: request.version.clone(),
        started: now(),
    }
}

pub(super) fn stored(candidate: &Candidate) -> lift_store::Candidate {
    let listed = |counts: &dyn Fn(&lift_ir::Launch) -> Vec<lift_ir::Nat>| {
        let launch = |l: &lift_ir::Launch| {
            counts(l).iter().map(ToString::to_string).collect::<Vec<String>>().join(",")
        };
        candidate.def.launches.iter().map(launch).collect::<Vec<String>>().join("; ")
    };
    lift_store::Candidate {
        hash: candidate.hash.clone(),
        text: candidate.text.clone(),
        derivation: candidate.derivation.clone(),
        parameters: candidate.listed(),
        global: listed(&|l| l.get(LaunchClause::Global).to_vec()),
        local: listed(&|l| l.get(LaunchClause::Local).to_vec()),
        kernel_hash: candidate.kernel_hash.clone(),
    }
}

/// How long it took to choose a candidate and to measure it, where a worker came to an end with it.
pub(super) fn durations(choice: &Choice, measured: &Measured) -> Option<Durations> {
    let ms = |time: std::time::Duration| time.as_secs_f64() * 1000.0;
    let took = measured.took?;
    Some(Durations {
        choose_ms: ms(choice.took),
        compile_ms: ms(took.compile),
        run_ms: ms(took.run),
        compare_ms: ms(took.compare),
    })
}

/// A verdict as it is kept: measured on this host, unless a worker elsewhere says which, with inputs from this seed.
pub fn measurement_of(measured: &Measured, seed: u64, host: &str) -> Measurement {
    let (outcome, message, samples) = match &measured.verdict {
        Verdict::Ok { samples_ms } => (Outcome::Ok, String::new(), samples_ms.clone()),
        // One run was timed, and it is enough to know.
        Verdict::TooSlow { ms } => (Outcome::Skipped, format!("far slower: {ms} ms"), vec![*ms]),
        Verdict::Wrong(how) => (Outcome::Wrong, how.clone(), Vec::new()),
        Verdict::Crashed(how) => (Outcome::Crashed, how.clone(), Vec::new()),
        Verdict::Lost(who) => (Outcome::Lost, who.clone(), Vec::new()),
        Verdict::TimedOut { after_s, .. } => {
            (Outcome::TimedOut, format!("killed after {after_s} s"), Vec::new())
        }
        Verdict::Refused(why) => (Outcome::Refused, why.clone(), Vec::new()),
        Verdict::FailedToCompile(why) => (Outcome::FailedToCompile, why.clone(), Vec::new()),
        Verdict::OutOfResources(why) => (Outcome::OutOfResources, why.clone(), Vec::new()),
    };
    let host = measured.host.clone().unwrap_or_else(|| host.to_string());
    Measurement { outcome, message, samples, started: now(), seed, host }
}

/// Seconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
