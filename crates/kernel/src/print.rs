//! Kernels as text: OpenCL C, CUDA C, and C with OpenMP.
//!
//! A printer decides nothing about what a kernel does. What the targets have in common is in
//! `code` (statements) and `expr` (scalars); a [`dialect::Dialect`] says what they do not.
//!
//! | value | OpenCL C | CUDA C | C |
//! |---|---|---|---|
//! | vector | `float4` | a struct `f32x4` with operators | a GCC vector `f32x4` |
//! | vector of 3 | `float3` | `f32x3`, three lanes | `f32x3`, four lanes of which three count |
//! | `bool` in memory, and as a lane | `uchar`, 0 or 1 | the same | the same |
//! | index, size | `int`, or `long` if wide | `int` or `long long` | `int64_t` |

mod atomics;
mod bits;
mod c;
mod code;
mod cuda;
mod defined;
mod dialect;
mod expr;
mod gpu;
mod lanes;
mod literal;
mod opencl;
mod parallel;
mod pieces;
mod scalar;
mod text;
mod vector_math;

pub use c::{c, c_pieces};
pub use cuda::{cuda, dynamic_shared_bytes};
pub use opencl::opencl;
pub use pieces::Pieces;
