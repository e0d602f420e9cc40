//! Whose fault a wrong result is, as long runs of random programs say it: texts written by hand go through the system's
//! C compiler in every way that is asked for.

#![allow(clippy::unwrap_used, dead_code)]

#[path = "random_programs/device.rs"]
mod device;
#[path = "../examples/random_programs/second_opinion.rs"]
mod second_opinion;

use std::error::Error;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use device::Verdict;
use second_opinion::{Fault, Way, may_be_the_compilers, whose};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// What prints 1 means 1 as long as it means anything.
fn ways(name: &str, text: &str) -> impl FnMut(Way) -> Outcome<Verdict> + use<> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("second_opinion").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("text.c"), text).unwrap();
    move |way| run(way, &folder, None)
}

/// The text of a folder, compiled as a kernel is and run, in a way.
fn run(way: Way, folder: &Path, compiler: Option<&str>) -> Outcome<Verdict> {
    let program = folder.join(format!("{way:?}"));
    let mut command = way.command(&program, folder)?;
    let set = |name: &str| {
        let value = command.get_envs().find(|(key, _)| *key == name).and_then(|(_, value)| value);
        value.map(|value| value.to_str().unwrap().to_string())
    };
    let words = set("CC").unwrap_or_else(|| "cc".to_string());
    let words = match (compiler, words.strip_suffix("cc")) {
        (Some(other), Some(wrapper)) => format!("{wrapper}{other}"),
        _ => words,
    };
    let mut words = words.split_whitespace();
    let compiled = Command::new(words.next().unwrap())
        .args(words)
        .args(["-std=gnu11", "-O3", "-fopenmp", "-fwrapv", "-ffp-contract=fast"])
        .args(set("LIFT_CFLAGS").unwrap_or_default().split_whitespace())
        .arg(folder.join("text.c"))
        .arg("-o")
        .arg(&program)
        .output()?;
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = command.output()?;
    Ok(match (output.status.success(), output.stdout.as_slice()) {
        (true, b"1\n") => Verdict::Agrees,
        (true, _) => Verdict::Fails("differs".to_string()),
        (false, _) => Verdict::Fails("crashes".to_string()),
    })
}

/// A C compiler that is wrong where it optimises well.
fn wrong_compiler(folder: &Path) -> PathBuf {
    let path = folder.join("wrong");
    let script = "#!/bin/sh\nfor word do case $word in -O*) level=$word;; esac; done\n\
                  case $level in -O3) exec cc -DWRONG \"$@\";; esac\nexec cc \"$@\"\n";
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_compiler_that_is_wrong_at_o3_alone_is_found_guilty() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("second_opinion/guilty");
    std::fs::create_dir_all(&folder).unwrap();
    let text = "#include <stdio.h>\n#ifdef WRONG\n#define ANSWER 2\n#else\n#define ANSWER 1\n#endif\n\
                int main(void) { printf(\"%d\\n\", ANSWER); }\n";
    std::fs::write(folder.join("text.c"), text).unwrap();
    let compiler = wrong_compiler(&folder).display().to_string();
    let mut ask = |way| run(way, &folder, Some(&compiler));
    assert_eq!(ask(Way::Usual).unwrap(), Verdict::Fails("differs".to_string()));
    assert_eq!(whose("cpu", &mut ask), Fault::Compiler);
}

#[test]
fn an_access_outside_an_array_is_not_the_compilers() {
    // Some element must be the one looked for, says an optimiser: no fifth may be read.
    let mut ask = ways(
        "outside",
        "#include <stdio.h>\nint table[4] = {1, 1, 1, 1};\n\
         __attribute__((noinline)) int has(int v) {\n\
           for (int i = 0; i <= 4; ++i) if (table[i] == v) return 2;\n  return 1;\n}\n\
         int main(void) { printf(\"%d\\n\", has(77)); }\n",
    );
    assert_ne!(ask(Way::Watched).unwrap(), Verdict::Agrees);
    assert!(matches!(whose("cpu", &mut ask), Fault::Lift(_)));
}

