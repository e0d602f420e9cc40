//! What is said of programs with mistakes, word by word: `filetests/errors/NAME.lift` must give
//! `NAME.stderr`, which the tests of the command line write.

use std::fs;
use std::path::Path;

use lift_syntax::check_text_in;

#[test]
fn every_mistake_is_told_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests/errors");
    let paths = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let programs: Vec<_> = paths.filter(|p| p.extension().is_some_and(|e| e == "lift")).collect();
    assert!(programs.len() > 100, "only {} programs", programs.len());
    for path in programs {
        let name = path.file_name().unwrap().to_str().unwrap();
        let checked = check_text_in(&folder, name, &fs::read_to_string(&path).unwrap());
        assert!(checked.has_errors(), "{name}");
        // Imported files are named by their whole path.
        let found = checked.render(false).replace(&format!("{}/", folder.display()), "");
        let expected = fs::read_to_string(path.with_extension("stderr")).unwrap();
        assert_eq!(found.trim_end(), expected.trim_end(), "{name}");
    }
}
