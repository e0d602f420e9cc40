//! Whatever a program calls its things, targets take it.
//!
//! The names are those that targets have a meaning for: keywords, and the macros and functions that the headers on this
//! machine define. Each is a definition, a size, an argument or a variable of a program that runs on devices.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use lift::{Compiled, Device, Language, Options, Sizes, Value};

/// Names in a program: an array and its size each.
const PER_PROGRAM: usize = 24;

const DEVICES: [&str; 2] = ["cpu", "opencl:pocl"];

/// A program of these names that adds the last elements of arrays: the k-th holds k + 1 elements, all k.
fn program(def: &str, names: &[String]) -> String {
    let half = names.len() / 2;
    let (sizes, arrays) = (&names[..half], &names[half..2 * half]);
    let params: Vec<String> =
        sizes.iter().zip(arrays).map(|(n, x)| format!("{x}: [f32; {n}]")).collect();
    let terms: Vec<String> =
        sizes.iter().zip(arrays).map(|(n, x)| format!("{x}[{n} - 1]")).collect();
    let (variable, element) = (&names[0], &names[half]);
    format!(
        "def {def}[{}]({}) -> [f32; 2] =\n  let total = {};\n  generate(2, \\k -> total) |> map(\\{element} -> let {variable} = {element} * 2.0; {variable} * {variable});",
        sizes.join(", "),
        params.join(", "),
        terms.join(" + ")
    )
}

fn check(def: &str, names: &[String], devices: &mut [Box<dyn Device>]) {
    let text = program(def, names);
    let parsed = lift::parse("names.lift", &text).unwrap_or_else(|e| panic!("{text}\n{e}"));
    let def = parsed.entry().unwrap();
    let count = names.len() / 2;
    let args: Vec<Value> = (0..count).map(|k| Value::from(vec![k as f32; k + 1])).collect();
    let doubled = (count * (count - 1)) as f32;
    let expected = format!("[{0:?}, {0:?}]", doubled * doubled);
    for device in devices {
        let mut compiled = Compiled::new(def, &Options::default(), &mut **device)
            .unwrap_or_else(|e| panic!("{text}\n{e}"));
        let run = compiled.run(&mut **device, &args, &Sizes::new());
        let run = run.unwrap_or_else(|e| panic!("{text}\n{e}"));
        assert_eq!(run.result.to_string(), expected, "{text}");
    }
}

fn open() -> Vec<Box<dyn Device>> {
    DEVICES.iter().map(|id| lift::open(id).unwrap()).collect()
}

/// Whether the language takes a name at all.
fn is_name(name: &str) -> bool {
    lift::parse("name.lift", &program(name, &[name.to_owned(), format!("{name}x")])).is_ok()
        && lift::parse("name.lift", &program("f", &["n".to_owned(), name.to_owned()])).is_ok()
}

#[test]
fn names_that_were_once_not_taken() {
    let names = "I y0 j1 linux unix local kernel global result g0 wg0 l0 once_1 total_2 INT_MIN M_PI_F __x _x x_ \
        SIZE_MAX HUGE_VALF UINT_MAX FLT_MAX MAXFLOAT LONG_MIN DBL_EPSILON CL_VERSION_1_2 M_E main free f32x4 float4 \
        lift_log2 lift_pow _Complex_I NULL errno int64_t size_t threadIdx blockDim __syncthreads warpSize double2 \
        signbit isnan INFINITY NAN complex bool_ status v__x kernel_ kernel__2";
    let names: Vec<String> =
        names.split_whitespace().map(str::to_owned).filter(|n| is_name(n)).collect();
    assert!(names.len() >= 50, "{}", names.len());
    let mut devices = open();
    // Each is a size once, and an array.
    check("linux", &names, &mut devices);
    let turned: Vec<String> = [&names[names.len() / 2..], &names[..names.len() / 2]].concat();
    check("__x", &turned, &mut devices);
}

#[test]
fn long_names_are_cut_and_stay_apart() {
    let long = "a".repeat(6000);
    let names: Vec<String> = ["b", "c", "d", "e"].map(|end| format!("{long}{end}")).to_vec();
    check(&long, &names, &mut open());
    let parsed = lift::parse("long.lift", &program(&long, &names)).unwrap();
    for language in [Language::C, Language::OpenCl, Language::Cuda] {
        let (_, texts) =
            lift::compile_text(parsed.entry().unwrap(), &Options::default(), language).unwrap();
        assert!(texts.iter().all(|k| k.name.len() <= 64 && !k.text.contains(&"a".repeat(100))));
    }
}

/// A sample of all names; `LIFT_NAMES=500` makes it so many programs.
#[test]
fn names_that_targets_have_a_meaning_for() {
    let names: Vec<String> = known_names().into_iter().filter(|n| is_name(n)).collect();
    assert!(names.len() > 500, "only {} names", names.len());
    let programs = std::env::var("LIFT_NAMES").ok().and_then(|n| n.parse().ok()).unwrap_or(6);
    let mut devices = open();
    let mut random = lift_random::Random::new(12);
    let mut next = |below: usize| random.below(below as u64) as usize;
    for _ in 0..programs {
        let mut chosen = BTreeSet::new();
        while chosen.len() < PER_PROGRAM {
            chosen.insert(names[next(names.len())].clone());
        }
        let mut chosen: Vec<String> = chosen.into_iter().collect();
        for k in (1..chosen.len()).rev() {
            chosen.swap(k, next(k + 1));
        }
        check(&names[next(names.len())], &chosen, &mut devices);
    }
}

/// Keywords, and what headers define.
fn known_names() -> BTreeSet<String> {
    let mut names: BTreeSet<String> = KEYWORDS.split_whitespace().map(str::to_owned).collect();
    let headers = ["stdint", "stdbool", "math", "complex", "stdlib", "limits", "float", "string"];
    let includes: String = headers.iter().map(|h| format!("#include <{h}.h>\n")).collect();
    names.extend(defined(&preprocessed(&includes, "-dM")));
    names.extend(called(&preprocessed(&includes, "-P")));
    let folder = std::path::Path::new("/usr/share/pocl/include");
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        names.extend(defined(&text));
        names.extend(called(&text));
    }
    names
}

fn preprocessed(text: &str, flag: &str) -> String {
    let mut child = Command::new("cc")
        .args(["-std=gnu11", "-fopenmp", "-E", flag, "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

/// The macros that a text defines.
fn defined(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix("#define "));
    lines.map(first_word).filter(|word| !word.is_empty()).collect()
}

/// The words before parentheses: the functions that a text declares, and more.
fn called(text: &str) -> Vec<String> {
    let before = text.split('(').map(|part| {
        let part = part.trim_end();
        let start = part.rfind(|c: char| !is_part(c)).map_or(0, |at| at + 1);
        part.get(start..).unwrap_or_default().to_owned()
    });
    before.filter(|w| w.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')).collect()
}

fn first_word(text: &str) -> String {
    text.trim_start().chars().take_while(|c| is_part(*c)).collect()
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

const KEYWORDS: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t \
    char32_t class compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield \
    decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline \
    int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register \
    reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch template \
    this thread_local throw true try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t \
    while xor xor_eq kernel global local constant generic pipe read_only write_only read_write uniform half uchar ushort \
    uint ulong float2 float4 float16 double8 half4 int3 uchar16 image2d_t sampler_t event_t __global __kernel __local \
    __global__ __device__ __shared__ __restrict__ threadIdx blockIdx blockDim gridDim warpSize dim3 make_float4 _Float16 \
    _Bool _Complex __attribute__ __builtin_convertvector linux unix i386";
