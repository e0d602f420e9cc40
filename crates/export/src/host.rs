//! How targets hold memory and launch kernels, in C.
//!
//! Functions that run a form have these names for what they share: `lift_code` is the error, which they return at
//! `lift_end`; `lift_bK` is buffer K of the plan, `lift_sK` slot K of memory for temporaries.

mod c;
mod cuda;
mod opencl;
mod sources;

use lift_runtime::Language;

use crate::form::Form;
use crate::interface::{Argument, Interface};

pub trait Host {
    /// What the header includes.
    fn includes(&self) -> &'static str;

    /// What the header declares before the function.
    fn declarations(&self, interface: &Interface) -> String;

    /// What a caller has to know of the arguments, as the start of a comment.
    fn contract(&self) -> &'static str;

    /// The first parameters of all functions.
    fn context(&self, interface: &Interface) -> Vec<String>;

    /// The same as arguments.
    fn context_names(&self) -> Vec<&'static str>;

    /// An argument as a parameter.
    fn parameter(&self, argument: &Argument) -> String;

    /// What stands before the functions: kernels, and what makes and ends their handle.
    fn kernels(&self, interface: &Interface, forms: &[Form]) -> String;

    /// Whether an array that is given is none.
    fn is_missing(&self, name: &str) -> String {
        format!("!{name}")
    }

    /// The declaration of a buffer's variable, holding nothing.
    fn buffer(&self, variable: &str) -> String;

    /// An argument as what a variable of a buffer holds.
    fn given(&self, argument: &Argument) -> String {
        argument.name.clone()
    }

    /// A statement that gives a slot memory; where it cannot, the function ends.
    fn allocate(&self, interface: &Interface, variable: &str, bytes: &str) -> String;

    fn free(&self, variable: &str) -> String;

    /// Statements that give a status a variable, with room for what a check tells, and set its first word to zero.
    fn start_status(&self, interface: &Interface, variable: &str) -> String;

    /// Statements that set `lift_status` to the first word of a status.
    fn read_status(&self, interface: &Interface, variable: &str) -> String;

    /// Statements that set `lift_flag` to the byte at the start of a buffer.
    fn read_flag(&self, interface: &Interface, variable: &str) -> String;

    fn launch(&self, interface: &Interface, launch: &Launch<'_>) -> String;
}

/// One launch, its sizes as C expressions.
pub struct Launch<'a> {
    pub kernel: &'a str,
    /// The kernel among all of the library.
    pub number: usize,
    pub args: Vec<Passed<'a>>,
    /// Work-items of all groups, whole groups, and of one: three dimensions.
    pub global: [String; 3],
    pub local: [String; 3],
    pub shared_bytes: Option<String>,
    /// Sizes are passed with 64 bits.
    pub wide: bool,
}

pub enum Passed<'a> {
    Buffer(String),
    Scalar(&'a Argument),
    Size(String),
}

pub fn of(language: Language) -> &'static dyn Host {
    match language {
        Language::C => &c::C,
        Language::OpenCl => &opencl::OpenCl,
        Language::Cuda => &cuda::Cuda,
    }
}

/// Ends the function with an error.
fn fail(interface: &Interface, error: &str) -> String {
    format!("{{ lift_code = {}_{error}; goto lift_end; }}", interface.prefix())
}
