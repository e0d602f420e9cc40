//! The strategies shown in the documentation are strategies.

use super::*;

#[test]
fn every_block_of_the_page_can_be_read_and_run() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/strategies.md");
    let page = std::fs::read_to_string(path).unwrap();
    let blocks: Vec<&str> =
        page.split("```strategy\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        let script =
            read_script(0, block).unwrap_or_else(|mistakes| panic!("{block}: {mistakes:?}"));
        let outcome = script.run(&def(MM)).unwrap_or_else(|error| panic!("{block}: {error}"));
        assert!(!outcome.derivation.steps.is_empty(), "{block}");
    }
}
