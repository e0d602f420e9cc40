//! `lift report`: the page as a browser shows it, and what is said where there is none.

#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use common::{Ran, in_folder, with_env};
use lift_model::features::{VERSION, names};
use lift_store::{Candidate, Device, Measurement, Outcome, ProblemId, ProblemKey, Run, Store};
use tempfile::TempDir;

const TWICE: &str = "def twice[N](xs: [f32; N]) -> [f32; N] = mapGlb(0, \\x -> x * 2.0, xs);\n";

const DERIVATION: &str = "def twice[N](xs: [f32; N]) -> [f32; N] = map(\\x -> x * 2.0, xs);

// 1: map_to_glb at root, d = 0
def twice[N](xs: [f32; N]) -> [f32; N] = mapGlb(0, \\x -> x * 2.0, xs);
";

/// So many features differ between candidates.
const VARYING: usize = 10;

fn report(folder: &TempDir) -> Ran {
    in_folder(folder.path(), &["report", "t.db", "-o", "report.html"])
}

#[track_caller]
fn page(folder: &TempDir) -> String {
    let ran = report(folder);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    fs::read_to_string(folder.path().join("report.html")).unwrap()
}

/// What a browser makes of a file, and what it complains about.
#[track_caller]
fn browsed(file: &Path) -> (String, Vec<String>) {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--dump-dom",
            "--disable-dev-shm-usage",
        ])
        .args(["--enable-logging=stderr", "--v=0", "--virtual-time-budget=2000"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("Debian's package chromium is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stderr);
    let complaints = said.lines().filter(|line| line.contains("CONSOLE")).map(String::from);
    (String::from_utf8(output.stdout).unwrap(), complaints.collect())
}

/// The page in a browser, which has nothing to complain about.
#[track_caller]
fn shown(folder: &TempDir) -> String {
    page(folder);
    let (dom, complaints) = browsed(&folder.path().join("report.html"));
    assert_eq!(complaints, Vec::<String>::new());
    assert!(dom.trim_end().ends_with("</html>"), "{dom}");
    dom
}

/// The problems of a page.
fn sections(dom: &str) -> Vec<&str> {
    dom.split("<section class=\"problem\"").skip(1).collect()
}

/// The drawing of this class.
#[track_caller]
fn drawing<'d>(section: &'d str, class: &str) -> &'d str {
    let start = format!("<svg class=\"chart {class}\"");
    let (_, rest) = section.split_once(&start).unwrap_or_else(|| panic!("no {class}: {section}"));
    rest.split_once("</svg>").unwrap().0
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

/// The titles of the elements of this kind.
fn titles<'d>(drawing: &'d str, start: &str) -> Vec<&'d str> {
    let elements = drawing.split(start).skip(1);
    elements
        .map(|rest| rest.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0)
        .collect()
}

fn key(name: &str, kind: &str) -> ProblemKey {
    ProblemKey {
        program: format!("text of {name}"),
        name: name.to_string(),
        sizes: [("N0".to_string(), 1024)].into(),
        device: Device {
            fingerprint: format!("{kind} made up 1.0"),
            name: "made up".to_string(),
            kind: kind.to_string(),
        },
        flags: String::new(),
    }
}

fn measurement(outcome: Outcome, samples: Vec<f64>, message: &str) -> Measurement {
    let (message, host) = (message.to_string(), "test".to_string());
    Measurement { outcome, message, samples, started: 0, seed: 1, host }
}

fn candidate(number: usize) -> Candidate {
    Candidate {
        hash: format!("{number:016x}"),
        text: TWICE.to_string(),
        // The first one is the program as it is.
        derivation: if number == 0 { "".into() } else { DERIVATION.into() },
        parameters: if number == 0 { String::new() } else { format!("T={number},R=4") },
        global: "N".to_string(),
        local: "64".to_string(),
        kernel_hash: String::new(),
    }
}

fn numbers(random: &mut fastrand::Rng) -> BTreeMap<String, f64> {
    let value = |k: usize, random: &mut fastrand::Rng| match k {
        k if k < VARYING => 1.0 + f64::from(random.u8(..16)),
        _ => k as f64,
    };
    names().iter().enumerate().map(|(k, name)| (name.to_string(), value(k, random))).collect()
}

fn time(numbers: &BTreeMap<String, f64>) -> f64 {
    1.0 + numbers[names()[0]] + 0.2 * numbers[names()[1]]
}

