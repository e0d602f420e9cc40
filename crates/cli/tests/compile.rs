//! `lift compile`: kernels for every target, and plans that a stranger's host can follow.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use common::{in_folder, programs, root};
use serde_json::{Value, json};

fn folder_with(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.lift"), text).unwrap();
    folder
}

const AXPY: &str = "def axpy[N](alpha: f32, x: [f32; N], y: [f32; N]) -> [f32; N] =
  zip(x, y) |> map(\\(a, b) -> alpha * a + b);
";

/// The definitions of a program that can be compiled by themselves.
fn definitions(program: &str) -> Vec<String> {
    let ran = in_folder(&root(), &["check", program, "--json"]);
    let all: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    let own = all.iter().filter(|d| d["generic"] == false);
    own.map(|d| d["name"].as_str().unwrap().to_string()).collect()
}

#[test]
fn every_program_has_kernels_in_every_language() {
    let mut faults = Vec::new();
    let mut count = 0;
    for program in programs() {
        for def in definitions(&program) {
            for (target, sign) in [("opencl", "kernel "), ("cuda", "__global__"), ("c", "void ")] {
                let command = ["compile", &program, "--target", target, "--entry", &def];
                let ran = in_folder(&root(), &command);
                count += 1;
                if ran.code != 0 || !ran.stderr.is_empty() {
                    faults.push(format!("{program} {def} {target}:\n{}", ran.stderr));
                } else if !ran.stdout.contains(sign) || !ran.stdout.contains(&def) {
                    faults.push(format!("{program} {def} {target}: no kernel in\n{}", ran.stdout));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} of {count}\n{}", faults.len(), faults.join("\n"));
    assert!(count > 150, "only {count} compilations");
}

/// Compiles to C and lets the host in `host.py` run the plan.
fn hosted(program: &str, folder: &Path, arguments: &[&str]) -> String {
    let output = host(program, folder, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn host(program: &str, folder: &Path, arguments: &[&str]) -> Output {
    let out = folder.join("kernels");
    let out = out.to_str().unwrap();
    let ran = in_folder(folder, &["compile", program, "--target", "c", "-o", out]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host.py");
    Command::new("python3").arg(host).arg(out).args(arguments).output().unwrap()
}

/// Kernels rest on conditions that the plan lists; a host that looks at them runs nothing that would go wrong.
#[test]
fn a_host_refuses_sizes_that_kernels_are_not_made_for() {
    for (body, fine, wrong, words) in [
        ("x |> gather(\\i -> (7 * i) % len)", 5, 14, "no permutation"),
        ("x |> gather(\\i -> 7 * i)", 1, 3, "no permutation"),
        ("x |> gather(\\i -> (i * 4000000000000000007) % len)", 2, 4, "64 bits"),
        ("x |> split(2) |> join", 4, 3, "N % 2 == 0"),
    ] {
        let clause = if body.contains("split") { " where N % 2 == 0" } else { "" };
        let folder = folder_with(&format!(
            "def f[N](x: [f32; N]) -> [f32; N]{clause} = {body} |> map(\\a -> a);"
        ));
        let run = |n: usize| {
            let x = vec!["1"; n].join(",");
            host("a.lift", folder.path(), &[&format!("N={n}"), &format!("x={x}")])
        };
        assert!(
            run(fine).status.success(),
            "{body}: {}",
            String::from_utf8_lossy(&run(fine).stderr)
        );
        let refused = run(wrong);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && said.contains(words), "{body}: {said}");
    }
}

#[test]
fn a_host_runs_a_plan_with_scalars() {
    let folder = folder_with(AXPY);
    let found = hosted("a.lift", folder.path(), &["N=3", "alpha=2", "x=1,2,3", "y=10,20,30"]);
    assert_eq!(found, "12.0 24.0 36.0\n");
}

#[test]
fn a_host_runs_a_plan_of_several_kernels() {
    let folder = tempfile::tempdir().unwrap();
    let sum = root().join("programs/reduce/sum.lift");
    let found = hosted(sum.to_str().unwrap(), folder.path(), &["N=5", "xs=1,2,3,4,-0.5"]);
    assert_eq!(found, "9.5\n");
}

#[test]
fn a_host_runs_a_plan_with_loops() {
    for (times, expected) in [(40, "41 42 43\n"), (41, "42 43 44\n")] {
        let text = format!(
            "def f[N](x: [i32; N]) -> [i32; N] = x |> iterate({times}, map(\\e -> e + 1));\n"
        );
        let folder = folder_with(&text);
        assert_eq!(hosted("a.lift", folder.path(), &["N=3", "x=1,2,3"]), expected);
        let text = fs::read_to_string(folder.path().join("kernels/plan.json")).unwrap();
        let plan: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(plan["steps"][1]["loop"]["count"], times.to_string(), "{plan:#}");
    }
}

/// How many points there are is a size that the plan says how to add up.
#[test]
fn a_host_runs_a_plan_with_sums() {
    let folder = folder_with(
        "domain many[n] =
  { (i, j, k) | 2 * j + 2 * k <= 2 * i + n, i + k < n, j + 2 <= k, 2 * k + i + j <= n + 2 };
def f[N](v: [i32; N]) -> [i32 in many[N]] =
  [ v[i] + 10 * v[j] + 100 * v[k] | (i, j, k) in many[N] ];\n",
    );
    let found = hosted("a.lift", folder.path(), &["N=5", "v=0,1,2,3,4"]);
    assert_eq!(found, "200 201 301 202\n");
    let text = fs::read_to_string(folder.path().join("kernels/plan.json")).unwrap();
    let plan: Value = serde_json::from_str(&text).unwrap();
    assert!(defined(&plan).next().is_some_and(|name| name.starts_with("lift_sum_")), "{plan:#}");
}

#[test]
fn a_host_runs_a_plan_that_stops() {
    let folder = folder_with(
        "def f[N](x: [i32; N]) -> ([i32; N], i32) =
  x |> iterate_until(9, \\y -> (y |> reduce(0, (+))) >= 100, map(\\e -> 2 * e));\n",
    );
    assert_eq!(hosted("a.lift", folder.path(), &["N=3", "x=1,2,3"]), "32 64 96\n5\n");
    assert_eq!(hosted("a.lift", folder.path(), &["N=2", "x=50,50"]), "50 50\n0\n");
    assert_eq!(hosted("a.lift", folder.path(), &["N=1", "x=0"]), "0\n9\n");
}

#[test]
fn a_host_launches_nothing_where_there_is_nothing_to_do() {
    let folder =
        folder_with("def f[N](x: [i32; N]) -> [i32; N - 1] = x |> drop(1) |> map(\\e -> -e);\n");
    assert_eq!(hosted("a.lift", folder.path(), &["N=3", "x=1,2,3"]), "-2 -3\n");
    assert_eq!(hosted("a.lift", folder.path(), &["N=1", "x=1"]), "\n");
}

const CHAIN: &str = "def chain[N](x: [i32; N]) -> [i32; N] =
  let a = x |> map(\\e -> e - e + e + 1);
  let b = zip(a, a |> gather(reverse)) |> map(\\(p, q) -> p - p + q * 2);
  let c = zip(b, b |> gather(reverse)) |> map(\\(p, q) -> p - p + q + 3);
  zip(c, c |> gather(reverse)) |> map(\\(p, q) -> p - p + q * 5);
";

#[test]
fn temporaries_share_memory() {
    let folder = folder_with(CHAIN);
    assert_eq!(hosted("a.lift", folder.path(), &["N=3", "x=1,2,3"]), "55 45 35\n");
    let text = fs::read_to_string(folder.path().join("kernels/plan.json")).unwrap();
    let plan: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(plan["kernels"].as_array().unwrap().len(), 4);
    assert_eq!(
        plan["memory"],
        json!([{ "id": 0, "bytes": "4*N" }, { "id": 1, "bytes": "4*N" }]),
        "four kernels need two temporaries at a time"
    );
    let temporaries = plan["buffers"].as_array().unwrap().iter();
    let slots: Vec<(&Value, &Value)> = temporaries
        .filter(|b| b["role"] == "temporary")
        .map(|b| (&b["name"], &b["memory"]))
        .collect();
    let named = [("a", 0), ("b", 1), ("c", 0)].map(|(name, slot)| (json!(name), json!(slot)));
    assert_eq!(slots, named.iter().map(|(name, slot)| (name, slot)).collect::<Vec<_>>());
}

#[test]
fn plans_have_everything() {
    let folder = folder_with(AXPY);
    let command = ["compile", "a.lift", "--target", "opencl", "--local", "64", "-o", "new/out"];
    let ran = in_folder(folder.path(), &command);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    let out = folder.path().join("new/out");
    let mut plan: Value =
        serde_json::from_str(&fs::read_to_string(out.join("plan.json")).unwrap()).unwrap();
    // Whether indices are wide is the compiler's choice.
    let size = plan["kernels"][0]["args"][4].take();
    assert_eq!((&size["kind"], &size["name"]), (&json!("size"), &json!("N")));
    assert!(size["type"] == "i32" || size["type"] == "i64", "{size}");
    let vector = |id: u32, name: &str| {
        json!({ "id": id, "name": name, "type": "f32", "length": "N", "bytes": "4*N",
                "role": "input", "param": name, "component": 0 })
    };
    assert_eq!(
        plan,
        json!({
            "name": "axpy",
            "kernels": [{
                "name": "axpy", "file": "axpy.cl",
                "global": ["64*((N + 63) / 64)"], "local": ["64"],
                "args": [
                    { "kind": "buffer", "buffer": 0, "access": "read" },
                    { "kind": "buffer", "buffer": 1, "access": "read" },
                    { "kind": "buffer", "buffer": 2, "access": "write" },
                    { "kind": "scalar", "name": "alpha", "type": "f32" },
                    null,
                ],
            }],
            "buffers": [
                vector(0, "x"),
                vector(1, "y"),
                { "id": 2, "name": "result", "type": "f32", "length": "N", "bytes": "4*N",
                  "role": "output", "component": 0 },
            ],
            "memory": [], "steps": [{ "launch": 0 }], "sizes": ["N"], "requires": [],
        })
    );
    let text = fs::read_to_string(out.join("axpy.cl")).unwrap();
    let printed = in_folder(folder.path(), &command[..6]).stdout;
    assert_eq!(text, printed, "a file holds what is printed");
    let count = |folder: &Path| fs::read_dir(folder).unwrap().count();
    assert_eq!((count(&out), count(&folder.path().join("new"))), (2, 1), "nothing is left over");
}

/// The functions that a plan defines.
fn defined(plan: &Value) -> impl Iterator<Item = &str> {
    let texts = plan["functions"].as_array().into_iter().flatten().filter_map(|f| f.as_str());
    texts.filter_map(|text| text.rsplit("static int64_t ").next()?.split('(').next())
}

/// The names in a C expression.
fn names_in(expression: &str) -> Vec<&str> {
    let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let names = words.filter(|w| w.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'));
    names.filter(|w| !matches!(*w, "lift_log2" | "lift_pow")).collect()
}

/// What plans name, where nothing in them says what it is.
fn undefined(plan: &Value) -> Vec<String> {
    let mut sizes: Vec<&str> =
        plan["sizes"].as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect();
    sizes.extend(defined(plan));
    let mut found = Vec::new();
    for row in [&plan["buffers"], &plan["memory"]].iter().flat_map(|l| l.as_array().unwrap()) {
        for key in ["length", "bytes"] {
            unknown_in(&row[key], &sizes, &mut found);
        }
    }
    undefined_in_steps(&plan["steps"], plan, &sizes, &mut found);
    found
}

fn unknown_in(expression: &Value, known: &[&str], found: &mut Vec<String>) {
    let names = expression.as_str().map(names_in).unwrap_or_default();
    found.extend(names.iter().filter(|name| !known.contains(name)).map(|name| name.to_string()));
}

fn undefined_in_steps<'p>(
    steps: &'p Value,
    plan: &Value,
    known: &[&'p str],
    found: &mut Vec<String>,
) {
    let mut known = known.to_vec();
    for step in steps.as_array().unwrap() {
        if let Some(index) = step["launch"].as_u64() {
            let kernel = &plan["kernels"][index as usize];
            for count in ["global", "local"].iter().flat_map(|k| kernel[*k].as_array().unwrap()) {
                unknown_in(count, &known, found);
            }
            unknown_in(&kernel["shared_bytes"], &known, found);
            for arg in kernel["args"].as_array().unwrap().iter().filter(|a| a["kind"] == "size") {
                unknown_in(&arg["name"], &known, found);
            }
        } else if let Some(inner) = step.get("loop") {
            unknown_in(&inner["count"], &known, found);
            let inside = [&known[..], &[inner["counter"].as_str().unwrap()]].concat();
            undefined_in_steps(&inner["steps"], plan, &inside, found);
            // How many times were done is known behind the loop.
            known.extend(inner["taken"].as_str());
        }
    }
}

#[test]
fn plans_define_the_sizes_they_name() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let own = folder.path().join("own.lift");
    fs::write(
        &own,
        r"def lengths[N](x: [f32; 2 * N]) -> [f32; N] = x |> split(2) |> map(reduce(0.0, (+)));
def halved[N; T = 4](x: [f32; T * N]) -> [f32; N] = x |> split(T) |> map(reduce(0.0, (+)));
def tree(x: [f32; 4096]) -> [f32; 1] = x |> iterate(12, \v -> v |> split(2) |> map(reduce(0.0, (+))));
def named[result, g0, linux, INT_MIN](x: [[f32; g0]; result], y: [f32; linux], z: [f32; INT_MIN]) -> f32 =
  (x |> join |> reduce(0.0, (+))) + y[linux - 1] + z[INT_MIN - 1];
def folded[N, M](e: [[f32; N]; M], b: i32, c: [f32; M]) -> [[f32; M]; N] =
  e[b] |> mapSeq(\x -> mapGlb(0)(\v -> x + v, c));
",
    )
    .unwrap();
    let mut count = 0;
    for program in programs().into_iter().chain([own.to_str().unwrap().to_string()]) {
        for def in definitions(&program) {
            let out = out.to_str().unwrap();
            let command = ["compile", &program, "--target", "opencl", "--entry", &def, "-o", out];
            let ran = in_folder(&root(), &command);
            assert_eq!(ran.code, 0, "{program} {def}: {}", ran.stderr);
            let text = fs::read_to_string(format!("{out}/plan.json")).unwrap();
            let plan: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(undefined(&plan), Vec::<String>::new(), "{program} {def}\n{text}");
            count += 1;
        }
    }
    assert!(count > 100, "only {count} plans");
}

#[test]
fn sizes_and_launches_are_the_users_choice() {
    let folder = folder_with(AXPY);
    let fixed = ["compile", "a.lift", "--target", "cuda", "--size", "N=1000", "-o", "out"];
    assert_eq!(in_folder(folder.path(), &fixed).code, 0);
    let plan = || -> Value {
        let text = fs::read_to_string(folder.path().join("out/plan.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let first = plan();
    assert_eq!((&first["sizes"], &first["kernels"][0]["file"]), (&json!([]), &json!("axpy.cu")));
    assert_eq!(first["buffers"][0]["bytes"], "4000");
    // Into a folder that is there already, beside what it holds.
    fs::write(folder.path().join("out/other"), "kept").unwrap();
    let launch = ["--local", "32", "--global", "100"];
    assert_eq!(in_folder(folder.path(), &[&fixed[..], &launch].concat()).code, 0);
    let second = plan();
    // Whole groups cover what was asked for.
    assert_eq!(second["kernels"][0]["global"], json!(["128"]));
    assert_eq!(second["kernels"][0]["local"], json!(["32"]));
    let mut names: Vec<_> = fs::read_dir(folder.path().join("out")).unwrap().collect();
    names.sort_by_key(|e| e.as_ref().unwrap().file_name());
    let names: Vec<_> = names.into_iter().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["axpy.cu", "other", "plan.json"]);
}

#[test]
fn bad_usage_exits_with_two() {
    let folder = folder_with(AXPY);
    let usages: [(&[&str], &str); 5] = [
        (&["--target", "metal"], "[possible values: opencl, cuda, c]"),
        (&[], "--target <TARGET>"),
        (&["--target", "c", "--local", "0"], "one to three positive numbers"),
        (&["--target", "c", "--local", "1,2,3,4"], "one to three positive numbers"),
        (&["--target", "c", "--global", "many"], "one to three positive numbers"),
    ];
    for (usage, words) in usages {
        let ran = in_folder(folder.path(), &[&["compile", "a.lift"], usage].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{usage:?}");
        assert!(ran.stderr.contains(words), "{usage:?}: {}", ran.stderr);
    }
}

/// Every pass for threads leaves something to look at, a program first and kernels then; those for processors are no part
/// of this compilation.
#[test]
fn there_is_something_after_every_pass() {
    let listed = in_folder(&root(), &["compile", "--passes"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    let mut kernels = 0;
    for line in listed.stdout.lines() {
        let mut words = line.split_whitespace();
        let (pass, targets) = (words.next().unwrap(), words.next().unwrap());
        let program = "programs/thesis/mm_local.lift";
        let ran = in_folder(&root(), &["compile", program, "--target", "opencl", "--after", pass]);
        if targets == "loops" {
            assert_eq!(ran.code, 1);
            let why = format!("`{pass}` is not part of this compilation: it is for loops");
            assert!(ran.stderr.contains(&why), "{}", ran.stderr);
            continue;
        }
        assert_eq!(ran.code, 0, "{pass}: {}", ran.stderr);
        kernels += usize::from(ran.stdout.starts_with("kernel mm_local("));
        let is_program = ran.stdout.starts_with("def mm_local");
        assert!(is_program == (kernels == 0), "{pass}: {}", ran.stdout);
    }
    assert!(kernels > 15, "{kernels}");
}

#[test]
fn passes_are_timed_and_unknown_ones_are_refused() {
    let folder = folder_with(AXPY);
    let compile = |more: &[&str]| {
        in_folder(folder.path(), &[&["compile", "a.lift", "--target", "c"], more].concat())
    };
    let timed = compile(&["--timing"]);
    let lines: Vec<&str> = timed.stdout.lines().collect();
    assert!(lines.iter().all(|line| line.contains(" ms  ")), "{}", timed.stdout);
    assert!(lines.last().unwrap().ends_with(" all") && lines.len() > 20, "{}", timed.stdout);
    let unknown = compile(&["--after", "inline"]);
    assert_eq!(unknown.code, 1);
    assert!(unknown.stderr.contains("there is no pass `inline`"), "{}", unknown.stderr);
}

/// What the last pass leaves, read from a file, is the kernel that is printed without a stop there.
#[test]
fn kernels_are_compiled_from_their_own_text() {
    let folder = tempfile::tempdir().unwrap();
    let root = root();
    for program in ["programs/thesis/mm_local.lift", "programs/reduce/dot.lift"] {
        for target in ["opencl", "cuda", "c"] {
            let compile = |file: &str, more: &[&str]| {
                let all = [&["compile", file, "--target", target], more].concat();
                let ran = in_folder(&root, &all);
                assert_eq!(ran.code, 0, "{all:?}: {}", ran.stderr);
                ran.stdout
            };
            let file = folder.path().join("a.kernel");
            fs::write(&file, compile(program, &["--after", "index_width"])).unwrap();
            assert_eq!(compile(file.to_str().unwrap(), &[]), compile(program, &[]), "{program}");
        }
    }
}

#[test]
fn kernels_written_by_hand_are_checked_and_printed() {
    let saxpy = "programs/kernels/saxpy.kernel";
    for (target, head) in [
        ("opencl", "void saxpy(global const float* restrict x, global float* restrict y, float a,"),
        ("cuda", "saxpy(const float* __restrict__ x, float* __restrict__ y, float a,"),
        ("c", "void saxpy(const float* restrict x, float* restrict y, float a, int64_t N)"),
    ] {
        let ran = in_folder(&root(), &["compile", saxpy, "--target", target]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains(head), "{}", ran.stdout);
    }
    let text = fs::read_to_string(root().join(saxpy)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let refused = |text: &str, more: &[&str], words: &str| {
        fs::write(folder.path().join("a.kernel"), text).unwrap();
        let all = [&["compile", "a.kernel", "--target", "c"], more].concat();
        let ran = in_folder(folder.path(), &all);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{text}");
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    };
    refused(&text.replace("x[i]", "x[j]"), &[], "a.kernel:5: there is no index `j` here");
    refused(&text.replace("read_write", "read"), &[], "`y` is only read, and stored to");
    refused(&text.replace("loops", "threads"), &[], "are threads, which C has none of");
    refused("", &[], "there is no kernel");
    refused(&text, &["--size", "N=4"], "`--size` is for programs");
    let foreign = text
        .replace("\n{", "\n  extern half(a: f32) -> f32 for \"c\" = \"return a / 2;\"\n{")
        .replace("(a * x[i])", "extern half(x[i])");
    refused(&foreign, &[], "--allow-extern");
    let allowed = ["compile", "a.kernel", "--target", "c", "--allow-extern"];
    let ran = in_folder(folder.path(), &allowed);
    assert!(ran.stdout.contains("return a / 2;"), "{}{}", ran.stdout, ran.stderr);
}
