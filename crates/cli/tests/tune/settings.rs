//! `--config` and `--print-config`.

use std::fs;

use crate::{TUNE, folder, json, lift, measured};

#[test]
fn the_printed_file_is_read_back_as_the_same() {
    let folder = folder();
    let path = folder.path();
    let print = |more: &[&str]| {
        let ran = lift(path, &[&["tune", "--print-config"], more].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        ran.stdout
    };
    let usual = print(&[]);
    assert!(usual.contains("\nrepeats = 10\n"), "{usual}");
    let changed = usual.replace("repeats = 10", "repeats = 3");
    for text in [&usual, &changed] {
        fs::write(path.join("all.toml"), text).unwrap();
        assert_eq!(print(&["--config", "all.toml"]), *text);
    }
    assert_eq!(print(&["--repeat", "3"]), changed);
}

#[test]
fn settings_change_what_is_measured() {
    let folder = folder();
    let path = folder.path();
    fs::write(
        path.join("small.toml"),
        "[algorithms]\ndepth = 0\nbreadth = 1\n[parameters]\nvalues = [3]\nlargest_divisor = 1\n\
         [groups]\nfewest_items = 1\n[measure]\nrepeats = 4\nfinalists = 0\nfar_slower = 1e6\n",
    )
    .unwrap();
    let tune = ["tune", "p.lift", "--entry", "twice", "--size", "N=243", "--trials", "6"];
    let report = json(path, &[&tune[..], &["--db", "t.db", "--config", "small.toml"]].concat());
    assert!(report["tried"].as_u64().unwrap() > 1, "{report}");
    let measured = measured(path);
    let ok = measured.iter().flat_map(|m| &m.measurements).filter(|m| !m.samples.is_empty());
    assert!(ok.clone().count() > 1 && ok.clone().all(|m| m.samples.len() == 4));
    let chosen = measured.iter().filter(|m| !m.candidate.parameters.is_empty());
    for candidate in chosen.clone().map(|m| m.candidate.parameters.as_str()) {
        assert!(
            candidate.split(',').all(|part| part.ends_with("=3") || part.ends_with("=1")),
            "{candidate}"
        );
    }
    assert!(chosen.count() > 0);
}

#[test]
fn mistakes_name_the_file_and_the_line() {
    let folder = folder();
    let path = folder.path();
    let said = |text: &str| {
        fs::write(path.join("small.toml"), text).unwrap();
        let ran = lift(path, TUNE);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
        assert!(!path.join("t.db").exists());
        ran.stderr
    };
    assert_eq!(
        said("[measure]\nrepeat = 3\n"),
        "error: small.toml, line 2: `measure` has no key `repeat`: did you mean `repeats`?\n\n"
    );
    assert_eq!(
        said("\n[groups]\nmost_items = true\n"),
        "error: small.toml, line 3: `most_items` is a whole number that is at least 1, not true\n\n"
    );
    fs::remove_file(path.join("small.toml")).unwrap();
    let missing = lift(path, TUNE);
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.starts_with("error: cannot read small.toml: "), "{}", missing.stderr);
}