/// Adds candidates, of which every tenth is wrong and every tenth was timed once.
fn fill(path: &Path, key: &ProblemKey, candidates: usize, version: u32) -> ProblemId {
    let mut store = Store::open(path).unwrap();
    let problem = store.problem(key).unwrap();
    let mut random = fastrand::Rng::with_seed(candidates as u64 + key.name.len() as u64);
    for k in 0..candidates {
        let id = store.candidate(problem, &candidate(k)).unwrap();
        let numbers = numbers(&mut random);
        // The program as it is is never the best.
        let ms = if k == 0 { 30.0 } else { time(&numbers) };
        let measurement = match k % 10 {
            9 => measurement(Outcome::Wrong, Vec::new(), "element 3 is 1 and not 2"),
            8 => measurement(Outcome::Skipped, vec![50.0 * ms], "far slower"),
            _ => measurement(Outcome::Ok, vec![ms, 0.99 * ms, 1.01 * ms], ""),
        };
        store.record(id, &measurement).unwrap();
        store.record_features(id, version, &numbers).unwrap();
    }
    let run = Run {
        method: "random".to_string(),
        seed: 7,
        budget: "30 trials".to_string(),
        version: "0.1.0".to_string(),
        started: 951_782_400,
    };
    let run = store.start_run(problem, &run).unwrap();
    store.finish_run(run, 951_782_460, &[("low_level_programs".to_string(), 123)].into()).unwrap();
    problem
}

/// Two programs on one device, one on each of two others.
fn with_database() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    fill(&path, &key("twice", "cpu"), 30, VERSION);
    fill(&path, &key("thrice", "cpu"), 30, VERSION);
    fill(&path, &key("twice", "opencl"), 24, VERSION);
    fill(&path, &key("twice", "cuda"), 3, VERSION);
    folder
}

#[test]
fn every_problem_has_its_drawings() {
    let folder = with_database();
    let dom = shown(&folder);
    let sections = sections(&dom);
    assert_eq!(sections.len(), 4);
    for (number, name) in [(1, "twice"), (2, "thrice"), (3, "twice"), (4, "twice")] {
        assert!(dom.contains(&format!("<a href=\"#problem-{number}\">{name}</a>")), "{dom}");
    }

    let first = sections[0];
    assert!(first.contains("N = 1024") && first.contains("started 2000-02-29 00:00 UTC"));
    assert!(first.contains("<td>low-level programs</td><td class=\"number\">123</td>"));
    assert!(first.contains("<td>wrong</td><td class=\"number\">3</td>"), "{first}");
    assert!(first.contains("element 3 is 1 and not 2"));
    assert!(first.contains("<dt>default lowering</dt><dd>30.00 ms</dd>"), "{first}");

    // Every candidate that has a time is in one bar.
    let histogram = drawing(first, "histogram");
    let in_bars = |class: &str| -> usize {
        let bars = titles(histogram, &format!("<rect class=\"{class}\""));
        bars.iter().map(|t| t.split(' ').next().unwrap().parse::<usize>().unwrap()).sum()
    };
    assert_eq!((in_bars("bar ok"), in_bars("bar slow")), (24, 3));
    assert_eq!(count(histogram, "<line class=\"default\""), 1);
    assert!(histogram.contains("speed relative to the best (%)"));
    assert_eq!(titles(drawing(first, "failures"), "<rect"), ["wrong: 3 (candidates)"]);

    let progress = drawing(first, "progress");
    let curves = titles(progress, "<polyline class=\"curve ");
    assert_eq!(curves.len(), 3);
    for (curve, name) in curves.iter().zip(["learning", "as measured", "random"]) {
        assert!(curve.starts_with(&format!("{name}: 100.0 % after 30 trials")), "{curve}");
    }
    assert_eq!(count(progress, "<polygon class=\"band "), 2);

    assert_eq!(count(drawing(first, "scatter"), "<circle class=\"mark\""), 27);
    assert_eq!(count(drawing(first, "importance"), "<rect class=\"bar\""), VARYING);
    let radar = drawing(first, "radar");
    assert_eq!(count(radar, "<polygon class=\"shape"), 10);
    assert_eq!(count(radar, "<polygon class=\"shape first\""), 1);
    assert_eq!(count(radar, "<text class=\"tick\""), 8);
}

