//! Programs on arrays that lie on the device already, in memory of other libraries.

use std::sync::Arc;

use lift_runtime::{Arg, Device, Stream};

use crate::{Compiled, Error, Prepared, Session};

/// One argument, where it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Placed {
    /// By value, in the host's byte order; a `bool` is one byte, 0 or 1.
    Scalar(Vec<u8>),
    /// The addresses of its arrays, in order. See [`lift_runtime::Device::adopt`].
    Arrays(Vec<u64>),
}

impl Placed {
    pub(crate) fn scalar(&self) -> Option<Arg> {
        match self {
            Placed::Scalar(bytes) => Some(Arg::Bytes(bytes.clone())),
            Placed::Arrays(_) => None,
        }
    }

    pub(crate) fn array(&self, leaf: usize) -> Option<u64> {
        match self {
            Placed::Scalar(_) => None,
            Placed::Arrays(addresses) => addresses.get(leaf).copied(),
        }
    }
}

impl Compiled {
    /// Runs the program on memory of other libraries, and writes its result there. Nothing is copied.
    ///
    /// With a stream, the work is queued behind what is there and not waited for, but where that is asked for, and where a
    /// program has checks or stops by what it computes.
    ///
    /// # Safety
    ///
    /// The program was prepared for this device. At each address is an array of the type that the program says, for the
    /// sizes prepared, row by row and aligned to 16 bytes; those of the result overlap no other. They are there, and the
    /// stream is, until the work is done.
    #[allow(unsafe_code)]
    pub unsafe fn run_placed(
        &self,
        device: &mut dyn Device,
        prepared: &Arc<Prepared>,
        args: &[Placed],
        results: &[u64],
        stream: Option<Stream>,
        waits: bool,
    ) -> Result<(), Error> {
        // SAFETY: The caller promises that the stream lives.
        unsafe { device.follow(stream)? };
        // SAFETY: As the caller promises.
        let session =
            unsafe { Session::placed(self, &mut *device, Arc::clone(prepared), args, results) };
        let mut ran = session.and_then(|mut session| session.run().map(drop));
        if waits && ran.is_ok() {
            ran = device.finish().map_err(Error::from);
        }
        // SAFETY: No stream is followed any more.
        unsafe { device.follow(None)? };
        ran
    }
}

#[cfg(test)]
mod tests;
