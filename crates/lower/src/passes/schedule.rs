//! The default schedule: clauses of `launch` that the program leaves open are chosen.
//!
//! Before: `launch local(1, 1) global(N, N)` for a grid of points whose windows overlap.
//! After: `launch local(1, 1) global(N, N) rows(4)`, which the program could have said itself.
//!
//! Only what is expected to pay is chosen. Clauses of the program stay.

use lift_kernel::Kernel;

use crate::passes::{loop_blocking, register_tiling, unroll_and_jam};
use crate::{Options, Target};

/// Rows at a time where windows overlap: with more of them their sums no longer fit in the registers of a processor.
const ROWS: u32 = 4;

/// Planes and rows of a block: so much of a grid stays in the cache until it is read again as a neighbour.
const BLOCKS: [u32; 2] = [32, 64];

/// Blocks that a grid is cut into at least, for threads to share, as long as they have some planes and rows.
const LEAST_BLOCKS: i128 = 32;
const SMALLEST_BLOCK: [u32; 2] = [4, 8];

/// One tile is worked on while the next one is filled.
const STAGES: u32 = 2;

pub(crate) fn choose(kernel: &mut Kernel, options: &Options) {
    match options.target {
        Target::Loops => {
            if kernel.schedule.tile.is_none() {
                kernel.schedule.tile = register_tiling::best(kernel);
            }
            let tiled = kernel.schedule.tile.is_some_and(|tile| tile != [1, 1]);
            if tiled {
                return;
            }
            if kernel.schedule.rows.is_none() && unroll_and_jam::pays(kernel, ROWS) {
                kernel.schedule.rows = Some(ROWS);
            }
            if kernel.schedule.blocks.is_none() && loop_blocking::pays(kernel) {
                kernel.schedule.blocks = Some(blocks(kernel));
            }
        }
        Target::Threads => {
            let fits = || local_bytes(kernel).is_some_and(|bytes| bytes <= options.local_bytes);
            if kernel.schedule.stages.is_none() && !kernel.locals.is_empty() && fits() {
                kernel.schedule.stages = Some(STAGES);
            }
        }
    }
}

/// The blocks that are expected to pay: as large as the cache allows, and smaller where threads would have none.
fn blocks(kernel: &Kernel) -> [u32; 2] {
    let mut size = BLOCKS;
    let Some(extents) = loop_blocking::extents(kernel) else { return size };
    let count = |size: [u32; 2]| -> i128 {
        let along = |(n, each): (i128, u32)| (n + i128::from(each) - 1) / i128::from(each);
        extents.into_iter().zip(size).map(along).product()
    };
    for dimension in [1, 0] {
        while count(size) < LEAST_BLOCKS && size[dimension] > SMALLEST_BLOCK[dimension] {
            size[dimension] /= 2;
        }
    }
    size
}

/// The local memory that a kernel takes where all of it has as many stages as are usual; nothing where a length is open.
fn local_bytes(kernel: &Kernel) -> Option<u64> {
    kernel.locals.iter().try_fold(0, |sum: u64, buffer| {
        let length = u64::try_from(buffer.total().as_int()?).ok()?;
        let bytes = length.checked_mul(buffer.scalar.bytes() as u64)?;
        sum.checked_add(bytes.checked_mul(STAGES.into())?)
    })
}
