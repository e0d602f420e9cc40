//! A model knows nothing about the program that is left out.

use lift_model::learn::{Dataset, Kind, Sample, Trained, leave_one_out, predictions};

use crate::{dataset, samples, three, truth};

/// What is predicted for `mm` when it is left out.
fn predicted(data: &Dataset, kind: Kind) -> Vec<f64> {
    predictions(data, "mm", kind, 1).unwrap()
}

/// The data with the samples of `mm` changed.
fn with_other_mm(change: impl Fn(usize, &Sample) -> Sample) -> Dataset {
    let changed = |(k, sample): (usize, &Sample)| match sample.program.as_str() {
        "mm" => change(k, sample),
        _ => sample.clone(),
    };
    dataset(three().samples().iter().enumerate().map(changed))
}

#[test]
fn its_times_do_not_matter() {
    let other = with_other_mm(|k, sample| Sample {
        ms: (!k.is_multiple_of(3)).then_some(1.0 + k as f64),
        ..sample.clone()
    });
    for kind in Kind::ALL {
        assert_eq!(predicted(&three(), kind), predicted(&other, kind), "{kind}");
    }
}

/// Means, deviations, components and bins would see candidates that are far from all others.
#[test]
fn its_other_candidates_do_not_matter() {
    let far = |sample: &Sample| {
        let features = sample.features.iter().enumerate();
        let features = features.map(|(k, value)| value * 10.0_f64.powi(6 + 3 * k as i32)).collect();
        Sample { features, ..sample.clone() }
    };
    let outliers: Vec<Sample> =
        three().samples().iter().filter(|s| s.program == "mm").map(far).collect();
    let count = outliers.len();
    let more = dataset(three().samples().iter().cloned().chain(outliers));
    for kind in Kind::ALL {
        let found = predicted(&more, kind);
        assert_eq!(found[..count], predicted(&three(), kind), "{kind}");
    }
}

#[test]
fn the_model_is_the_one_fitted_to_the_others() {
    let data = three();
    for kind in Kind::ALL {
        let others = Trained::fit(kind, &data.only(|s| s.program != "mm"), 1).unwrap();
        let own = data.samples().iter().filter(|s| s.program == "mm");
        let asked: Vec<f64> = own.map(|s| others.predict(&s.features)).collect();
        assert_eq!(predicted(&data, kind), asked, "{kind}");
    }
}

/// A program in which the slow ones are fast: who has seen it predicts it, who has not is wrong.
#[test]
fn a_program_unlike_all_others_is_predicted_wrongly() {
    let upside_down: crate::Truth = |f| 1.2 - truth(f);
    let others = samples("dot", 1, truth).into_iter().chain(samples("sum", 3, truth));
    let data = dataset(others.chain(samples("odd", 5, upside_down)));
    for kind in Kind::ALL {
        let found = leave_one_out(&data, kind, 1).unwrap();
        let odd = found.programs.iter().find(|p| p.program == "odd").unwrap();
        assert!(odd.summary().pearson.unwrap() < -0.5, "{kind}: {odd:?}");
    }
}
