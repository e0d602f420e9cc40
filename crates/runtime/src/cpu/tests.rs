//! What needs a compiler or a cache of the test's own; the rest is tested through the public API.

use std::fs;
use std::path::PathBuf;

use super::*;

const ANSWER: &str = "void answer(int *out) { out[0] = 42; }";

/// A folder that is removed with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("lift-test-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Folder(path)
    }

    fn cpu(&self) -> Cpu {
        Cpu::new(Compiler::named("cc").unwrap(), Cache::at(self.0.clone()).unwrap())
    }

    fn files(&self) -> Vec<PathBuf> {
        fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn answer(cpu: &mut Cpu) -> i32 {
    answer_of(cpu, ANSWER)
}

fn answer_of(cpu: &mut Cpu, text: &str) -> i32 {
    let params = [ArgType::Pointer];
    let kernel = cpu.compile(text, "answer", &params, &CompileOptions::default()).unwrap();
    let out = cpu.allocate(4).unwrap();
    cpu.launch(kernel, &Launch::SINGLE, &[Arg::Buffer(out)]).unwrap();
    let mut bytes = [0; 4];
    cpu.read(out, &mut bytes).unwrap();
    cpu.unload(kernel).unwrap();
    i32::from_ne_bytes(bytes)
}

#[test]
fn the_same_text_is_compiled_once() {
    let folder = Folder::new("once");
    assert_eq!(answer(&mut folder.cpu()), 42);
    let [library] = &folder.files()[..] else { panic!("one library and nothing else") };
    let made = fs::metadata(library).unwrap().modified().unwrap();
    // Another device, as another process would have.
    assert_eq!(answer(&mut folder.cpu()), 42);
    assert_eq!(folder.files().len(), 1);
    assert_eq!(fs::metadata(library).unwrap().modified().unwrap(), made);
}

#[test]
fn other_options_are_another_library() {
    let folder = Folder::new("options");
    let mut cpu = folder.cpu();
    for fast_math in [false, true] {
        cpu.compile(ANSWER, "answer", &[ArgType::Pointer], &CompileOptions { fast_math }).unwrap();
    }
    assert_eq!(folder.files().len(), 2);
}

/// Flags from outside have the last word, and make another library.
#[test]
fn flags_may_be_added() {
    let folder = Folder::new("flags");
    let text = "void answer(int* out) {
#ifdef __OPTIMIZE__
  out[0] = 42;
#else
  out[0] = 17;
#endif
}";
    let mut found = Vec::new();
    for flags in ["", "-O0"] {
        let compiler = Compiler::named("cc").unwrap().with_flags(flags);
        let mut cpu = Cpu::new(compiler, Cache::at(folder.0.clone()).unwrap());
        found.push(answer_of(&mut cpu, text));
    }
    assert_eq!(found, [42, 17]);
    assert_eq!(folder.files().len(), 2);
}

#[test]
fn a_broken_library_is_made_again() {
    let folder = Folder::new("broken");
    assert_eq!(answer(&mut folder.cpu()), 42);
    let library = folder.files().remove(0);
    fs::write(&library, "").unwrap();
    assert_eq!(answer(&mut folder.cpu()), 42);
    assert!(fs::metadata(&library).unwrap().len() > 0);
}

/// Another text with the same kernel, so that its library could stand in for the right one.
const SEVENTEEN: &str = "void answer(int *out) { out[0] = 17; }";

/// The file that a text's library has in the folder.
fn library_of(folder: &Folder, text: &str) -> PathBuf {
    let mut cpu = folder.cpu();
    let before = folder.files();
    answer_of(&mut cpu, text);
    folder.files().into_iter().find(|file| !before.contains(file)).unwrap()
}

/// A loader maps a library that is too short and ends the process when it looks at what is missing.
#[test]
fn a_library_that_was_cut_is_made_again() {
    let folder = Folder::new("cut");
    let library = library_of(&folder, ANSWER);
    let whole = fs::read(&library).unwrap();
    for length in [whole.len() / 2, whole.len() - 1] {
        fs::write(&library, &whole[..length]).unwrap();
        assert_eq!(answer(&mut folder.cpu()), 42);
        assert!(fs::read(&library).unwrap().len() > length);
    }
}

