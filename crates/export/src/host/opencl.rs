//! OpenCL: the caller has a context and a queue; a handle has the compiled kernels.

use std::fmt::Write;

use super::{Host, Launch, Passed, fail, sources};
use crate::form::Form;
use crate::interface::{Argument, Interface};

pub struct OpenCl;

const PROGRAM: &str = include_str!("../support/opencl.c");

impl Host for OpenCl {
    fn includes(&self) -> &'static str {
        "#ifndef CL_TARGET_OPENCL_VERSION\n#define CL_TARGET_OPENCL_VERSION 120\n#endif\n#include <CL/cl.h>\n"
    }

    fn declarations(&self, interface: &Interface) -> String {
        include_str!("../support/opencl.h").replace("NAME", &interface.name)
    }

    fn contract(&self) -> &'static str {
        "The queue is in order and belongs to the context of the handle. The kernels are in the queue when the
 * function returns, and done where the program has checks. Buffers lie row by row, as the types say; results
 * overlap nothing else. Threads may call with one handle."
    }

    fn context(&self, interface: &Interface) -> Vec<String> {
        vec![
            format!("{}_program *lift_program", interface.name),
            "cl_command_queue lift_queue".into(),
        ]
    }

    fn context_names(&self) -> Vec<&'static str> {
        vec!["lift_program", "lift_queue"]
    }

    fn parameter(&self, argument: &Argument) -> String {
        match argument.is_array() {
            true => format!("cl_mem {}", argument.name),
            false => format!("{} {}", argument.c_type(), argument.name),
        }
    }

    fn kernels(&self, interface: &Interface, forms: &[Form]) -> String {
        let program =
            PROGRAM.replace("NAME", &interface.name).replace("PREFIX", &interface.prefix());
        sources::tables(forms) + &program
    }

    fn buffer(&self, variable: &str) -> String {
        format!("cl_mem {variable} = NULL;")
    }

    fn allocate(&self, interface: &Interface, variable: &str, bytes: &str) -> String {
        format!(
            "{variable} = lift_memory(lift_program->context, {bytes});\n  if (!{variable}) {}",
            fail(interface, "ERROR_MEMORY")
        )
    }

    fn free(&self, variable: &str) -> String {
        format!("if ({variable}) clReleaseMemObject({variable});")
    }

    fn start_status(&self, interface: &Interface, variable: &str) -> String {
        format!(
            "cl_int lift_status = 0;\n  cl_mem {variable} = lift_memory(lift_program->context, 16);\n  \
             if (!{variable}) {}\n  \
             if (clEnqueueWriteBuffer(lift_queue, {variable}, CL_TRUE, 0, 4, &lift_status, 0, NULL, NULL)) {}",
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
        let mut out = format!(
            "{{\n  cl_kernel lift_kernel = clCreateKernel(lift_program->programs[{}], {:?}, NULL);\n",
            launch.number, launch.kernel
        );
        let _ = writeln!(out, "  if (!lift_kernel) {}", fail(interface, "ERROR_DEVICE"));
        out.push_str("  cl_int lift_failed = CL_SUCCESS;\n");
        for (at, passed) in launch.args.iter().enumerate() {
            let set = |size: &str, from: &str| {
                format!("lift_failed |= clSetKernelArg(lift_kernel, {at}, {size}, {from});")
            };
            let _ = match passed {
                Passed::Buffer(buffer) => {
                    writeln!(out, "  {}", set("sizeof(cl_mem)", &format!("&{buffer}")))
                }
                Passed::Scalar(given) => {
                    let name = &given.name;
                    writeln!(out, "  {}", set(&format!("sizeof {name}"), &format!("&{name}")))
                }
                Passed::Size(size) => {
                    let ty = if launch.wide { "cl_long" } else { "cl_int" };
                    let set = set(&format!("sizeof(cl_{})", &ty[3..]), "&lift_size");
                    writeln!(
                        out,
                        "  {{ {ty} lift_size = ({ty})({size}); lift_failed |= lift_size != ({size}); {set} }}"
                    )
                }
            };
        }
        let sizes = |all: &[String; 3]| all.each_ref().map(|n| format!("(size_t)({n})")).join(", ");
        let _ = writeln!(out, "  const size_t lift_global[3] = {{{}}};", sizes(&launch.global));
        let _ = writeln!(out, "  const size_t lift_local[3] = {{{}}};", sizes(&launch.local));
        let _ = writeln!(
            out,
            "  if (!lift_failed)\n    lift_failed = clEnqueueNDRangeKernel(lift_queue, lift_kernel, 3, NULL, \
             lift_global, lift_local, 0, NULL, NULL);\n  clReleaseKernel(lift_kernel);\n  \
             if (lift_failed) {}\n}}",
            fail(interface, "ERROR_DEVICE")
        );
        out.trim_end().to_string()
    }
}

fn read(interface: &Interface, buffer: &str, bytes: u32, to: &str) -> String {
    format!(
        "if (clEnqueueReadBuffer(lift_queue, {buffer}, CL_TRUE, 0, {bytes}, &{to}, 0, NULL, NULL)) {}",
        fail(interface, "ERROR_DEVICE")
    )
}
