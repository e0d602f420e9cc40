//! Pages of the host's memory.

#![allow(unsafe_code)]

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
    const LARGE_BLOCK: usize = 8 << 20;
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
    fn every_page_is_there_before_the_first_byte_comes() {
        let mut bytes = vec![0u8; 64 << 20];
        assert!(resident(&bytes) < bytes.len() / 2, "nobody touched it");
        prepare(&mut bytes);
        assert!(resident(&bytes) >= bytes.len());
    }
}