#[test]
fn a_library_in_the_place_of_another_is_not_run() {
    let folder = Folder::new("swapped");
    let (right, wrong) = (library_of(&folder, ANSWER), library_of(&folder, SEVENTEEN));
    fs::copy(&wrong, &right).unwrap();
    assert_eq!(answer(&mut folder.cpu()), 42);
    fs::remove_file(&right).unwrap();
    fs::hard_link(&wrong, &right).unwrap();
    assert_eq!(answer(&mut folder.cpu()), 42);
    assert_eq!(answer_of(&mut folder.cpu(), SEVENTEEN), 17);
}

#[test]
fn a_linked_library_is_not_run_and_the_link_is_replaced() {
    let folder = Folder::new("linked");
    let elsewhere = Folder::new("elsewhere");
    let right = library_of(&folder, ANSWER);
    let same = library_of(&elsewhere, ANSWER);
    fs::remove_file(&right).unwrap();
    std::os::unix::fs::symlink(&same, &right).unwrap();
    assert_eq!(answer(&mut folder.cpu()), 42);
    assert!(fs::symlink_metadata(&right).unwrap().is_file());
}

#[test]
fn a_library_that_others_could_write_is_made_again() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let folder = Folder::new("writable");
    let library = library_of(&folder, ANSWER);
    assert_eq!(fs::metadata(&library).unwrap().mode() & 0o777, 0o600);
    let before = fs::metadata(&library).unwrap().ino();
    fs::set_permissions(&library, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(answer(&mut folder.cpu()), 42);
    let after = fs::metadata(&library).unwrap();
    assert_ne!(after.ino(), before);
    assert_eq!(after.mode() & 0o777, 0o600);
}

#[test]
fn a_folder_that_others_could_write_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("shared");
    fs::create_dir(&folder.0).unwrap();
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o777)).unwrap();
    let error = Cache::at(folder.0.clone()).err().unwrap().to_string();
    assert!(error.contains("others can write to it"), "{error}");
}

#[test]
fn a_kernel_may_have_a_longer_name_than_a_file() {
    let folder = Folder::new("long");
    let name = "k".repeat(5_000);
    let text = format!("void {name}(int *out) {{ out[0] = 42; }}");
    let options = CompileOptions::default();
    assert!(folder.cpu().compile(&text, &name, &[ArgType::Pointer], &options).is_ok());
}

#[test]
fn many_compile_the_same_text_at_once() {
    let folder = Folder::new("many");
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(|| answer(&mut folder.cpu()))).collect();
        for worker in workers {
            assert_eq!(worker.join().unwrap(), 42);
        }
    });
    assert_eq!(folder.files().len(), 1);
}

#[test]
fn a_failed_compile_leaves_nothing() {
    let folder = Folder::new("nothing");
    let mut cpu = folder.cpu();
    assert!(cpu.compile("void k(", "k", &[], &CompileOptions::default()).is_err());
    assert_eq!(folder.files(), Vec::<PathBuf>::new());
}

#[test]
fn a_missing_compiler_is_named() {
    let error = Compiler::named("/nonexistent/cc").err().unwrap();
    assert_eq!(
        error.to_string(),
        "the C compiler `/nonexistent/cc` is not installed; \
         install gcc or clang, or set CC to a C compiler"
    );
}

#[test]
fn a_compiler_that_says_nothing_is_reported() {
    let folder = Folder::new("false");
    let cache = Cache::at(folder.0.clone()).unwrap();
    let mut cpu = Cpu::new(Compiler::named("false").unwrap(), cache);
    let error = cpu.compile(ANSWER, "answer", &[ArgType::Pointer], &CompileOptions::default());
    let text = error.err().unwrap().to_string();
    assert!(text.contains("false does not compile the kernel `answer`"), "{text}");
    assert!(text.contains("exit status: 1 without a message"), "{text}");
}

