//! Every program of the collection gives on a device what its tests expect.

use std::path::Path;

use lift::{Compiled, Device, Options, Sizes};
use lift_interp::{compare, eval_closed};
use lift_ir::{Program, Subject};
use lift_testing::programs;

/// Runs every test that calls a definition; the faults found.
fn run_tests(program: &Program, device: &mut dyn Device, path: &Path) -> (usize, Vec<String>) {
    let (mut count, mut faults) = (0, Vec::new());
    for test in &program.tests {
        let Subject::Call { def, args } = &test.subject else { continue };
        let def = &program.defs[*def];
        let args: Vec<_> = args.iter().map(|a| eval_closed(a).unwrap()).collect();
        let expected = eval_closed(&test.expected).unwrap();
        let name = format!("{} {}", path.display(), test.name);
        count += 1;
        let outcome = Compiled::new(def, &Options::default(), device)
            .and_then(|mut c| c.run(device, &args, &Sizes::new()));
        match outcome {
            Err(error) => faults.push(format!("{name}: {error}")),
            Ok(run) => {
                if let Err(mismatch) = compare(&run.result, &expected, test.approximate) {
                    faults.push(format!("{name}: {mismatch}"));
                }
            }
        }
    }
    (count, faults)
}

/// Runs all tests of all programs on a device.
pub fn every_test_passes_on(device: &mut dyn Device) {
    let (mut count, mut faults) = (0, Vec::new());
    for path in programs() {
        let checked = lift_syntax::check_file(&path).unwrap();
        let (ran, found) = run_tests(&checked.program, device, &path);
        count += ran;
        faults.extend(found);
    }
    assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.join("\n"));
    assert!(count > 90, "only {count} tests ran");
}
