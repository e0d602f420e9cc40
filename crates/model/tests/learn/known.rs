//! What is found is the truth.

use lift_model::learn::{
    Evaluation, Kind, LearnError, Sample, leave_one_out, pearson, redundancies,
};

use crate::{DEVICE, dataset, samples, three, truth};

fn evaluated(kind: Kind) -> Evaluation {
    leave_one_out(&three(), kind, 1).unwrap()
}

#[test]
fn both_models_predict_programs_that_they_have_not_seen() {
    for kind in Kind::ALL {
        let found = evaluated(kind);
        assert_eq!(found.kind, kind);
        let programs: Vec<&str> = found.programs.iter().map(|p| p.program.as_str()).collect();
        assert_eq!(programs, ["dot", "mm", "sum"]);
        for program in &found.programs {
            let sizes: Vec<&str> = program.groups.iter().map(|g| g.sizes.as_str()).collect();
            assert_eq!(sizes, ["N=256", "N=4096"]);
            for group in &program.groups {
                assert_eq!((group.measured + group.failed, group.failed), (150, 9));
                assert!(group.pearson.unwrap() > 0.9, "{kind} {}: {group:?}", program.program);
                assert!(group.spearman.unwrap() > 0.85, "{kind} {}: {group:?}", program.program);
                assert!(group.fewer_runs() > 3.0, "{kind} {}: {group:?}", program.program);
                assert!(group.less_time() > 3.0, "{kind} {}: {group:?}", program.program);
                assert!(group.first > 0.7 && group.first <= 1.0, "{group:?}");
                let runs: Vec<usize> = group.reached.iter().map(|after| after.runs).collect();
                assert_eq!(runs, [1, 2, 5, 10, 20, 50, 100], "of 150 candidates");
                let better = group.reached.iter().filter(|after| after.model >= after.random);
                assert_eq!(better.count(), runs.len(), "{group:?}");
            }
        }
        let all = found.summary();
        assert!(all.pearson.unwrap() > 0.9 && all.fewer_runs > 3.0 && all.less_time > 3.0);
    }
}

#[test]
fn the_cost_of_a_random_order_does_not_depend_on_the_model() {
    let costs = |kind| {
        let found = evaluated(kind);
        let groups = found.programs.into_iter().flat_map(|p| p.groups);
        groups.map(|g| g.random).collect::<Vec<_>>()
    };
    assert_eq!(costs(Kind::Knn), costs(Kind::Trees));
}

#[test]
fn speed_that_nothing_explains_is_not_predicted() {
    let noise = |program: &str, seed: u64| {
        let mut random = fastrand::Rng::with_seed(seed + 100);
        let mut all = samples(program, seed, truth);
        all.iter_mut().for_each(|sample| sample.ms = Some(1.0 + random.f64()));
        all
    };
    let data = dataset(noise("a", 1).into_iter().chain(noise("b", 2)));
    for kind in Kind::ALL {
        let found = leave_one_out(&data, kind, 1).unwrap().summary();
        assert!(found.pearson.unwrap().abs() < 0.25, "{kind}: {found:?}");
        assert!(found.fewer_runs < 3.0, "{kind}: {found:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_answers() {
    for kind in Kind::ALL {
        assert_eq!(evaluated(kind), evaluated(kind));
    }
    let other = leave_one_out(&three(), Kind::Trees, 2).unwrap();
    assert_ne!(other, evaluated(Kind::Trees), "the seed chooses what trees see");
}

#[test]
fn features_are_told_from_noise() {
    let found = redundancies(&three());
    let of = |name: &str| found.iter().find(|(n, _)| n == name).unwrap().1;
    assert_eq!(found[0].0, "lines", "{found:?}");
    assert!(of("lines") > 0.1 && of("occupancy") > 0.05, "{found:?}");
    assert!(of("noise") < 0.03, "{found:?}");
    assert_eq!(of("same"), 0.0);
    assert!(found.windows(2).all(|pair| pair[0].1 >= pair[1].1));
}

#[test]
fn trees_learn_what_is_not_near() {
    // Speed depends on one feature only, by steps; neighbours are led astray by the others.
    let steps: crate::Truth = |f| if f[0] > 4.0 { 0.2 } else { 0.9 };
    let data = dataset([("a", 1), ("b", 2)].into_iter().flat_map(|(p, s)| samples(p, s, steps)));
    let found = leave_one_out(&data, Kind::Trees, 1).unwrap().summary();
    assert!(found.pearson.unwrap() > 0.99, "{found:?}");
}

#[test]
fn there_must_be_measurements_of_two_programs_on_one_device() {
    let one = dataset(samples("sum", 1, truth));
    let program = "sum".to_string();
    assert_eq!(leave_one_out(&one, Kind::Knn, 1), Err(LearnError::OneProgram { program }));
    let failed = |sample: Sample| Sample { ms: None, ..sample };
    let none = dataset(samples("sum", 1, truth).into_iter().map(failed));
    assert_eq!(leave_one_out(&none, Kind::Trees, 1), Err(LearnError::NothingMeasured));
    assert_eq!(leave_one_out(&dataset([]), Kind::Trees, 1), Err(LearnError::NothingMeasured));
    let elsewhere = |sample: Sample| Sample { device: "cuda x".to_string(), ..sample };
    let other = samples("dot", 1, truth).into_iter().map(elsewhere);
    let two = dataset(samples("sum", 1, truth).into_iter().chain(other));
    let found = vec!["cuda x".to_string(), DEVICE.to_string()];
    assert_eq!(leave_one_out(&two, Kind::Knn, 1), Err(LearnError::SeveralDevices { found }));
}

#[test]
fn a_program_of_which_nothing_was_measured_is_passed_over() {
    let failed = |sample: Sample| Sample { ms: None, ..sample };
    let broken = samples("broken", 9, truth).into_iter().map(failed);
    let data = dataset(three().samples().iter().cloned().chain(broken));
    assert_eq!(leave_one_out(&data, Kind::Knn, 1), leave_one_out(&three(), Kind::Knn, 1));
}

#[test]
fn predictions_are_near_the_relative_speed() {
    let data = three();
    let predicted = lift_model::learn::predictions(&data, "mm", Kind::Trees, 1).unwrap();
    let own = data.only(|s| s.program == "mm");
    let pairs = predicted.iter().zip(own.relative());
    let (predicted, speeds): (Vec<f64>, Vec<f64>) =
        pairs.filter_map(|(p, s)| Some((*p, s?))).unzip();
    let error = predicted.iter().zip(&speeds).map(|(p, s)| (p - s).abs()).sum::<f64>();
    assert!(error / (predicted.len() as f64) < 0.05);
    assert!(pearson(&predicted, &speeds).unwrap() > 0.95);
}
