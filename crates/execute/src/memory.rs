//! How much memory a program takes for sizes that are known.

use lift_interp::{MAX_ARRAY_BYTES, Sizes};
use lift_ir::Nat;
use lift_kernel::Buffer;
use lift_lower::Role;
use lift_nat::EvalError;
use lift_runtime::{DeviceInfo, check_buffers};

use crate::{Compiled, Error};

impl Compiled {
    /// Whether the program's arrays fit the device, and its result the host, before any is made.
    pub fn check_memory(&self, info: &DeviceInfo, sizes: &Sizes) -> Result<(), Error> {
        let planned = self.plan.buffers.iter();
        let mut needed = Vec::new();
        for buffer in planned.clone().filter(|b| b.role != Role::Temporary).map(|b| &b.buffer) {
            needed.push((buffer.name.clone(), bytes_of(buffer, sizes)?));
        }
        for (slot, bytes) in self.memory.bytes.iter().enumerate() {
            needed.push((self.slot_name(slot), number(bytes, sizes)?));
        }
        let within = |most: u64, limit: Option<u64>| limit.map_or(most, |limit| most.min(limit));
        let info = &DeviceInfo {
            memory_bytes: within(info.memory_bytes, self.options.memory_bytes),
            max_buffer_bytes: within(info.max_buffer_bytes, self.options.buffer_bytes),
            ..info.clone()
        };
        check_buffers(info, &needed)?;
        for output in planned.filter(|b| matches!(b.role, Role::Output { .. })) {
            let bytes = bytes_of(&output.buffer, sizes)?;
            if bytes > MAX_ARRAY_BYTES {
                return Err(Error::arguments(format!(
                    "the result takes {bytes} bytes, more than the {MAX_ARRAY_BYTES} that one \
                     array may take on the host"
                )));
            }
        }
        Ok(())
    }

    /// The name of the first buffer in a slot.
    fn slot_name(&self, slot: usize) -> String {
        let mut planned = self.plan.buffers.iter();
        let first = planned.find(|b| self.memory.slot(b.buffer.id) == Some(slot));
        first.map_or_else(String::new, |b| b.buffer.name.clone())
    }
}

pub(crate) fn bytes_of(buffer: &Buffer, sizes: &Sizes) -> Result<u64, Error> {
    number(&(buffer.total() * Nat::int(buffer.scalar.bytes() as i128)), sizes)
}

/// The value of a size; what is beyond 64 bits is beyond every limit.
pub(crate) fn number(size: &Nat, sizes: &Sizes) -> Result<u64, Error> {
    match size.eval(&|var| sizes.get(&var.to_string())) {
        Ok(value) if value < 0 => Err(Error::arguments(format!("the size `{size}` is {value}"))),
        Ok(value) => Ok(u64::try_from(value).unwrap_or(u64::MAX)),
        Err(EvalError::Overflow) => Ok(u64::MAX),
        Err(error) => Err(Error::arguments(format!("the size `{size}` is undefined: {error}"))),
    }
}
