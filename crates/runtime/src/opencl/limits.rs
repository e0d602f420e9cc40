//! What a driver's answers about a kernel mean for its launches.

use crate::check::KernelLimits;

/// A text that demands its local size was compiled for it, so the largest group is asked only of others: NVIDIA's
/// driver says 256 also of kernels that demand 1024 and run. A launch that cannot run reports it itself.
///
/// Requires: what the driver calls the kernel's compile work-group size, largest work-group size and local memory.
pub fn of_kernel(demanded: Option<[usize; 3]>, largest: Option<usize>, local: u64) -> KernelLimits {
    // Where nothing is demanded, drivers answer zeros.
    let demanded = demanded.filter(|sizes| !sizes.contains(&0));
    KernelLimits {
        max_group_size: largest.filter(|_| demanded.is_none()).map(|size| size as u64),
        local_memory_bytes: local,
        required_local: demanded.map(|sizes| sizes.map(|size| size as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::of_kernel;

    #[test]
    fn a_demanded_size_is_not_held_against_the_largest() {
        let limits = of_kernel(Some([1024, 1, 1]), Some(256), 8);
        assert_eq!(limits.max_group_size, None);
        assert_eq!(limits.required_local, Some([1024, 1, 1]));
        assert_eq!(limits.local_memory_bytes, 8);
    }

    #[test]
    fn without_a_demanded_size_the_largest_holds() {
        for demanded in [Some([0, 0, 0]), None] {
            let limits = of_kernel(demanded, Some(256), 0);
            assert_eq!((limits.max_group_size, limits.required_local), (Some(256), None));
        }
    }

    #[test]
    fn a_driver_need_not_answer() {
        let limits = of_kernel(None, None, 0);
        assert_eq!((limits.max_group_size, limits.required_local), (None, None));
    }
}
