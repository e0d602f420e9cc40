//! Lift as a library: load a program, compile it for a device, run it on arrays.
//!
//! ```
//! use lift::{Compiled, Options, Sizes};
//! use ndarray::{Array2, array};
//!
//! let program = lift::parse(
//!     "mm.lift",
//!     "def mm[M, K, N](A: [[f32; K]; M], B: [[f32; N]; K]) -> [[f32; N]; M] =
//!        A |> map(\\row -> transpose(B) |> map(\\col ->
//!          zip(row, col) |> map(\\(a, b) -> a * b) |> reduce(0.0, (+))));",
//! )?;
//! let def = program.entry().ok_or("no program")?;
//! let mut device = lift::open("cpu")?;
//! let mut mm = Compiled::new(def, &Options::default(), &mut *device)?;
//!
//! let a = array![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
//! let b = Array2::from_elem((3, 4), 0.5f32);
//! let args = [lift::value_of(&a), lift::value_of(&b)];
//! let run = mm.run(&mut *device, &args, &Sizes::new())?;
//! let c: Array2<f32> = lift::array_of(&run.result)?;
//! assert_eq!(c, a.dot(&b));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Sizes are read off the arguments. [`Options`] can fix them beforehand, which makes better kernels.
//! What runs several times on the same arguments is a [`Session`]: they are put on the device once.
//!
//! ```
//! # use lift::{Compiled, Options, Sizes, Value};
//! # let text = "def scale[N](a: f32, xs: [f32; N]) -> [f32; N] = xs |> map(\\x -> a * x);";
//! # let program = lift::parse("scale.lift", text)?;
//! # let def = program.entry().ok_or("no program")?;
//! # let mut device = lift::open("cpu")?;
//! let mut options = Options::default();
//! options.sizes.insert("N".to_string(), 3);
//! let scale = Compiled::new(def, &options, &mut *device)?;
//! let args = [Value::f32(2.0), Value::from(vec![1.0f32, 2.0, 3.0])];
//! let mut session = scale.session(&mut *device, &args, &Sizes::new())?;
//! for _ in 0..3 {
//!     let times = session.run()?;
//!     assert_eq!(times.len(), 1);
//! }
//! assert_eq!(session.result()?.to_string(), "[2.0, 4.0, 6.0]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`compile_files`] makes the kernels and the plan that other hosts run them by. [`tune`] finds faster forms of a program by measuring, keeps them, and compiles them.

mod arrays;
mod plan;
pub mod tune;

pub use arrays::{array_of, value_from, value_of};
pub use lift_execute::{
    Compiled, Costs, Error, KernelPlan, KernelText, KernelTime, Placed, Prepared, Run, Session,
    Stored, compile_text, explain, explain_domains, lower_for,
};
pub use lift_interp::{Element, RunError, Sizes, Value};
pub use lift_ir::{Def, Program};
pub use lift_lower::{Options, Plan, Target};
pub use lift_runtime::{
    CompileOptions, Device, DeviceInfo, Language, RuntimeError, Stream, devices, open,
};
pub use ndarray;
pub use plan::compile_files;

/// Checks a program given as text.
pub fn parse(name: &str, text: &str) -> Result<Program, Error> {
    let checked = lift_syntax::check_text(name, text);
    if checked.has_errors() {
        return Err(Error::Program(checked.render(false)));
    }
    Ok(checked.program)
}
