//! Buffers in the host's memory, aligned for the widest vector and to a cache line.

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::slice;

#[cfg(target_os = "linux")]
use crate::pages::{LARGE_PAGE, Pages};

const ALIGN: usize = 64;

/// Blocks below this many bytes end where they should, so that tools that watch the ends of blocks see every access
/// beyond.
const SMALL: usize = 1 << 16;

/// Where the bytes are, and what goes back in the end.
enum Block {
    Allocated {
        start: NonNull<u8>,
        block: NonNull<u8>,
        layout: Layout,
    },
    #[cfg(target_os = "linux")]
    Mapped(Pages),
    /// Another library's.
    Foreign(NonNull<u8>),
}

/// Zeroed memory that the kernel's threads touch first, so that each page lies near its user.
pub struct Memory {
    block: Block,
    length: usize,
}

impl Memory {
    /// Nothing where the system refuses. Requires: at least one byte.
    pub fn new(bytes: u64) -> Option<Memory> {
        let length = usize::try_from(bytes).ok().filter(|length| *length > 0)?;
        #[cfg(target_os = "linux")]
        if length >= LARGE_PAGE {
            return Some(Memory { block: Block::Mapped(Pages::new(length)?), length });
        }
        // More than needed and aligned by hand: the allocator would clear aligned memory itself, and
        // so touch all of it, where unaligned memory comes clear from the system.
        let layout = match length < SMALL {
            true => Layout::from_size_align(length, ALIGN).ok()?,
            false => Layout::array::<u8>(length.checked_add(ALIGN)?).ok()?,
        };
        // SAFETY: The layout has a size above zero.
        let block = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let offset = block.as_ptr().align_offset(ALIGN);
        // SAFETY: The offset is below ALIGN, which a large block has beyond `length`; that of a small one is 0.
        let start = unsafe { block.add(offset) };
        Some(Memory { block: Block::Allocated { start, block, layout }, length })
    }

    /// Memory of another library. Nothing where there is none at the address.
    ///
    /// # Safety
    ///
    /// So many initialised bytes are there as long as this lives.
    pub unsafe fn foreign(address: u64, bytes: u64) -> Option<Memory> {
        let start = NonNull::new(usize::try_from(address).ok()? as *mut u8)?;
        Some(Memory { block: Block::Foreign(start), length: usize::try_from(bytes).ok()? })
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `length` initialised bytes from there on are this one's, and a kernel writes them
        // only during a launch, which borrows the device mutably.
        unsafe { slice::from_raw_parts(self.at().as_ptr(), self.length) }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: As in `bytes`, and `self` is borrowed mutably.
        unsafe { slice::from_raw_parts_mut(self.at().as_ptr(), self.length) }
    }

    pub fn start(&mut self) -> *mut u8 {
        self.at().as_ptr()
    }

    fn at(&self) -> NonNull<u8> {
        match &self.block {
            Block::Allocated { start, .. } | Block::Foreign(start) => *start,
            #[cfg(target_os = "linux")]
            Block::Mapped(pages) => pages.start(),
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Block::Allocated { block, layout, .. } = self.block {
            // SAFETY: The block came from the same allocator with this layout.
            unsafe { dealloc(block.as_ptr(), layout) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_and_zero() {
        for bytes in [1, 63, 64, 65, 1 << 20, (16 << 20) + 1] {
            let mut memory = Memory::new(bytes).expect("a little memory");
            assert_eq!(memory.start() as usize % ALIGN, 0);
            assert_eq!(memory.bytes().len() as u64, bytes);
            assert!(memory.bytes().iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn too_much_memory_is_refused() {
        assert!(Memory::new(u64::MAX).is_none());
        assert!(Memory::new(1 << 62).is_none());
        assert!(Memory::new(0).is_none());
    }
}
