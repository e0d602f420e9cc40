//! Models as files, and which are refused.

use lift_model::learn::{Dataset, Kind, Layout, LearnError, Sample, Trained};
use serde_json::Value;

use crate::{DEVICE, dataset, layout, samples, three, truth};

fn trained(kind: Kind) -> Trained {
    Trained::fit(kind, &three(), 1).unwrap()
}

/// The text of a model after an edit.
fn edited(kind: Kind, edit: impl Fn(&mut Value)) -> String {
    let mut value: Value = serde_json::from_str(&trained(kind).to_json()).unwrap();
    edit(&mut value);
    value.to_string()
}

fn refusal(text: &str) -> LearnError {
    Trained::read(text, &layout()).unwrap_err()
}

#[test]
fn a_model_read_back_says_the_same() {
    for kind in Kind::ALL {
        let model = trained(kind);
        let read = Trained::read(&model.to_json(), &layout()).unwrap();
        assert_eq!(read, model);
        assert_eq!(read.to_json(), model.to_json());
        assert_eq!((read.kind(), read.device.as_str()), (kind, DEVICE));
        assert_eq!(read.programs, ["dot", "mm", "sum"]);
        assert_eq!(read.samples, three().measured().1.len());
        for sample in three().samples() {
            assert_eq!(read.predict(&sample.features), model.predict(&sample.features));
        }
    }
}

#[test]
fn the_file_says_what_it_is() {
    let value: Value = serde_json::from_str(&trained(Kind::Trees).to_json()).unwrap();
    assert_eq!(value["format"], 2);
    assert_eq!(value["kind"], "trees");
    assert_eq!(value["device"], DEVICE);
    assert_eq!(value["feature_version"], 1);
    assert_eq!(value["features"], Value::from(layout().names));
}

#[test]
fn the_same_data_and_seed_give_the_same_bytes() {
    for kind in Kind::ALL {
        assert_eq!(trained(kind).to_json(), trained(kind).to_json());
    }
}

#[test]
fn what_is_no_model_is_refused() {
    let whole = trained(Kind::Knn).to_json();
    for text in ["", "hello", "{}", "[1, 2]", &whole[..whole.len() / 2]] {
        let error = refusal(text);
        assert!(matches!(error, LearnError::NotAModel { .. }), "{text}: {error}");
        assert!(error.to_string().contains("lift model train"), "{error}");
    }
    let unknown = edited(Kind::Knn, |value| value["kind"] = "crystal ball".into());
    assert!(matches!(refusal(&unknown), LearnError::NotAModel { .. }));
    let newer = edited(Kind::Knn, |value| value["format"] = 3.into());
    assert_eq!(refusal(&newer), LearnError::NewerFormat { found: 3, known: 2 });
    let older = edited(Kind::Knn, |value| value["format"] = 1.into());
    assert!(refusal(&older).to_string().contains("has no checksum"), "{}", refusal(&older));
}

/// Every number and every text, wherever it stands.
#[test]
fn a_model_of_which_anything_was_changed_is_refused() {
    for kind in Kind::ALL {
        let whole: Value = serde_json::from_str(&trained(kind).to_json()).unwrap();
        let places = places(&whole, String::new());
        // The first and last of long lists stand for those between.
        let (few, step) = (200, places.len().div_ceil(200));
        assert!(places.len() >= few.min(50));
        for place in places.iter().step_by(step) {
            let mut value = whole.clone();
            let part = value.pointer_mut(place).unwrap();
            *part = changed(part);
            assert!(Trained::read(&value.to_string(), &layout()).is_err(), "{kind}: {place}");
        }
        let mut value = whole.clone();
        value.as_object_mut().unwrap().remove("checksum");
        let error = refusal(&value.to_string());
        assert!(error.to_string().contains("it was altered"), "{error}");
        assert_eq!(Trained::read(&whole.to_string(), &layout()).unwrap(), trained(kind));
    }
}

