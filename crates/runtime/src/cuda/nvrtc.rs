//! CUDA text to machine code.

#![allow(unsafe_code)]

use std::ffi::{CString, c_char};
use std::path::PathBuf;

use cudarc::nvrtc::{result, sys};

use crate::{CompileOptions, RuntimeError};

/// Ensures that the library can be called.
pub fn find() -> Result<(), RuntimeError> {
    // SAFETY: Loading the library runs its initialisers, which expect it.
    let present = || unsafe { sys::is_culib_present() };
    if present() {
        return Ok(());
    }
    // CUDA's own folder is often not among those the system searches. Once a library is loaded from
    // there the system knows it by name.
    for folder in toolkits() {
        let path = folder.join("lib64/libnvrtc.so");
        // SAFETY: As above.
        if let Ok(library) = unsafe { libloading::Library::new(path) } {
            std::mem::forget(library);
            if present() {
                return Ok(());
            }
        }
    }
    Err(RuntimeError::Missing {
        what: "libnvrtc.so is not installed".to_string(),
        advice: "install the CUDA toolkit, set CUDA_PATH to where it is, or use another device"
            .to_string(),
    })
}

fn toolkits() -> Vec<PathBuf> {
    let named = ["CUDA_PATH", "CUDA_HOME"].into_iter().filter_map(std::env::var_os);
    named.map(PathBuf::from).chain([PathBuf::from("/usr/local/cuda")]).collect()
}

/// Machine code for the architecture, or PTX where the compiler is older than the device.
///
/// Requires: [`find`] has succeeded; no zero bytes in the texts.
pub fn compile(
    device: &str,
    source: &str,
    name: &str,
    architecture: u32,
    options: &CompileOptions,
) -> Result<Vec<u8>, RuntimeError> {
    let failed =
        |error| RuntimeError::failed(device, &format!("compiling the kernel `{name}`"), error);
    let program = Program::new(source, name).map_err(failed)?;
    let supported = supported().map_err(failed)?;
    let exact = supported.contains(&architecture);
    let newest = supported.into_iter().filter(|a| *a < architecture).max();
    let target = match newest {
        _ if exact => format!("sm_{architecture}"),
        Some(older) => format!("compute_{older}"),
        None => format!("compute_{architecture}"),
    };
    let mut flags = vec![format!("--gpu-architecture={target}"), "--fmad=true".to_string()];
    if options.fast_math {
        flags.push("--use_fast_math".to_string());
    }
    let include = toolkits().into_iter().map(|folder| folder.join("include"));
    if let Some(folder) = include.into_iter().find(|folder| folder.join("cuda_fp16.h").exists()) {
        flags.push(format!("--include-path={}", folder.display()));
    }
    match program.compile(&flags) {
        Ok(()) => program.image(exact).map_err(failed),
        Err(error) => {
            let log = program.log().filter(|log| !log.is_empty());
            let log = log.unwrap_or_else(|| error.to_string());
            Err(RuntimeError::compile(device, "NVRTC", name, &log, source))
        }
    }
}

/// The architectures that the compiler makes machine code for.
fn supported() -> Result<Vec<u32>, result::NvrtcError> {
    let mut count = 0;
    // SAFETY: The call writes one number.
    unsafe { sys::nvrtcGetNumSupportedArchs(&mut count) }.result()?;
    let mut architectures = vec![0; usize::try_from(count).unwrap_or(0)];
    // SAFETY: The call writes as many numbers as the one before said.
    unsafe { sys::nvrtcGetSupportedArchs(architectures.as_mut_ptr()) }.result()?;
    Ok(architectures.into_iter().filter_map(|a| u32::try_from(a).ok()).collect())
}

struct Program {
    program: sys::nvrtcProgram,
    /// The compiler may refer to these until the program is destroyed.
    _source: CString,
    _name: CString,
}

impl Program {
    fn new(source: &str, name: &str) -> Result<Program, result::NvrtcError> {
        let invalid = |_| result::NvrtcError(sys::nvrtcResult::NVRTC_ERROR_INVALID_INPUT);
        let source = CString::new(source).map_err(invalid)?;
        let name = CString::new(format!("{name}.cu")).map_err(invalid)?;
        let program = result::create_program(&source, Some(&name))?;
        Ok(Program { program, _source: source, _name: name })
    }

    fn compile(&self, flags: &[String]) -> Result<(), result::NvrtcError> {
        // SAFETY: The program lives as long as `self`.
        unsafe { result::compile_program(self.program, flags) }
    }

    fn log(&self) -> Option<String> {
        // SAFETY: The program lives as long as `self`.
        let log = unsafe { result::get_program_log(self.program) }.ok()?;
        let bytes: Vec<u8> = log.into_iter().map(|c| c as u8).collect();
        Some(String::from_utf8_lossy(&bytes).trim_end_matches('\0').trim().to_string())
    }

    /// Machine code, or PTX that ends in a zero byte.
    fn image(&self, machine_code: bool) -> Result<Vec<u8>, result::NvrtcError> {
        if !machine_code {
            // SAFETY: The program lives as long as `self`, and is compiled.
            let text = unsafe { result::get_ptx(self.program) }?;
            return Ok(text.into_iter().map(|c| c as u8).collect());
        }
        let mut size = 0;
        // SAFETY: As above; the call writes one number.
        unsafe { sys::nvrtcGetCUBINSize(self.program, &mut size) }.result()?;
        let mut code = vec![0u8; size];
        // SAFETY: As above; the call writes as many bytes as the one before said.
        unsafe { sys::nvrtcGetCUBIN(self.program, code.as_mut_ptr().cast::<c_char>()) }.result()?;
        Ok(code)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: The program was created and is used no more. An error would leave nothing to do.
        let _ = unsafe { result::destroy_program(self.program) };
    }
}
