//! `docs/database.md` says what is so.

use std::path::PathBuf;

use lift_store::{Outcome, ProblemKey, Store};
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::{candidate, key, not_ok, ok};

fn page() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/database.md");
    std::fs::read_to_string(path).unwrap()
}

/// First cells, without their backquotes, of the table that starts with this header.
fn first_cells(text: &str, header: &str) -> Vec<String> {
    let rows = text.lines().skip_while(|line| !line.starts_with(header)).skip(2);
    rows.map_while(|line| line.strip_prefix("| `")?.split_once("` |"))
        .map(|(cell, _)| cell.to_string())
        .collect()
}

fn texts(connection: &Connection, query: &str) -> Vec<String> {
    let mut statement = connection.prepare(query).unwrap();
    let texts = statement.query_map([], |row| row.get(0)).unwrap();
    texts.map(Result::unwrap).collect()
}

/// A database to ask, and the connection of a reader.
fn filled() -> (tempfile::TempDir, Connection) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tuning.db");
    let mut store = Store::open(&file).unwrap();
    let small = store.problem(&key()).unwrap();
    let large = ProblemKey { sizes: [("N".to_string(), 4096)].into(), ..key() };
    let large = store.problem(&large).unwrap();
    let mut record = |problem, hash: &str, measurement| {
        let mut candidate = candidate(hash);
        candidate.parameters = format!("of {hash}");
        if hash == "d" {
            candidate.derivation = "map_seq at 0".into();
        }
        let id = store.candidate(problem, &candidate).unwrap();
        store.record(id, &measurement).unwrap();
    };
    record(small, "a", ok(&[1.0]));
    record(small, "b", ok(&[4.0, 2.0, 3.0]));
    record(small, "c", not_ok(Outcome::Wrong));
    record(small, "a", ok(&[5.0]));
    record(large, "a", ok(&[0.5]));
    record(large, "a", not_ok(Outcome::Wrong));
    record(large, "d", ok(&[8.0]));
    record(large, "d", not_ok(Outcome::TimedOut));
    (folder, Connection::open(file).unwrap())
}

#[test]
fn tables_and_columns_are_those_of_the_page() {
    let (_folder, connection) = filled();
    let page = page();
    let tables =
        texts(&connection, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    let sections: Vec<_> = page.split("\n## ").skip(1).collect();
    let (queries, sections) = sections.split_last().unwrap();
    assert!(queries.starts_with("Queries"));
    let mut sections: Vec<_> =
        sections.iter().map(|section| (section.lines().next().unwrap(), section)).collect();
    sections.sort();
    assert_eq!(sections.iter().map(|(title, _)| *title).collect::<Vec<_>>(), tables);
    for (table, section) in sections {
        let columns = texts(&connection, &format!("SELECT name FROM pragma_table_info('{table}')"));
        assert_eq!(first_cells(section, "| column"), columns, "{table}");
    }
}

#[test]
fn outcomes_and_numbers_are_those_of_the_page() {
    let (_folder, connection) = filled();
    let page = page();
    assert_eq!(first_cells(&page, "| outcome"), Outcome::ALL.map(Outcome::name));
    let number = |pragma: &str| -> i64 {
        connection.pragma_query_value(None, pragma, |row| row.get(0)).unwrap()
    };
    let version = format!("is the version of the tables, {} here", number("user_version"));
    assert!(page.contains(&version), "{version}");
    let application = format!("`PRAGMA application_id` is {}", number("application_id"));
    assert!(page.contains(&application), "{application}");
}

#[test]
fn the_queries_of_the_page_give_what_it_says() {
    let (_folder, connection) = filled();
    let page = page();
    let queries: Vec<_> =
        page.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let answers: Vec<_> = queries.iter().map(|query| answer(&connection, query)).collect();
    let best = "f N=1024 test of b 3\nf N=4096 test of d 8\n";
    let failures = "wrong 2 it is wrong\ntimed-out 1 it is timed-out\n";
    let spread = "a 1 5 2\nb 2 4 3\na 0.5 0.5 1\nd 8 8 1\n";
    let ways = "1 3 map_glb at 0\n2 1 map_glb at 0\n2 1 map_seq at 0\n";
    assert_eq!(answers, [best, failures, spread, ways]);
}

fn answer(connection: &Connection, query: &str) -> String {
    let mut statement = connection.prepare(query).unwrap();
    let columns = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    let mut text = String::new();
    while let Some(row) = rows.next().unwrap() {
        let cells: Vec<_> = (0..columns).map(|column| cell(row.get_unwrap(column))).collect();
        text += &format!("{}\n", cells.join(" "));
    }
    text
}

fn cell(value: Value) -> String {
    match value {
        Value::Null => "NULL".to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text,
        Value::Blob(bytes) => format!("{bytes:?}"),
    }
}
