//! Libraries for CUDA, built and called where there is a toolkit and a device.

use std::path::Path;

use super::{CHAIN, caller, done, export, export_text, passes};

const TOOLKIT: &str = "/usr/local/cuda";

#[test]
fn libraries_for_cuda_take_the_callers_stream_and_memory() {
    let chain = ["--target", "cuda", "--at", "N=16", "--name", "chain"];
    let (mm, chain) = (
        export(&["programs/mm.lift", "--target", "cuda", "--at", "M=512,K=512,N=512"]),
        export_text(CHAIN, &chain),
    );
    let is_there = |file: &str| Path::new(TOOLKIT).join(file).exists();
    if !is_there("include/cuda.h")
        || !is_there("lib64/libnvrtc.so")
        || lift::open("cuda:0").is_err()
    {
        println!("there is no CUDA toolkit or device here: the libraries are not built");
        return;
    }
    let chain = chain.path().to_str().unwrap();
    let flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I.", "-I/usr/local/cuda/include"];
    let sources = ["-I", chain, "mm.c", &format!("{chain}/chain.c"), &caller("cuda.c")];
    let libraries = [
        "-L/usr/local/cuda/lib64",
        "-Wl,-rpath,/usr/local/cuda/lib64",
        "-lcuda",
        "-lnvrtc",
        "-o",
        "program",
    ];
    done(mm.path(), "cc", &[&flags[..], &sources, &libraries].concat());
    passes(mm.path());
}
