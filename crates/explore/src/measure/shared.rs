//! One device for several sessions.

use std::cell::{Cell, RefCell};

use lift_runtime::{
    Arg, ArgType, BufferHandle, CompileOptions, Device, DeviceInfo, KernelHandle, Launch,
    LaunchTime, RuntimeError,
};

/// A device that is lent to several users at once, each of which takes it for its own. Kernels compiled meanwhile
/// are unloaded in the end.
pub(super) struct Shared<'d> {
    device: RefCell<&'d mut dyn Device>,
    info: DeviceInfo,
    kernels: RefCell<Vec<KernelHandle>>,
    allocated: Cell<u64>,
}

impl<'d> Shared<'d> {
    pub fn new(device: &'d mut dyn Device) -> Shared<'d> {
        let info = device.info().clone();
        let (kernels, allocated) = (RefCell::default(), Cell::default());
        Shared { device: RefCell::new(device), info, kernels, allocated }
    }

    pub fn lend(&self) -> Lent<'_, 'd> {
        Lent { shared: self }
    }

    /// Bytes of all buffers so far, freed ones included.
    pub fn allocated(&self) -> u64 {
        self.allocated.get()
    }
}

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        // A device that refuses even this is closed soon anyway.
        for kernel in self.kernels.get_mut().drain(..) {
            let _ = self.device.get_mut().unload(kernel);
        }
    }
}

/// The device as one user sees it.
pub(super) struct Lent<'s, 'd> {
    shared: &'s Shared<'d>,
}

impl Device for Lent<'_, '_> {
    fn info(&self) -> &DeviceInfo {
        &self.shared.info
    }

    fn compile(
        &mut self,
        source: &str,
        name: &str,
        params: &[ArgType],
        options: &CompileOptions,
    ) -> Result<KernelHandle, RuntimeError> {
        let kernel = self.shared.device.borrow_mut().compile(source, name, params, options)?;
        self.shared.kernels.borrow_mut().push(kernel);
        Ok(kernel)
    }

    fn unload(&mut self, kernel: KernelHandle) -> Result<(), RuntimeError> {
        self.shared.kernels.borrow_mut().retain(|known| *known != kernel);
        self.shared.device.borrow_mut().unload(kernel)
    }

    fn allocate(&mut self, bytes: u64) -> Result<BufferHandle, RuntimeError> {
        let buffer = self.shared.device.borrow_mut().allocate(bytes)?;
        self.shared.allocated.update(|all| all.saturating_add(bytes));
        Ok(buffer)
    }

    fn write(&mut self, buffer: BufferHandle, bytes: &[u8]) -> Result<(), RuntimeError> {
        self.shared.device.borrow_mut().write(buffer, bytes)
    }

    fn read(&mut self, buffer: BufferHandle, bytes: &mut [u8]) -> Result<(), RuntimeError> {
        self.shared.device.borrow_mut().read(buffer, bytes)
    }

    fn fill(&mut self, buffer: BufferHandle, byte: u8) -> Result<(), RuntimeError> {
        self.shared.device.borrow_mut().fill(buffer, byte)
    }

    fn free(&mut self, buffer: BufferHandle) -> Result<(), RuntimeError> {
        self.shared.device.borrow_mut().free(buffer)
    }

    fn launch(
        &mut self,
        kernel: KernelHandle,
        launch: &Launch,
        args: &[Arg],
    ) -> Result<LaunchTime, RuntimeError> {
        self.shared.device.borrow_mut().launch(kernel, launch, args)
    }
}