#[test]
fn it_says_what_a_model_was_trained_on() {
    let folder = with_database();
    let page = page(&folder);
    let sections = sections(&page);
    assert!(sections[0].contains("trained on 27 candidates of other programs"), "{}", sections[0]);
    assert!(sections[0].contains("Correlation (Pearson) 0."), "{}", sections[0]);
    assert!(sections[2].contains("trained on every second candidate of this problem (11)"));
    assert_eq!(count(drawing(sections[2], "scatter"), "<circle class=\"mark\""), 11);
    assert!(sections[3].contains("Too few candidates were timed to train a model: 3 here"));
    assert!(!sections[3].contains("chart scatter"));
}

#[test]
fn the_kernel_is_in_the_language_of_the_device() {
    let folder = with_database();
    let dom = shown(&folder);
    for (section, (language, part)) in sections(&dom).iter().zip([
        ("C", "void twice("),
        ("C", "void twice("),
        ("OpenCL C", "get_global_id(0)"),
        ("CUDA C", "threadIdx.x"),
    ]) {
        let (_, kernel) = section.split_once("<details class=\"kernel\">").unwrap();
        let kernel = kernel.split_once("</details>").unwrap().0;
        assert!(kernel.contains(&format!("in {language}</summary>")), "{kernel}");
        assert!(kernel.contains(part) && kernel.contains("2.0f"), "{kernel}");
        assert_eq!(count(section, "<details class=\"step\">"), 2);
        assert!(section.contains("<b>map_to_glb</b> at root, d = 0"));
        assert!(section.contains("<mark>def twice[N](xs: [f32; N]) -&gt; [f32; N] = mapGlb(0,"));
    }
}

/// The number behind a name in the first element with this start.
fn attribute(drawing: &str, start: &str, name: &str) -> f64 {
    let (_, element) = drawing.split_once(start).unwrap();
    let (_, value) = element.split_once(&format!(" {name}=\"")).unwrap();
    value.split_once('"').unwrap().0.parse().unwrap()
}

#[test]
fn what_is_long_is_folded_and_labels_keep_their_distance() {
    let folder = with_database();
    let dom = shown(&folder);
    for section in sections(&dom) {
        assert!(!section.contains("<details class=\"program\" open"), "programs are folded");
        let (before, derivation) = section.split_once("<details class=\"derivation\">").unwrap();
        assert!(!before.contains("class=\"step\"") && !derivation.starts_with(" open"));
        assert!(derivation.contains("<summary>How it was derived, by 1 rules</summary>"));
        // What is said of the default lowering stands above all bars.
        let histogram = drawing(section, "histogram");
        let note = attribute(histogram, "<text class=\"note\"", "y");
        let line = attribute(histogram, "<line class=\"default\"", "y2");
        assert!(note < line, "{note} {line}");
        let bars = histogram.split("<rect class=\"bar").skip(1);
        assert!(bars.map(|bar| attribute(bar, "", "y")).all(|top| top >= line), "{histogram}");
    }
    // All curves are seen where they are the same: the wide one is below, the dashed one on top.
    let page = page(&folder);
    let (wide, thin) =
        (".curve.learning { stroke: var(--orange); stroke-width: 6", "stroke-width: 2.6");
    assert!(page.contains(wide) && page.contains(thin) && page.contains("stroke-dasharray: 7 5"));
    assert!(page.contains("@media (max-width: 44rem)") && page.contains("data-label=\"sizes\""));
}

/// No part is wider than the screen, but for what scrolls by itself.
#[test]
fn the_page_fits_narrow_screens() {
    let folder = with_database();
    page(&folder);
    let text = fs::read_to_string(folder.path().join("report.html")).unwrap();
    // A script that the page itself must not have measures it.
    let policy = text.find("<meta http-equiv").unwrap();
    let end = policy + text[policy..].find('>').unwrap() + 1;
    let measure = "<script>onload = () => document.title = 'width ' + \
                   document.documentElement.scrollWidth + ' of ' + innerWidth;</script></body>";
    let text = format!("{}{}", &text[..policy], text[end..].replace("</body>", measure));
    // Chromium's windows are no narrower than 500 pixels; a frame is.
    let inside = text.replace('&', "&amp;").replace('"', "&quot;");
    for width in [400, 1400] {
        let outer = folder.path().join("outer.html");
        let frame = format!(
            "<!DOCTYPE html><iframe id=f width={width} height=800 srcdoc=\"{inside}\"></iframe>\
             <script>setInterval(() => document.title = f.contentDocument.title, 50)</script>"
        );
        fs::write(&outer, frame).unwrap();
        let (dom, _) = browsed(&outer);
        let (_, title) = dom.split_once("<title>width ").unwrap();
        let (found, rest) = title.split_once(" of ").unwrap();
        let inner: u32 = rest.split_once('<').unwrap().0.parse().unwrap();
        let found: u32 = found.parse().unwrap();
        assert!(found <= inner && inner <= width, "{found} of {inner} at {width}");
    }
}

