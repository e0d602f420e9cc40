//! Whole kernels of whole programs, compared with `tests/golden`. `BLESS=1` rewrites the files.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use lift::{Language, Options, compile_text};

/// Compares the text of a program's kernels with the file of its name.
fn compare(program: &str, language: Language, options: &Options) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = here.join("../../programs").join(program);
    let source = std::fs::read_to_string(&path).unwrap();
    let parsed = lift::parse(program, &source).unwrap();
    let (_, kernels) = compile_text(parsed.entry().unwrap(), options, language).unwrap();
    let texts: Vec<&str> = kernels.iter().map(|k| k.text.as_str()).collect();
    let text = texts.join("\n");
    let stem = path.file_stem().unwrap().to_str().unwrap();
    let ending = match language {
        Language::OpenCl => "cl",
        Language::Cuda => "cu",
        Language::C => "c",
    };
    let file = here.join("tests/golden").join(format!("{stem}.{ending}"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, text).unwrap();
        return;
    }
    let recorded = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(recorded == text, "{} is not\n{text}\nBLESS=1 accepts it", file.display());
}

fn with_sizes(sizes: &[(&str, i128)]) -> Options {
    let sizes = sizes.iter().map(|(name, n)| (name.to_string(), *n)).collect();
    Options { sizes, ..Options::default() }
}

/// Listing 4.6 of the thesis. The same are: the loop over work-groups with its stride, which stays as there
/// are fewer groups than chunks; the sum of two products, read at `128 * wg + 2 * l + i`, straight in each of
/// 64 work-items; a loop of six steps by fewer and fewer work-items, each of which adds elements `2 * l` and
/// `2 * l + 1` of one buffer to the other; the result by one work-item; a barrier after the first step, after
/// each iteration and at the end of a chunk.
///
/// The buffers that change places are the two halves of one, where the listing has three and pointers to
/// them. The listing's second barrier in an iteration, after swapping pointers that every work-item has for
/// itself, is not needed and not there.
#[test]
fn partial_dot() {
    let options = Options { global: Some(vec![1024]), ..Options::default() };
    compare("thesis/partial_dot.lift", Language::OpenCl, &options);
}

/// The default lowering with sizes as arguments.
#[test]
fn multiplication() {
    compare("mm.lift", Language::OpenCl, &Options::default());
    compare("mm.lift", Language::Cuda, &Options::default());
}

/// Tiles in local memory, blocks in registers.
#[test]
fn tiled_multiplication() {
    let sizes = with_sizes(&[("M", 1024), ("K", 1024), ("N", 1024)]);
    compare("thesis/mm_local.lift", Language::OpenCl, &sizes);
    compare("thesis/mm_local.lift", Language::Cuda, &sizes);
}

/// A stencil for a CPU.
#[test]
fn stencil() {
    compare("stencil/jacobi2d_5.lift", Language::C, &Options::default());
}

/// A reduction of any length.
#[test]
fn sum() {
    compare("reduce/sum.lift", Language::OpenCl, &Options::default());
}

/// Groups whose warps fold by shuffles, and one group for their results; numbers, and pairs.
#[test]
fn folds_by_warps() {
    compare("reduce/sum.lift", Language::Cuda, &Options::default());
    compare("reduce/argmin.lift", Language::Cuda, &with_sizes(&[("N", 100_000)]));
}

/// Vectors in local memory.
#[test]
fn nbody() {
    compare("thesis/nbody_local.lift", Language::OpenCl, &Options::default());
}