#[test]
fn undefined_arithmetic_is_not_the_compilers() {
    let texts = [
        "volatile int by = 33; int main(void) { return printf(\"1\\n\"), (1 << by) == 5; }",
        "volatile float x = 1e30f; int main(void) { return printf(\"1\\n\"), (int)x == 5; }",
    ];
    for (i, text) in texts.iter().enumerate() {
        let mut ask = ways(&format!("arithmetic{i}"), &format!("#include <stdio.h>\n{text}\n"));
        assert_eq!(ask(Way::Plain).unwrap(), Verdict::Agrees, "{text}");
        assert_ne!(ask(Way::Watched).unwrap(), Verdict::Agrees, "{text}");
        assert!(matches!(whose("cpu", &mut ask), Fault::Lift(_)), "{text}");
    }
}

#[test]
fn a_value_that_was_never_set_is_not_the_compilers() {
    // Patterns that nobody would take for a result stand where nothing was stored.
    let texts = [
        ("int x[2]; if (no) x[1] = 3; puts(x[1] == (int)0xfefefefe ? \"2\" : \"1\");", Way::Plain),
        (
            "int* x = malloc(4096); if (no) x[1] = 3; puts(x[1] == (int)0xbebebebe ? \"2\" : \"1\");",
            Way::Watched,
        ),
    ];
    for (text, notices) in texts {
        let head = "#include <stdio.h>\n#include <stdlib.h>\nvolatile int no;\n";
        let name = format!("unset_{notices:?}");
        let mut ask = ways(&name, &format!("{head}int main(void) {{ {text} }}\n"));
        let fault = Fault::Lift(format!("{}: differs", notices.name()));
        assert_eq!(whose("cpu", &mut ask), fault, "{text}");
    }
}

#[test]
fn a_false_promise_is_not_the_compilers() {
    let text = "#include <stdio.h>\nint x[4096];\nvolatile int by = 1;\n\
         __attribute__((noinline)) void f(int* a, long d) {\n\
         #pragma GCC ivdep\n\
         for (long i = 0; i < 4000; ++i) a[i + d] = a[i] + 1;\n}\n\
         int main(void) { f(x, by); printf(\"%d\\n\", x[4000] == 4000); }\n";
    let mut ask = ways("promise", text);
    assert_ne!(ask(Way::Usual).unwrap(), Verdict::Agrees);
    assert_eq!(whose("cpu", &mut ask), Fault::Lift("without promises: agrees".to_string()));
}

#[test]
fn a_race_is_not_the_compilers() {
    let text = "#include <stdio.h>\n#include <unistd.h>\nint main(void) {\n  int sum = 0;\n\
         #pragma omp parallel for num_threads(2)\n\
         for (int i = 0; i < 2; ++i) { int old = sum; usleep(200000); sum = old + 1; }\n\
         printf(\"%d\\n\", sum == 2); }\n";
    let mut ask = ways("race", text);
    assert_ne!(ask(Way::Usual).unwrap(), Verdict::Agrees);
    assert_eq!(ask(Way::Unpromised).unwrap(), Verdict::Agrees);
    assert!(matches!(whose("cpu", &mut ask), Fault::Lift(_)));
}

#[test]
fn what_cannot_be_asked_stays_lifts() {
    let fails = |text: &str| Ok(Verdict::Fails(text.to_string()));
    let none = whose("cuda:0", &mut |_| Ok(Verdict::Agrees));
    assert_eq!(none, Fault::Lift("there is no second opinion".to_string()));
    let missing = whose("opencl:0", &mut |_| Err("no oclgrind".into()));
    assert_eq!(missing, Fault::Lift("in Oclgrind: cannot be tried: no oclgrind".to_string()));
    let race = whose("opencl:0", &mut |_| fails("Write-write data race"));
    assert_eq!(race, Fault::Lift("in Oclgrind: Write-write data race".to_string()));
    assert_eq!(whose("opencl:0", &mut |_| Ok(Verdict::Agrees)), Fault::Compiler);
    assert!(!may_be_the_compilers("error: a pass built an ill-typed program"));
}
