//! Pages of the host's memory.

#![allow(unsafe_code)]

#[cfg(target_os = "linux")]
use std::ptr::{NonNull, null_mut};

/// Where the system has large pages, they are this long as a rule.
#[cfg(target_os = "linux")]
pub(crate) const LARGE_PAGE: usize = 2 << 20;

/// Memory that is about to be written all over: in large pages where the system has them, and each page there before the first
/// byte comes, so that a transfer into it takes as long as any other.
pub fn prepare(bytes: &mut [u8]) {
    /// The smallest there are.
    const PAGE: usize = 4096;
    prefer_large(bytes);
    for page in bytes.chunks_mut(PAGE) {
        if let Some(first) = page.first_mut() {
            // SAFETY: The reference is valid. A plain write of what is there already might be left out, and the page with it.
            unsafe { std::ptr::write_volatile(first, *first) };
        }
    }
}

/// Asks for pages of 2 MiB in large blocks: with small ones, touching memory for the first time takes
/// longer than most kernels run. The system may not comply, which costs time and nothing else.
#[cfg(target_os = "linux")]
pub(crate) fn prefer_large(bytes: &mut [u8]) {
    const LARGE_BLOCK: usize = 2 * LARGE_PAGE;
    const PAGE: usize = 4096;
    if bytes.len() < LARGE_BLOCK {
        return;
    }
    let skipped = bytes.as_ptr().align_offset(PAGE).min(bytes.len());
    let rest = &mut bytes[skipped..];
    // SAFETY: The range is borrowed, and the advice neither moves nor changes it.
    unsafe {
        libc::madvise(rest.as_mut_ptr().cast(), rest.len(), libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn prefer_large(_: &mut [u8]) {}

/// Zeroed memory of the system's own, in large pages where it has them. Threads that touch small pages for the first time
/// wait for each other, longer than most kernels run.
#[cfg(target_os = "linux")]
pub(crate) struct Pages {
    start: NonNull<u8>,
    length: usize,
}

#[cfg(target_os = "linux")]
impl Pages {
    /// Nothing where the system refuses.
    pub fn new(bytes: usize) -> Option<Pages> {
        let length = whole_pages(bytes)?;
        let asked = length.checked_add(LARGE_PAGE)?;
        let (all, private) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: A new mapping anywhere.
        let mapped = unsafe { libc::mmap(null_mut(), asked, all, private, -1, 0) };
        let mapped = NonNull::new(mapped).filter(|_| mapped != libc::MAP_FAILED)?.cast::<u8>();
        let before = mapped.as_ptr().align_offset(LARGE_PAGE);
        // SAFETY: What is before the first large page, and behind the last, is in the mapping, and nobody knows of it.
        unsafe {
            let start = mapped.add(before);
            unmap(mapped, before);
            unmap(start.add(length), asked - before - length);
            libc::madvise(start.as_ptr().cast(), length, libc::MADV_HUGEPAGE);
            Some(Pages { start, length })
        }
    }

    pub fn start(&self) -> NonNull<u8> {
        self.start
    }
}

#[cfg(target_os = "linux")]
impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: The mapping is this one's own, and its borrows are over.
        unsafe { unmap(self.start, self.length) };
    }
}

/// # Safety
///
/// Nobody uses so many bytes from there, which begin and end with pages of a mapping.
#[cfg(target_os = "linux")]
unsafe fn unmap(start: NonNull<u8>, length: usize) {
    if length > 0 {
        // SAFETY: As the caller promises.
        unsafe { libc::munmap(start.as_ptr().cast(), length) };
    }
}

/// So many bytes, and what is left of the last page: of a large one, where half of it is needed anyway.
#[cfg(target_os = "linux")]
fn whole_pages(bytes: usize) -> Option<usize> {
    const SMALL_PAGE: usize = 1 << 16;
    let page = if bytes % LARGE_PAGE >= LARGE_PAGE / 2 { LARGE_PAGE } else { SMALL_PAGE };
    bytes.checked_next_multiple_of(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_stays() {
        for length in [0, 1, 4096, 4097, (9 << 20) + 3] {
            let before: Vec<u8> = (0..length).map(|k| (k % 251) as u8).collect();
            let mut bytes = before.clone();
            prepare(&mut bytes);
            assert_eq!(bytes, before);
        }
    }

    /// Bytes that the process has in memory, and not only asked for.
    #[cfg(target_os = "linux")]
    fn resident(bytes: &[u8]) -> usize {
        const PAGE: usize = 4096;
        let start = bytes.as_ptr() as usize / PAGE * PAGE;
        let length = bytes.as_ptr() as usize + bytes.len() - start;
        let mut there = vec![0u8; length.div_ceil(PAGE)];
        // SAFETY: The range is mapped, it begins at a page, and there is a byte for each of its pages.
        let said = unsafe { libc::mincore(start as *mut _, length, there.as_mut_ptr()) };
        assert_eq!(said, 0);
        there.iter().filter(|page| **page & 1 == 1).count() * PAGE
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_of_the_system_is_zero_and_begins_with_a_large_page() {
        for length in [1, LARGE_PAGE, LARGE_PAGE + 5, 3 * LARGE_PAGE - 1] {
            let pages = Pages::new(length).expect("a little memory");
            let start = pages.start();
            assert_eq!(start.as_ptr() as usize % LARGE_PAGE, 0);
            // SAFETY: So many bytes are there, of which nobody else knows.
            let bytes = unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), length) };
            assert!(bytes.iter().all(|byte| *byte == 0));
            bytes.fill(7);
        }
        assert!(Pages::new(usize::MAX).is_none());
        assert!(Pages::new(1 << 60).is_none());
    }

    /// All of these together are more than a process has addresses for.
    #[cfg(target_os = "linux")]
    #[test]
    fn memory_of_the_system_goes_back() {
        for number in 0..1 << 18 {
            assert!(Pages::new(1 << 30).is_some(), "number {number}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn half_a_large_page_becomes_a_whole_one() {
        let half = LARGE_PAGE / 2;
        assert_eq!(whole_pages(LARGE_PAGE + half), Some(2 * LARGE_PAGE));
        assert_eq!(whole_pages(LARGE_PAGE + half - 1), Some(LARGE_PAGE + half));
        assert_eq!(whole_pages(LARGE_PAGE), Some(LARGE_PAGE));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn every_page_is_there_before_the_first_byte_comes() {
        let mut bytes = vec![0u8; 64 << 20];
        assert!(resident(&bytes) < bytes.len() / 2, "nobody touched it");
        prepare(&mut bytes);
        assert!(resident(&bytes) >= bytes.len());
    }
}
