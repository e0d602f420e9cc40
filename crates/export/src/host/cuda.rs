//! CUDA's driver API: the caller has a current context and a stream; a handle has the compiled kernels.

use std::fmt::Write;

use super::{Host, Launch, Passed, fail, sources};
use crate::form::Form;
use crate::interface::{Argument, Interface};

pub struct Cuda;

const PROGRAM: &str = include_str!("../support/cuda.c");

impl Host for Cuda {
    fn includes(&self) -> &'static str {
        "#include <cuda.h>\n"
    }

    fn declarations(&self, interface: &Interface) -> String {
        include_str!("../support/cuda.h").replace("NAME", &interface.name)
    }

    fn contract(&self) -> &'static str {
        "The context that the handle was made in is current. The kernels are in the stream when the function
 * returns, and done where the program has checks. Arrays are on the device, aligned to 16 bytes, and lie row by row,
 * as the types say; results overlap nothing else. Threads may call with one handle."
    }

    fn context(&self, interface: &Interface) -> Vec<String> {
        vec![format!("{}_program *lift_program", interface.name), "CUstream lift_stream".into()]
    }

    fn context_names(&self) -> Vec<&'static str> {
        vec!["lift_program", "lift_stream"]
    }

    fn parameter(&self, argument: &Argument) -> String {
        match argument.is_array() {
            true => format!("CUdeviceptr {}", argument.name),
            false => format!("{} {}", argument.c_type(), argument.name),
        }
    }

    fn kernels(&self, interface: &Interface, forms: &[Form]) -> String {
        let program =
            PROGRAM.replace("NAME", &interface.name).replace("PREFIX", &interface.prefix());
        format!("#include <nvrtc.h>\n#include <stdio.h>\n\n{}{program}", sources::tables(forms))
    }

    fn buffer(&self, variable: &str) -> String {
        format!("CUdeviceptr {variable} = 0;")
    }

    fn allocate(&self, interface: &Interface, variable: &str, bytes: &str) -> String {
        format!(
            "{variable} = lift_memory(lift_stream, {bytes});\n  if (!{variable}) {}",
            fail(interface, "ERROR_MEMORY")
        )
    }

    fn free(&self, variable: &str) -> String {
        format!("if ({variable}) cuMemFreeAsync({variable}, lift_stream);")
    }

    fn start_status(&self, interface: &Interface, variable: &str) -> String {
        format!(
            "int32_t lift_status = 0;\n  CUdeviceptr {variable} = lift_memory(lift_stream, 16);\n  \
             if (!{variable}) {}\n  if (cuMemsetD8Async({variable}, 0, 4, lift_stream)) {}",
            fail(interface, "ERROR_MEMORY"),
            fail(interface, "ERROR_DEVICE")
        )
    }

    fn read_status(&self, interface: &Interface, variable: &str) -> String {
        read(interface, variable, 4, "lift_status")
    }

    fn read_flag(&self, interface: &Interface, variable: &str) -> String {
        format!("unsigned char lift_flag = 0;\n  {}", read(interface, variable, 1, "lift_flag"))
    }

    fn launch(&self, interface: &Interface, launch: &Launch<'_>) -> String {
        let mut out = String::from("{\n");
        let ty = if launch.wide { "int64_t" } else { "int32_t" };
        let mut args = Vec::new();
        for (at, passed) in launch.args.iter().enumerate() {
            args.push(match passed {
                Passed::Buffer(buffer) => format!("&{buffer}"),
                Passed::Scalar(given) => format!("&{}", given.name),
                Passed::Size(size) => {
                    let _ = writeln!(
                        out,
                        "  {ty} lift_size{at} = ({ty})({size});\n  if (lift_size{at} != ({size})) {}",
                        fail(interface, "ERROR_SIZE")
                    );
                    format!("&lift_size{at}")
                }
            });
        }
        args.push("NULL".to_string());
        let _ = writeln!(out, "  void *lift_args[] = {{{}}};", args.join(", "));
        let local = launch.local.each_ref().map(|n| format!("(unsigned)({n})"));
        let groups = launch.global.iter().zip(&launch.local);
        let groups: Vec<String> =
            groups.map(|(global, local)| format!("(unsigned)(({global}) / ({local}))")).collect();
        let shared = launch.shared_bytes.as_deref().unwrap_or("0");
        let _ = writeln!(
            out,
            "  if (lift_launch(lift_program->functions[{}], {}, {}, (unsigned)({shared}), lift_stream, lift_args)) {}\n}}",
            launch.number,
            groups.join(", "),
            local.join(", "),
            fail(interface, "ERROR_DEVICE")
        );
        out.trim_end().to_string()
    }
}

/// Waits for what is in the stream.
fn read(interface: &Interface, buffer: &str, bytes: u32, to: &str) -> String {
    format!(
        "if (cuMemcpyDtoHAsync(&{to}, {buffer}, {bytes}, lift_stream) || cuStreamSynchronize(lift_stream)) {}",
        fail(interface, "ERROR_DEVICE")
    )
}
