//! Programs compiled to text, and text loaded on a device.

use lift_ir::{Def, Nat, Scalar};
use lift_kernel::{Arg, Kernel, dynamic_shared_bytes, validate};
use lift_lower::{Memory, Options, Pass, Plan, Stage, Target, lower_watched};
use lift_runtime::{ArgType, CompileOptions, Device, KernelHandle, Language, check_local_memory};

use crate::costs::timed;
use crate::explain::{KernelPlan, explain, explain_domains};
use crate::{Error, externs, scalars};

/// One kernel as text.
#[derive(Clone, Debug)]
pub struct KernelText {
    pub name: String,
    pub text: String,
    /// Bytes of local memory that a launch has to ask for, where the text does not declare its own;
    /// see [`lift_runtime::Launch`].
    pub dynamic_local_bytes: Option<Nat>,
}

/// The plan of a definition for a language. After each pass `watch` is called with what there is.
pub fn lower_for(
    def: &Def,
    options: &Options,
    language: Language,
    watch: &mut dyn FnMut(&Pass, Stage<'_>),
) -> Result<Plan, Error> {
    externs::check(def, language)?;
    Ok(lower_watched(def, &options_for(options, language), watch)?)
}

/// Work-items that a group may have on every device of CUDA.
const CUDA_GROUP: u32 = 1024;

/// What is chosen, with what follows from the language. OpenCL's extensions for shuffles are not what NVIDIA has: there are
/// none in it, and not all of its devices have groups as large as CUDA's.
fn options_for(options: &Options, language: Language) -> Options {
    let target = match language {
        Language::C => Target::Loops,
        Language::OpenCl | Language::Cuda => Target::Threads,
    };
    let shuffles = language == Language::Cuda;
    let group_items = if shuffles { CUDA_GROUP } else { options.group_items };
    // OpenCL C 1.2 has an extension for them, which not all devices have.
    let wide_atomics = shuffles;
    Options { target, shuffles, wide_atomics, group_items, ..options.clone() }
}

/// The kernels of a definition as text in a language, and the plan to run them.
pub fn compile_text(
    def: &Def,
    options: &Options,
    language: Language,
) -> Result<(Plan, Vec<KernelText>), Error> {
    let plan = lower_for(def, options, language, &mut |_, _| {})?;
    let mut texts = Vec::new();
    for kernel in &plan.kernels {
        let valid = validate(kernel).map_err(|faults| Error::Kernel(faults.join("; ")))?;
        let (text, dynamic_local_bytes) = match language {
            Language::C => (lift_kernel::c(&valid), None),
            Language::OpenCl => (lift_kernel::opencl(&valid), None),
            Language::Cuda => (lift_kernel::cuda(&valid), dynamic_shared_bytes(&valid)),
        };
        texts.push(KernelText { name: kernel.name.clone(), text, dynamic_local_bytes });
    }
    Ok((plan, texts))
}

/// A definition compiled and loaded on a device.
pub struct Compiled {
    pub def: Def,
    pub plan: Plan,
    pub texts: Vec<KernelText>,
    /// Which temporaries of the plan share memory.
    pub memory: Memory,
    /// How long the device's compiler took, by the host's clock.
    pub compile_ms: f64,
    pub(crate) options: Options,
    pub(crate) handles: Vec<KernelHandle>,
}

impl Compiled {
    pub fn new(def: &Def, options: &Options, device: &mut dyn Device) -> Result<Compiled, Error> {
        Compiled::with(def, options, &CompileOptions::default(), device)
    }

    /// As [`Compiled::new`], with options for the device's compiler.
    pub fn with(
        def: &Def,
        options: &Options,
        device_options: &CompileOptions,
        device: &mut dyn Device,
    ) -> Result<Compiled, Error> {
        let language = device.info().language;
        scalars::check(def, device.info())?;
        let info = device.info();
        let options = Options {
            units: options.units.or(Some(info.compute_units.max(1))),
            local_bytes: info.local_memory_bytes,
            memory_bytes: Some(
                options.memory_bytes.map_or(info.memory_bytes, |n| n.min(info.memory_bytes)),
            ),
            buffer_bytes: Some(
                options
                    .buffer_bytes
                    .map_or(info.max_buffer_bytes, |n| n.min(info.max_buffer_bytes)),
            ),
            ..options.clone()
        };
        let (plan, texts) = compile_text(def, &options, language)?;
        for kernel in &plan.kernels {
            // What is not known yet is checked at the launch.
            if let Some(bytes) = local_bytes(kernel) {
                check_local_memory(device.info(), &kernel.name, bytes)?;
            }
        }
        let (mut handles, mut compile_ms) = (Vec::new(), 0.0);
        for (kernel, text) in plan.kernels.iter().zip(&texts) {
            let params: Vec<ArgType> =
                kernel.args.iter().map(|arg| arg_type(arg, kernel, language)).collect();
            let compile = || device.compile(&text.text, &text.name, &params, device_options);
            handles.push(timed(&mut compile_ms, compile)?);
        }
        let memory = plan.memory();
        Ok(Compiled { def: def.clone(), compile_ms, plan, texts, memory, options, handles })
    }

    /// What its kernels do in a device's language, and why.
    pub fn explained(&self, language: Language) -> Result<Vec<KernelPlan>, Error> {
        Ok(explain(&self.def, &options_for(&self.options, language))?)
    }

    /// How points of domains that are no boxes are mapped, and the orders of arrays that read themselves.
    pub fn explained_domains(&self, language: Language) -> Result<Vec<String>, Error> {
        Ok(explain_domains(&self.def, &options_for(&self.options, language))?)
    }
}

/// Bytes of a kernel's arrays in local memory, where all their lengths are numbers.
fn local_bytes(kernel: &Kernel) -> Option<u64> {
    kernel.locals.iter().try_fold(0u64, |end, buffer| {
        let length = u64::try_from(buffer.total().as_int()?).ok()?;
        let start = end.checked_next_multiple_of(u64::from(buffer.align.max(1)))?;
        start.checked_add(length.checked_mul(buffer.scalar.bytes() as u64)?)
    })
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