/// Where the numbers, texts and truth values of a value are.
fn places(value: &Value, place: String) -> Vec<String> {
    match value {
        Value::Array(parts) => {
            let parts = parts.iter().enumerate();
            parts.flat_map(|(k, part)| places(part, format!("{place}/{k}"))).collect()
        }
        Value::Object(parts) => {
            parts.iter().flat_map(|(k, part)| places(part, format!("{place}/{k}"))).collect()
        }
        Value::Null => Vec::new(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => vec![place],
    }
}

fn changed(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_u64() {
            Some(whole) => (whole + 1).into(),
            None => (number.as_f64().unwrap() * 1.5 + 1e-9).into(),
        },
        Value::String(text) => format!("{text}x").into(),
        other => (!other.as_bool().unwrap()).into(),
    }
}

#[test]
fn a_model_of_other_features_is_refused() {
    let text = trained(Kind::Trees).to_json();
    let later = Layout { version: 2, ..layout() };
    let error = Trained::read(&text, &later).unwrap_err();
    assert_eq!(error, LearnError::OtherFeatures { found: 1, known: 2 });
    assert!(error.to_string().contains("train again with `lift model train`"), "{error}");
    let mut renamed = layout();
    renamed.names[1] = "other".to_string();
    let error = Trained::read(&text, &renamed).unwrap_err();
    assert_eq!(error, LearnError::OtherNames { name: "occupancy".to_string() });
    renamed.names = layout().names[..3].to_vec();
    let error = Trained::read(&text, &renamed).unwrap_err();
    assert_eq!(error, LearnError::OtherNames { name: "same".to_string() });
}

#[test]
fn a_model_is_not_asked_about_another_device() {
    let model = trained(Kind::Knn);
    assert_eq!(model.for_device(DEVICE), Ok(()));
    let error = model.for_device("cpu x").unwrap_err();
    let (trained, asked) = (DEVICE.to_string(), "cpu x".to_string());
    assert_eq!(error, LearnError::OtherDevice { trained, asked });
    assert!(error.to_string().contains("train one from measurements on `cpu x`"), "{error}");
}

#[test]
fn parts_that_do_not_fit_together_are_refused() {
    let cut = |kind, pointer: &'static str| {
        edited(kind, |value| {
            value.pointer_mut(pointer).unwrap().as_array_mut().unwrap().pop();
        })
    };
    let broken = [
        cut(Kind::Knn, "/model/standard/means"),
        cut(Kind::Knn, "/model/components/directions"),
        cut(Kind::Knn, "/model/components/directions/0"),
        cut(Kind::Knn, "/model/points/3/0"),
        cut(Kind::Trees, "/model/trees/0"),
        edited(Kind::Knn, |value| value["model"]["points"] = Vec::<Value>::new().into()),
    ];
    for text in broken {
        let error = refusal(&text);
        assert!(matches!(error, LearnError::NotAModel { .. }), "{error}");
    }
}

#[test]
fn nothing_is_learned_of_nothing_or_of_several_devices() {
    let failed = |sample: Sample| Sample { ms: None, ..sample };
    let none = dataset(samples("sum", 1, truth).into_iter().map(failed));
    for kind in Kind::ALL {
        assert_eq!(Trained::fit(kind, &none, 1), Err(LearnError::NothingMeasured));
        let empty = Dataset::new(layout());
        assert_eq!(Trained::fit(kind, &empty, 1), Err(LearnError::NothingMeasured));
    }
    let elsewhere = |sample: Sample| Sample { device: "cuda x".to_string(), ..sample };
    let other = samples("dot", 1, truth).into_iter().map(elsewhere);
    let two = dataset(samples("sum", 1, truth).into_iter().chain(other));
    let error = Trained::fit(Kind::Knn, &two, 1).unwrap_err();
    assert!(error.to_string().contains("choose it by `--device`"), "{error}");
}

#[test]
fn one_measurement_is_enough_to_answer() {
    let one = dataset(samples("sum", 1, truth).into_iter().skip(1).take(1));
    for kind in Kind::ALL {
        let model = Trained::fit(kind, &one, 1).unwrap();
        assert_eq!(model.predict(&[1.0, 1.0, 1.0, 1.0]), 1.0, "{kind}");
        let read = Trained::read(&model.to_json(), &layout()).unwrap();
        assert_eq!(read.predict(&[9.0, 0.0, 0.0, 0.0]), 1.0, "{kind}");
    }
}