#[test]
fn nothing_else_is_needed_and_the_same_comes_out_again() {
    let folder = with_database();
    let first = page(&folder);
    for part in ["http:", "https:", "src=", "url(", "@import", "<script"] {
        assert!(!first.contains(part), "{part}");
    }
    assert!(first.contains("prefers-color-scheme: dark") && first.contains("width=device-width"));
    assert_eq!(page(&folder), first);
    let printed = in_folder(folder.path(), &["report", "t.db"]);
    assert_eq!((printed.code, printed.stdout), (0, first));
}

#[test]
fn what_tuning_found_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let program = "def twice[N](xs: [f32; N]) -> [f32; N] = xs |> map(\\x -> x * 2.0);";
    fs::write(folder.path().join("p.lift"), program).unwrap();
    let small = "[algorithms]\ndepth = 1\nbreadth = 2\n\n[measure]\nrepeats = 2\nfinalists = 0\n";
    fs::write(folder.path().join("small.toml"), small).unwrap();
    let tune = ["tune", "p.lift", "--size", "N=256", "--db", "t.db", "--config", "small.toml"];
    let arguments = [&tune[..], &["--trials", "4"]].concat();
    let ran = with_env(folder.path(), &arguments, &[("OMP_NUM_THREADS", "1")]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);

    let dom = shown(&folder);
    assert_eq!(sections(&dom).len(), 1);
    assert!(!dom.contains("<nav"));
    assert!(dom.contains("N = 256") && dom.contains("learning, seed 1, 4 trials"));
    let curves = titles(drawing(&dom, "progress"), "<polyline class=\"curve ");
    assert!(curves[1].starts_with("as measured: 100.0 % after 4 trials"), "{curves:?}");
    // One product an element, and eight bytes.
    for unit in [" GB/s</dd>", " GFLOP/s</dd>"] {
        assert_eq!(count(&dom, unit), 2, "{dom}");
    }
    assert!(dom.contains("<details class=\"kernel\">") && dom.contains("2.0f"));
}

#[test]
fn a_browser_would_complain() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broken.html");
    fs::write(&file, "<!DOCTYPE html><script>nothing_of_that_name()</script>").unwrap();
    let (_, complaints) = browsed(&file);
    assert_eq!(complaints.len(), 1, "{complaints:?}");
}

#[test]
fn texts_of_the_database_are_no_markup() {
    let folder = tempfile::tempdir().unwrap();
    let mut evil = key("<img src=x onerror=alert(1)>", "cpu");
    evil.device.name = "\"><script>alert(2)</script>".to_string();
    evil.flags = "<em>".to_string();
    let problem = fill(&folder.path().join("t.db"), &evil, 30, VERSION);
    let mut store = Store::open(folder.path().join("t.db")).unwrap();
    let fast = Candidate {
        hash: "<tt>".to_string(),
        text: "def <i>".to_string(),
        derivation: "def <u>;\n\n// 1: <s> at </summary><q>\n</pre><var>\n".into(),
        parameters: "T=</title><b id=b>".to_string(),
        global: "<sub>".to_string(),
        local: "<sup>".to_string(),
        kernel_hash: String::new(),
    };
    let fast = store.candidate(problem, &fast).unwrap();
    let mut random = fastrand::Rng::with_seed(1);
    store.record(fast, &measurement(Outcome::Ok, vec![0.001], "")).unwrap();
    store.record_features(fast, VERSION, &numbers(&mut random)).unwrap();
    let crashed = store.candidate(problem, &candidate(1000)).unwrap();
    store.record(crashed, &measurement(Outcome::Crashed, Vec::new(), "<iframe>")).unwrap();
    drop(store);

    let dom = shown(&folder);
    for tag in ["img", "script", "em", "tt", "i", "u", "s", "q", "var", "sub", "sup", "iframe"] {
        assert!(!dom.contains(&format!("<{tag}>")) && !dom.contains(&format!("<{tag} ")), "{tag}");
        assert!(dom.contains(&format!("&lt;{tag}")), "{tag} is not shown");
    }
    assert!(!dom.contains("<b id"));
    assert!(dom.contains("It cannot be compiled to a kernel here: "));
}

