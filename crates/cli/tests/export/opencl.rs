//! A library for OpenCL, called on PoCL.

use super::{caller, done, export, passes};

#[test]
fn a_library_for_opencl_takes_the_callers_queue_and_buffers() {
    let folder = export(&["programs/mm.lift", "--target", "opencl", "--at", "M=32,K=24,N=40"]);
    let sources =
        ["mm.c", &caller("opencl.c"), "-I.", "-l:libOpenCL.so.1", "-lpthread", "-o", "program"];
    let flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1"];
    done(folder.path(), "cc", &[&flags[..], &sources].concat());
    passes(folder.path());
}
