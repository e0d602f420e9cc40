use std::time::Duration;

use super::{KEYS, Settings, TABLES};

fn wrong(text: &str) -> String {
    Settings::read(text).expect_err("it has a mistake").to_string()
}

#[test]
fn an_empty_file_is_the_usual() {
    let settings = Settings::read("").expect("no mistakes");
    assert_eq!(settings.to_string(), Settings::default().to_string());
}

/// With every value changed, so that no key is left out or mixed up with another.
#[test]
fn what_is_printed_is_read_back() {
    let usual = Settings::default();
    let text = usual.to_string();
    assert_eq!(Settings::read(&text).expect("no mistakes").to_string(), text);
    let mut number = 40;
    let mut changed = String::new();
    for line in text.lines() {
        number += 1;
        let is_comment = line.starts_with('#');
        match line.split_once(" = ").filter(|_| !is_comment) {
            Some((name, value)) if value.starts_with('{') => {
                changed.push_str(&format!("{name} = {{ LX = [{number}, 7], T = [1] }}\n"));
            }
            Some((name, value)) if value.starts_with('[') => {
                changed.push_str(&format!("{name} = [{number}, 7]\n"));
            }
            Some((name, _)) => changed.push_str(&format!("{name} = {number}\n")),
            None => changed.push_str(&format!("{line}\n")),
        }
    }
    assert_eq!(Settings::read(&changed).expect("no mistakes").to_string(), changed);
}

#[test]
fn every_key_stands_in_a_table_and_has_a_comment() {
    let text = Settings::default().to_string();
    for key in KEYS {
        assert!(TABLES.contains(&key.table), "{}", key.table);
        assert!(text.contains(&format!("# {}\n{} = ", key.about, key.name)), "{}", key.name);
    }
}

#[test]
fn what_is_mentioned_is_set() {
    let text = "
        [parameters]
        values = [1, 3, 0x10]
        [parameters.named]
        T = [5]
        [groups]
        fewest_items = 1
        [measure]
        compile_seconds = 0.5
        workers = 4
        far_slower = 1.5
    ";
    let settings = Settings::read(text).expect("no mistakes");
    let bounds = &settings.bounds;
    assert_eq!(bounds.named, [("T".to_string(), vec![5])].into());
    assert_eq!((bounds.values.as_slice(), bounds.fewest_items), ([1, 3, 16].as_slice(), 1));
    assert_eq!((settings.compile_limit, settings.workers), (Duration::from_millis(500), 4));
    assert_eq!(settings.far_slower, 1.5);
    let usual = Settings::default();
    assert_eq!((settings.run_limit, settings.repeats), (usual.run_limit, usual.repeats));
}

#[test]
fn unknown_names_are_told_with_the_nearest() {
    assert_eq!(
        wrong("\n[measures]\n"),
        "line 2: there is no table `measures`: did you mean `measure`?"
    );
    assert_eq!(
        wrong("[measure]\nrepeats = 3\nworker = 1\n"),
        "line 3: `measure` has no key `worker`: did you mean `workers`?"
    );
    assert_eq!(
        wrong("[groups]\ncolour = 1\n"),
        "line 2: `groups` has no key `colour`: there are `fewest_items`, `most_items`"
    );
    assert!(wrong("repeats = 3").starts_with("line 1: there is no table `repeats`"));
}

#[test]
fn wrong_types_are_told_with_the_line() {
    let whole = "a whole number that is at least 1";
    for (value, found) in
        [("\"many\"", "\"many\""), ("0", "0"), ("1.5", "1.5"), ("[1]", "such a list")]
    {
        let text = format!("[measure]\n\nrepeats = {value}\n");
        assert_eq!(wrong(&text), format!("line 3: `repeats` is {whole}, not {found}"));
    }
    assert_eq!(Settings::read("[algorithms]\ndepth = 0").expect("fine").limits.depth, 0);
    assert_eq!(
        wrong("[algorithms]\ndepth = -1"),
        "line 2: `depth` is a whole number that is at least 0, not -1"
    );
    let seconds = "line 2: `run_seconds` is a number of seconds that is above 0, not ";
    for value in ["0.0", "-1.0", "nan", "true"] {
        let said = wrong(&format!("[measure]\nrun_seconds = {value}"));
        assert_eq!(said, format!("{seconds}{value}"));
    }
    for value in ["0.5", "inf", "\"2\""] {
        let said = wrong(&format!("[measure]\nfar_slower = {value}"));
        assert_eq!(
            said,
            format!("line 2: `far_slower` is a number that is at least 1, not {value}")
        );
    }
    let list = "line 2: `values` is a list of whole numbers that are at least 1, not ";
    assert_eq!(wrong("[parameters]\nvalues = 3"), format!("{list}3"));
    for items in ["[]", "[1, 0]", "[1, \"two\"]"] {
        let said = wrong(&format!("[parameters]\nvalues = {items}"));
        assert_eq!(said, format!("{list}such a list"));
    }
    let table = "`named` is a table from names to lists of whole numbers that are at least 1, not";
    assert_eq!(wrong("[parameters]\nnamed = 3"), format!("line 2: {table} 3"));
    let named = "[parameters.named]\nT = [1]\nR = 2";
    assert_eq!(wrong(named), format!("line 3: {table} such a table"));
    assert_eq!(wrong("groups = 3"), "line 1: `groups` is a table: write `[groups]`");
}

#[test]
fn what_is_no_toml_is_told_with_the_line() {
    assert!(wrong("[groups]\nmost_items = = 3\n").starts_with("line 2: "));
    let twice = wrong("[groups]\nmost_items = 3\nmost_items = 4\n");
    assert!(twice.starts_with("line 3: "), "{twice}");
}

#[test]
fn groups_have_a_size_they_can_have() {
    assert_eq!(
        wrong("[groups]\nfewest_items = 64\nmost_items = 32\n"),
        "line 1: groups have at least 64 work-items and at most 32"
    );
}