/// What is said where there is no page; nothing is written.
#[track_caller]
fn said(folder: &TempDir) -> String {
    let ran = report(folder);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
    assert!(!folder.path().join("report.html").exists());
    ran.stderr
}

#[test]
fn a_file_that_is_no_database_makes_no_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let text = said(&folder);
    assert!(
        text.contains("there is no database t.db: make one with `lift tune --db t.db`"),
        "{text}"
    );
    assert!(!path.exists());

    fs::write(&path, "").unwrap();
    let text = said(&folder);
    assert!(text.contains("t.db is empty: make one with"), "{text}");
    assert_eq!(fs::read(&path).unwrap(), b"");

    fs::write(&path, "a text about something else, long enough to have a header".repeat(9))
        .unwrap();
    let text = said(&folder);
    assert!(text.contains("t.db is not a database"), "{text}");
}

#[test]
fn half_a_database_makes_no_page() {
    let whole = with_database();
    let bytes = fs::read(whole.path().join("t.db")).unwrap();
    for length in [bytes.len() / 2 + 100, 4096 * 3, 4096 * 8] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("t.db"), &bytes[..length]).unwrap();
        let text = said(&folder);
        assert!(text.contains("t.db is damaged"), "{length}: {text}");
    }
}

#[test]
fn a_database_without_measurements_makes_no_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    drop(Store::open(&path).unwrap());
    let text = said(&folder);
    assert!(text.contains("has no measured candidate: measure some with `lift tune"), "{text}");

    fill(&path, &key("twice", "cpu"), 0, VERSION);
    let text = said(&folder);
    assert!(text.contains("has no measured candidate"), "{text}");
}

#[test]
fn where_nothing_is_right_the_page_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let mut store = Store::open(&path).unwrap();
    let problem = store.problem(&key("twice", "cpu")).unwrap();
    for k in 0..3 {
        let id = store.candidate(problem, &candidate(k)).unwrap();
        store.record(id, &measurement(Outcome::Crashed, Vec::new(), "signal 11")).unwrap();
    }
    drop(store);
    let dom = shown(&folder);
    assert!(dom.contains("none is right") && dom.contains("signal 11"), "{dom}");
    assert!(dom.contains("there are no speeds to compare"));
    assert!(dom.contains("No run is recorded."));
    assert_eq!(titles(drawing(&dom, "failures"), "<rect"), ["crashed: 3 (candidates)"]);
    for class in ["histogram", "progress", "scatter", "importance", "radar"] {
        assert!(!dom.contains(&format!("chart {class}")), "{class}");
    }
}

#[test]
fn features_of_another_version_are_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    fill(&folder.path().join("t.db"), &key("twice", "cpu"), 30, VERSION + 1);
    let page = page(&folder);
    let why = format!(
        "No candidate has features of version {VERSION}, but of version {}: compute them with",
        VERSION + 1
    );
    // Instead of the scatter, the importance and the radar.
    assert_eq!(count(&page, &why), 3);
    assert!(page.contains("chart histogram") && page.contains("chart progress"));
}

#[test]
fn a_page_that_cannot_be_written_leaves_everything_as_it_was() {
    let folder = with_database();
    let before = fs::read(folder.path().join("t.db")).unwrap();
    let ran = in_folder(folder.path(), &["report", "t.db", "-o", "no-folder/report.html"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("cannot write no-folder/report.html"), "{}", ran.stderr);

    let ran = in_folder(folder.path(), &["report", "t.db", "-o", "./t.db"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("would replace the database"), "{}", ran.stderr);
    assert_eq!(fs::read(folder.path().join("t.db")).unwrap(), before);

    fs::create_dir(folder.path().join("report.html")).unwrap();
    let ran = report(&folder);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == "t.db" || name == "report.html"), "{left:?}");
}