#[test]
fn a_compiler_that_breaks_down_gets_less_to_do() {
    compiles_with_less("breakdown", "echo 'internal compiler error: in vect' >&2; exit 1");
}

#[test]
fn a_compiler_that_never_ends_gets_less_to_do() {
    compiles_with_less("endless", "while :; do :; done");
}

/// A kernel is compiled although the compiler does this with all optimisations.
fn compiles_with_less(name: &str, otherwise: &str) {
    let folder = Folder::new(name);
    fs::create_dir_all(&folder.0).unwrap();
    let compiler = folder.0.join("cc");
    let usual = "case \"$*\" in *-O1*|*--version*) exec cc \"$@\";; esac";
    fs::write(&compiler, format!("{usual}\n{otherwise}\n")).unwrap();
    let compiler = Compiler::named(&format!("sh {}", compiler.display())).unwrap();
    let compiler = compiler.with_patience(1);
    let mut cpu = Cpu::new(compiler, Cache::at(folder.0.join("cache")).unwrap());
    let kernel = cpu.compile(ANSWER, "answer", &[ArgType::Pointer], &CompileOptions::default());
    assert!(kernel.is_ok(), "{:?}", kernel.err().map(|e| e.to_string()));
}

#[test]
fn a_folder_that_is_a_file_is_reported() {
    let folder = Folder::new("file");
    fs::write(&folder.0, "").unwrap();
    let error = Cache::at(folder.0.clone()).err().unwrap().to_string();
    assert!(error.contains("for compiled kernels failed"), "{error}");
    fs::remove_file(&folder.0).unwrap();
}

/// Points at the borders of a row choose by the same conditions more than once.
#[test]
#[cfg(target_arch = "x86_64")]
fn choices_by_the_same_conditions_become_vector_code() {
    const TEXT: &str = "void border(const float *restrict x, float *restrict r) {
  for (long i = 0; i < 4096; ++i) {
    float inside = (0 <= i - 1 ? 1.0f : 0.0f) + (i + 1 < 4096 ? 1.0f : 0.0f);
    r[i] = inside * x[i] + (0 <= i - 1 ? 0.5f : 0.25f) + (i + 1 < 4096 ? 0.125f : 3.0f);
  }
}";
    let compiler = Compiler::named("cc").unwrap();
    // Others do not say of which loops they made vectors.
    let is_gcc = compiler.version().contains("Free Software Foundation");
    if !is_gcc || !std::arch::is_x86_feature_detected!("avx2") {
        return;
    }
    let folder = Folder::new("choices");
    fs::create_dir_all(&folder.0).unwrap();
    let report = folder.0.join("report");
    let compiler = compiler.with_flags(&format!("-fopt-info-vec={}", report.display()));
    let mut cpu = Cpu::new(compiler, Cache::at(folder.0.join("cache")).unwrap());
    let params = [ArgType::Pointer, ArgType::Pointer];
    cpu.compile(TEXT, "border", &params, &CompileOptions::default()).unwrap();
    let said = fs::read_to_string(&report).unwrap();
    assert!(said.contains("loop vectorized"), "{said}");
}

/// A compiler that is not GCC refuses flags that only GCC has.
#[test]
fn other_compilers_are_given_no_flags_of_gcc() {
    let folder = Folder::new("clang");
    fs::create_dir_all(&folder.0).unwrap();
    let versions =
        ["cc (Debian) 12.2.0\nCopyright (C) 2022 Free Software Foundation", "clang version 14.0.6"];
    let [gcc, clang] = versions.map(|version| {
        let said = folder.0.join("said");
        fs::write(&said, format!("echo '{version}'")).unwrap();
        let compiler = Compiler::named(&format!("sh {}", said.display())).unwrap();
        compiler.fingerprint(&CompileOptions::default())
    });
    let flag = "-fno-thread-jumps";
    assert!(gcc.contains(flag) && !clang.contains(flag), "{gcc}\n{clang}");
}
