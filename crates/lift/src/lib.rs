//! Lift as a library: load a program, compile it for a device, run it on values.
//!
//! ```
//! use lift::{Compiled, Options, Sizes, Value};
//!
//! let program = lift::parse(
//!     "scale.lift",
//!     "def scale[N](a: f32, xs: [f32; N]) -> [f32; N] = xs |> map(\\x -> a * x);",
//! )?;
//! let def = program.entry().ok_or("no program")?;
//! let mut device = lift::open("cpu")?;
//! let mut compiled = Compiled::new(def, &Options::default(), &mut *device)?;
//! let xs = Value::shaped(vec![1.0f32, 2.0, 3.0], &[3]).ok_or("a shape")?;
//! let run = compiled.run(&mut *device, &[Value::f32(2.0), xs], &Sizes::new())?;
//! assert_eq!(run.result.to_string(), "[2.0, 4.0, 6.0]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bytes;
mod compile;
mod error;
mod run;

pub use compile::{Compiled, KernelText, compile_text};
pub use error::Error;
pub use lift_interp::{RunError, Sizes, Value};
pub use lift_ir::{Def, Program};
pub use lift_lower::{Options, Plan};
pub use lift_runtime::{Device, DeviceInfo, Language, RuntimeError, devices, open};
pub use run::{KernelTime, Run};

/// Checks a program given as text.
pub fn parse(name: &str, text: &str) -> Result<Program, Error> {
    let checked = lift_syntax::check_text(name, text);
    if checked.has_errors() {
        return Err(Error::Program(checked.render(false)));
    }
    Ok(checked.program)
}
