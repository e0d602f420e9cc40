//! Imperative kernels: what the compiler makes of a program before it is text.
//!
//! [`Kernel`] is the language, [`validate`] checks it, and [`c`], [`opencl`] and [`cuda`] print what
//! was checked.

mod atomic;
mod canonical;
mod edit;
mod ids;
mod ir;
mod names;
mod print;
mod read;
mod schedule;
mod text;
mod uniform;
mod unrolled;
mod uses;
mod validate;
mod walk;
mod written;

pub use canonical::{canonical_names, same_up_to_names};
pub use edit::{Edit, Replace};
pub use ids::Ids;
pub use ir::{
    Access, Arg, Barrier, Buffer, BufferId, Expr, Fence, Kernel, Launch, Loop, LoopKind, Mark,
    Runs, Scope, Sharing, Stmt, Usage, ValueType, Variable,
};
pub use names::target_name;
pub use print::{Pieces, c, c_pieces, cuda, dynamic_shared_bytes, opencl};
pub use read::{ReadError, read};
pub use schedule::Schedule;
pub use text::text;
pub use uniform::Uniform;
pub use unrolled::is_unrolled;
pub use uses::buffers_in;
pub use validate::{Valid, validate};
pub use walk::only_loop;
