//! Which programs are measured, at which sizes, against whom.

use std::collections::BTreeSet;

use lift_syntax::diagnostic::Diagnostic;
use lift_syntax::suggest::did_you_mean;

use crate::suite::{Point, Problem, Program, Suite};

/// One program of a problem at a size.
pub struct Case<'s> {
    pub suite: &'s str,
    pub problem: &'s Problem,
    pub program: &'s Program,
    pub point: Point,
    pub peers: Vec<String>,
}

impl Case<'_> {
    /// The name of the definition, as far as it is known without reading the file.
    pub fn name(&self) -> String {
        self.program.name()
    }

    fn is_named(&self, name: &str) -> bool {
        self.name() == name || self.problem.name == name
    }
}

/// What of the suites is asked for.
pub struct Selection {
    /// Programs and problems; all where there are none.
    pub only: Vec<String>,
    pub at: At,
    /// Instead of the suites' own peers.
    pub against: Option<Vec<String>>,
    /// Whether it is for a GPU.
    pub gpu: bool,
}

/// At which of a problem's sizes.
pub enum At {
    All,
    Smallest,
    Largest,
    Quick,
    /// These, for the problems that have sizes of these names.
    Given(Point),
}

impl Selection {
    /// What is to be measured, programs of a problem beside one another.
    pub fn cases<'s>(&self, suites: &'s [Suite]) -> Vec<Case<'s>> {
        let mut cases = Vec::new();
        for suite in suites {
            for problem in &suite.problems {
                let own = if self.gpu { &problem.peers.gpu } else { &problem.peers.cpu };
                let peers = self.against.as_ref().unwrap_or(own);
                for point in self.at.points(problem) {
                    for program in &problem.programs {
                        let (peers, point) = (peers.clone(), point.clone());
                        cases.push(Case { suite: &suite.name, problem, program, point, peers });
                    }
                }
            }
        }
        cases.retain(|case| self.only.is_empty() || self.only.iter().any(|n| case.is_named(n)));
        // Problems of one suite that differ in sizes alone are the same at given ones.
        let mut known = BTreeSet::new();
        cases.retain(|Case { suite, problem, program, point, .. }| {
            known.insert((
                *suite,
                &problem.name,
                &program.file,
                &program.entry,
                point.sizes.clone(),
            ))
        });
        cases
    }

    /// Names that are asked for and nobody has are mistakes.
    pub fn check(&self, suites: &[Suite]) -> Result<(), Diagnostic> {
        let mut known = BTreeSet::new();
        for problem in suites.iter().flat_map(|s| &s.problems) {
            known.insert(problem.name.clone());
            known.extend(problem.programs.iter().map(Program::name));
        }
        let Some(name) = self.only.iter().find(|name| !known.contains(*name)) else {
            return Ok(());
        };
        let mistake = Diagnostic::error(format!("the suite has no program or problem `{name}`"));
        Err(match did_you_mean(name, known.iter().map(String::as_str)) {
            Some(help) => mistake.help(help),
            None => mistake,
        })
    }
}

impl At {
    fn points(&self, problem: &Problem) -> Vec<Point> {
        let all = &problem.sizes;
        match self {
            At::All => all.clone(),
            At::Smallest => all.first().cloned().into_iter().collect(),
            At::Largest => all.last().cloned().into_iter().collect(),
            At::Quick => vec![problem.quick.clone()],
            At::Given(point) => {
                let fits = point.sizes.keys().eq(problem.quick.sizes.keys());
                if fits { vec![point.clone()] } else { Vec::new() }
            }
        }
    }
}

/// Every peer of the cases, in the order of their first mention.
pub fn peers_of(cases: &[Case]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let all = cases.iter().flat_map(|case| &case.peers);
    all.filter(|name| seen.insert(*name)).cloned().collect()
}
