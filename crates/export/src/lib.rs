//! Programs as libraries in C that need nothing of Lift: a header, a source, and files for CMake and pkg-config.
//!
//! A [`Library`] has kernels for sizes that are listed, and for all others kernels whose sizes are open. One function
//! takes sizes and arrays, chooses by the sizes, and does what the plan of the kernels says ([`lift_lower::Plan`]):
//! conditions on sizes, memory for temporaries, launches, loops, checks. It has no state, and says by a number what
//! went wrong.
//!
//! | file | is about |
//! |---|---|
//! | `interface` | the function from outside: names and types of its arguments |
//! | `form` | kernels for some sizes, with names that no other form has |
//! | `codes` | what can go wrong, by number |
//! | `expressions` | sizes as C expressions of 128 bits |
//! | `run` | the function that runs a form |
//! | `host` | how targets hold memory and launch kernels |
//! | `callable` | the same in one text, to be called in the process that made it |
//! | `header`, `source`, `packaging` | the files |

mod callable;
mod codes;
mod expressions;
mod form;
mod header;
mod host;
mod interface;
mod packaging;
mod run;
mod source;

use std::collections::BTreeMap;

use lift_execute::Error;
use lift_ir::Def;
use lift_lower::Options;
use lift_runtime::Language;

pub use callable::Callable;
use form::Form;
use interface::Interface;
pub use interface::signature;

/// What is exported.
pub struct Library<'a> {
    /// What the function, the files and the library are called.
    pub name: &'a str,
    /// The program: what is computed, and the types of the arguments.
    pub def: &'a Def,
    pub language: Language,
    /// For the compiler; its sizes are parameters that all forms have.
    pub options: &'a Options,
    pub listed: Vec<Listed>,
    /// Whether sizes that are not listed have kernels too.
    pub others: bool,
}

/// Kernels for sizes that are known.
pub struct Listed {
    /// The program itself, or a faster form of it: it takes the same arguments and sizes.
    pub def: Def,
    /// All of them or some; those that are not here stay open.
    pub sizes: BTreeMap<String, i128>,
}

impl Library<'_> {
    /// A name for a library that no target has a meaning for.
    pub fn usual_name(def: &Def) -> String {
        lift_kernel::target_name(&def.name)
    }

    /// Names and texts of the files.
    pub fn files(&self) -> Result<Vec<(String, String)>, Error> {
        let interface = Interface::of(self.name, self.def);
        let forms = self.forms()?;
        let source = source::source(&interface, &forms, self)?;
        let name = &interface.name;
        Ok(vec![
            (format!("{name}.h"), header::header(&interface, self, &source.codes)),
            (format!("{name}.c"), source.text),
            ("CMakeLists.txt".to_string(), packaging::cmake(name, self.language)),
            (format!("{name}.pc.in"), packaging::pkg_config(name, &self.def.name, self.language)),
        ])
    }

    /// The library as one text that a program compiles and calls in its own process.
    ///
    /// Requires: the language is C.
    pub fn callable(&self) -> Result<Callable, Error> {
        let interface = Interface::of(self.name, self.def);
        let forms = self.forms()?;
        let source = source::source(&interface, &forms, self)?;
        Ok(callable::callable(&interface, self, source))
    }

    /// In the order in which they are looked at: the first whose sizes fit is taken.
    fn forms(&self) -> Result<Vec<Form>, Error> {
        let mut forms = Vec::new();
        for (index, listed) in self.listed.iter().enumerate() {
            let label = format!("at{index}");
            forms.push(Form::new(&listed.def, &listed.sizes, &label, self)?);
        }
        if self.others {
            forms.push(Form::new(self.def, &BTreeMap::new(), "open", self)?);
        }
        Ok(forms)
    }
}
