//! What each kernel is launched with, for sizes that are known.

use lift_interp::Sizes;
use lift_ir::{Nat, Var};
use lift_kernel::{Arg as KernelArg, BufferId, Kernel, Variable};
use lift_runtime::{Arg, ArgType, DeviceInfo, Language, Launch};

use crate::compile::size_type;
use crate::memory::number;
use crate::{Compiled, Error};

/// What is passed to a kernel, as far as it does not change between launches.
pub(crate) struct Call {
    /// `None` where there is nothing to do.
    pub launch: Option<Launch>,
    pub args: Vec<Passed>,
}

pub(crate) enum Passed {
    Buffer(BufferId),
    Value(Arg),
    /// A scalar parameter of the program, by number.
    Scalar(usize),
    /// The iteration of a loop around the launch.
    Counter(Var),
}

impl Compiled {
    /// One a kernel of the plan.
    pub(crate) fn calls(&self, info: &DeviceInfo, sizes: &Sizes) -> Result<Vec<Call>, Error> {
        let mut calls = Vec::new();
        for (index, kernel) in self.plan.kernels.iter().enumerate() {
            let mut passed = Vec::new();
            for arg in &kernel.args {
                passed.push(match arg {
                    KernelArg::Buffer(buffer, _) => Passed::Buffer(buffer.id),
                    KernelArg::Scalar(var) => Passed::Scalar(self.scalar(var)?),
                    KernelArg::Size(var) if self.plan.is_counter(var) => {
                        Passed::Counter(var.clone())
                    }
                    KernelArg::Size(var) => {
                        let value = number(&Nat::var(var), sizes)?;
                        Passed::Value(size_arg(kernel, info.language, var.name(), value)?)
                    }
                });
            }
            calls.push(Call { launch: self.launch(index, kernel, info, sizes)?, args: passed });
        }
        Ok(calls)
    }

    /// Which parameter of the program a scalar is.
    fn scalar(&self, var: &Variable) -> Result<usize, Error> {
        let param = self.plan.scalars.iter().find(|(_, v)| v == var);
        param.map(|(index, _)| *index).ok_or_else(|| Error::arguments("a scalar is missing"))
    }

    fn launch(
        &self,
        index: usize,
        kernel: &Kernel,
        info: &DeviceInfo,
        sizes: &Sizes,
    ) -> Result<Option<Launch>, Error> {
        let (local, global) =
            (three(&kernel.launch.local, sizes)?, three(&kernel.launch.global, sizes)?);
        // Drivers refuse to start nothing.
        if global.contains(&0) {
            return Ok(None);
        }
        if info.language == Language::C {
            // The text of a C kernel runs all of its groups itself; a group has limits all the same.
            let group = local.map(|count| count.max(1));
            return Ok(Some(Launch::new(group, group)));
        }
        // Whole groups are launched; kernels guard against work-items beyond the end.
        let mut whole = [1; 3];
        for ((whole, global), local) in whole.iter_mut().zip(global).zip(local) {
            let groups = global.div_ceil(local.max(1));
            let items = groups.checked_mul(local);
            *whole =
                items.ok_or_else(|| Error::arguments("the global size does not fit in 64 bits"))?;
        }
        let dynamic = self.texts.get(index).and_then(|text| text.dynamic_local_bytes.as_ref());
        let dynamic_local_bytes = dynamic.map_or(Ok(0), |bytes| number(bytes, sizes))?;
        Ok(Some(Launch { global: whole, local, dynamic_local_bytes }))
    }
}

pub(crate) fn size_arg(
    kernel: &Kernel,
    language: Language,
    name: &str,
    value: u64,
) -> Result<Arg, Error> {
    let large = |bits: u32| {
        Error::arguments(format!("the size {name} = {value} does not fit in {bits} bits"))
    };
    Ok(match size_type(kernel, language) {
        ArgType::I64 => Arg::from(i64::try_from(value).map_err(|_| large(64))?),
        _ => Arg::from(i32::try_from(value).map_err(|_| large(32))?),
    })
}

fn three(counts: &[Nat], sizes: &Sizes) -> Result<[u64; 3], Error> {
    let mut all = [1; 3];
    for (slot, count) in all.iter_mut().zip(counts) {
        *slot = number(count, sizes)?;
    }
    Ok(all)
}
