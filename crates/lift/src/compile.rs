//! Programs compiled to text, and text loaded on a device.

use lift_ir::{Def, Scalar};
use lift_kernel::{Arg, Kernel, validate};
use lift_lower::{Options, Plan, lower};
use lift_runtime::{ArgType, CompileOptions, Device, KernelHandle, Language};

use crate::Error;

/// One kernel as text.
#[derive(Clone, Debug)]
pub struct KernelText {
    pub name: String,
    pub text: String,
}

/// The kernels of a definition as text in a language, and the plan to run them.
pub fn compile_text(
    def: &Def,
    options: &Options,
    language: Language,
) -> Result<(Plan, Vec<KernelText>), Error> {
    let plan = lower(def, options)?;
    let mut texts = Vec::new();
    for kernel in &plan.kernels {
        let valid = validate(kernel).map_err(|faults| Error::Kernel(faults.join("; ")))?;
        let text = match language {
            Language::C => lift_kernel::c(&valid),
            Language::OpenCl => lift_kernel::opencl(&valid),
            Language::Cuda => lift_kernel::cuda(&valid),
        };
        texts.push(KernelText { name: kernel.name.clone(), text });
    }
    Ok((plan, texts))
}

/// A definition compiled and loaded on a device.
pub struct Compiled {
    pub def: Def,
    pub plan: Plan,
    pub texts: Vec<KernelText>,
    pub(crate) options: Options,
    pub(crate) handles: Vec<KernelHandle>,
}

impl Compiled {
    pub fn new(def: &Def, options: &Options, device: &mut dyn Device) -> Result<Compiled, Error> {
        let language = device.info().language;
        let (plan, texts) = compile_text(def, options, language)?;
        let mut handles = Vec::new();
        for (kernel, text) in plan.kernels.iter().zip(&texts) {
            let params: Vec<ArgType> =
                kernel.args.iter().map(|arg| arg_type(arg, kernel, language)).collect();
            let compile = CompileOptions::default();
            handles.push(device.compile(&text.text, &text.name, &params, &compile)?);
        }
        Ok(Compiled { def: def.clone(), plan, texts, options: options.clone(), handles })
    }
}

fn arg_type(arg: &Arg, kernel: &Kernel, language: Language) -> ArgType {
    match arg {
        Arg::Buffer(..) => ArgType::Pointer,
        Arg::Scalar(var) => scalar_type(var.ty.scalar),
        Arg::Size(_) => size_type(kernel, language),
    }
}

/// The integer type sizes are passed as.
pub(crate) fn size_type(kernel: &Kernel, language: Language) -> ArgType {
    match language {
        Language::C => ArgType::I64,
        Language::OpenCl | Language::Cuda if kernel.wide_indices => ArgType::I64,
        Language::OpenCl | Language::Cuda => ArgType::I32,
    }
}

fn scalar_type(scalar: Scalar) -> ArgType {
    match scalar {
        Scalar::Bool | Scalar::U8 => ArgType::U8,
        Scalar::I8 => ArgType::I8,
        Scalar::I16 => ArgType::I16,
        Scalar::I32 => ArgType::I32,
        Scalar::I64 => ArgType::I64,
        Scalar::U16 => ArgType::U16,
        Scalar::U32 => ArgType::U32,
        Scalar::U64 => ArgType::U64,
        Scalar::F16 => ArgType::F16,
        Scalar::F32 => ArgType::F32,
        Scalar::F64 => ArgType::F64,
    }
}
