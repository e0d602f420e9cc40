//! Running a compiled program.

use lift_interp::{RunError, Sizes, Value, solve_sizes};
use lift_ir::{Type, check_permutations};
use lift_runtime::{Device, DeviceInfo};

use crate::{Compiled, Error, Prepared, Session};

/// A result and what it took.
#[derive(Debug)]
pub struct Run {
    pub result: Value,
    /// One entry a kernel of the plan, summed over its launches.
    pub kernels: Vec<KernelTime>,
}

#[derive(Clone, Debug)]
pub struct KernelTime {
    pub name: String,
    pub ms: f64,
}

impl Compiled {
    /// Runs the program once. Sizes are read off the arguments; `given` chooses the others.
    pub fn run(
        &mut self,
        device: &mut dyn Device,
        args: &[Value],
        given: &Sizes,
    ) -> Result<Run, Error> {
        let mut session = self.session(device, args, given)?;
        let kernels = session.run()?;
        Ok(Run { result: session.result()?, kernels })
    }

    /// Puts the arguments on the device, to run the program on them several times.
    pub fn session<'a>(
        &'a self,
        device: &'a mut dyn Device,
        args: &[Value],
        given: &Sizes,
    ) -> Result<Session<'a>, Error> {
        let types: Vec<Type> = args.iter().map(Value::ty).collect();
        let prepared = self.prepare(device.info(), &types, given)?;
        Session::new(self, device, args, prepared)
    }

    /// Checks the sizes that arguments of these types have.
    pub fn prepare(
        &self,
        info: &DeviceInfo,
        types: &[Type],
        given: &Sizes,
    ) -> Result<Prepared, Error> {
        let mut given = given.clone();
        for (name, value) in &self.options.sizes {
            given.set(name.clone(), *value);
        }
        let sizes = solve_sizes(&self.def, types, &given)?;
        // Kernels write where an index function says.
        check_permutations(&self.def.body, &|var| sizes.get(var.name()), i128::MAX).map_err(
            |broken| RunError { message: broken.message, span: broken.span, notes: Vec::new() },
        )?;
        self.prepared(info, sizes)
    }
}
