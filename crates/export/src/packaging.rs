//! How others build the library and find it: CMake and pkg-config.

use lift_runtime::Language;

pub fn cmake(name: &str, language: Language) -> String {
    let own = match language {
        Language::C => include_str!("support/c.cmake"),
        Language::OpenCl => include_str!("support/opencl.cmake"),
        Language::Cuda => include_str!("support/cuda.cmake"),
    };
    let text = [include_str!("support/begin.cmake"), own, include_str!("support/end.cmake")];
    text.join("\n").replace("NAME", name)
}

/// A template that CMake fills in.
pub fn pkg_config(name: &str, definition: &str, language: Language) -> String {
    let libraries = match language {
        Language::C => "-lm @LIFT_OPENMP@",
        Language::OpenCl => "-lOpenCL",
        Language::Cuda => "-lcuda -lnvrtc",
    };
    include_str!("support/library.pc.in")
        .replace("NAME", name)
        .replace("DEFINITION", definition)
        .replace("LIBRARIES", libraries)
}
