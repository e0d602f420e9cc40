//! Planning takes little: counted in what is done, for programs of users at the sizes that they are measured with.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;

use lift::{Options, Target};
use lift_clock::{like, planned};
use lift_runtime::Language;
use lift_testing::root;
use serde_json::Value;

/// Lowerings and statements that a processor goes through in about a fifth of a second.
const MOST_LOWERINGS: usize = 12;
const MOST_FOLLOWED: u64 = 640_000;

#[test]
fn every_program_of_users_is_planned_with_little_work() {
    let machine = like(Language::Cuda, 100_000).unwrap();
    let suite = fs::read_to_string(root().join("bench/suites/users.json")).unwrap();
    let suite: Value = serde_json::from_str(&suite).unwrap();
    let (mut count, mut much) = (0, Vec::new());
    for problem in suite["problems"].as_array().unwrap() {
        let program = problem["programs"][0].as_str().unwrap();
        let (file, name) = program.split_once(':').unwrap();
        let checked = lift_syntax::check_file(&root().join("programs").join(file)).unwrap();
        let def = checked.program.defs.iter().find(|def| def.name == name).unwrap();
        let large = problem["sizes"].as_array().unwrap().last().unwrap().as_object().unwrap();
        let sizes: BTreeMap<String, i128> =
            large.iter().map(|(k, v)| (k.clone(), v.as_i64().unwrap().into())).collect();
        let options = Options { target: Target::Threads, sizes, ..Options::default() };
        let found = planned(def, &options, Language::Cuda, &machine).unwrap();
        count += 1;
        if found.lowered > MOST_LOWERINGS || found.followed > MOST_FOLLOWED {
            much.push(format!("{name}: {} lowerings, {} followed", found.lowered, found.followed));
        }
    }
    assert!(count > 30, "{count}");
    assert!(much.is_empty(), "{much:#?}");
}
