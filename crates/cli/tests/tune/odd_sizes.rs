//! Sizes that no tile divides.

use lift_store::Outcome;

use crate::common::root;
use crate::{folder, json, lift, measured};

#[track_caller]
fn tune(program: &str, sizes: &str, arguments: &[&str]) {
    let folder = folder();
    let path = folder.path();
    let file = root().join("programs").join(program);
    let file = file.to_str().unwrap();
    let own = ["--size", sizes, "--trials", "4", "--db", "t.db", "--config", "small.toml"];
    let report = json(path, &[&["tune", file][..], &own].concat());
    assert!(report["best"]["id"].is_string(), "{report}");
    let measured = measured(path);
    assert!(measured.len() > 1, "{report}");
    for measurement in measured.iter().flat_map(|m| &m.measurements) {
        let fine = [Outcome::Ok, Outcome::Skipped, Outcome::Refused];
        assert!(fine.contains(&measurement.outcome), "{measurement:?}");
    }
    let run = |more: &[&str]| {
        let own = ["run", file, "--size", sizes, "-o", "out.npy"];
        let ran = lift(path, &[&own[..], arguments, more].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        lift_interp::npy::read(&path.join("out.npy")).unwrap()
    };
    let (found, meant) = (run(&["--db", "t.db"]), run(&["--device", "interp"]));
    lift_interp::compare(&found, &meant, true).unwrap();
}

#[test]
fn sum() {
    for n in ["N=1023", "N=1000", "N=997"] {
        tune("reduce/sum.lift", n, &["xs=random"]);
    }
}

#[test]
fn gemv() {
    let arguments = ["alpha=2.0", "A=random", "x=random", "beta=0.5", "y=random"];
    tune("thesis/gemv.lift", "M=37,N=1000", &arguments);
    tune("thesis/gemv.lift", "M=23,N=997", &arguments);
}

#[test]
fn jacobi2d_5() {
    tune("stencil/jacobi2d_5.lift", "N=31,M=33", &["grid=random"]);
    tune("stencil/jacobi2d_5.lift", "N=17,M=1023", &["grid=random"]);
}

#[test]
fn mm() {
    tune("mm.lift", "M=17,K=19,N=23", &["A=random", "B=random"]);
    tune("mm.lift", "M=31,K=997,N=7", &["A=random", "B=random"]);
}
