//! Programs on `cpu`: one function in C for each choice of sizes, that works on the caller's arrays.

use lift_export::{Library, Listed};
use lift_interp::{Sizes, concrete_type};
use lift_ir::Def;
use lift_runtime::{CArg, CFunction, CompileOptions, DeviceInfo, Language};

use crate::shapes::shapes;

/// A program for certain sizes, compiled.
pub struct Native {
    function: CFunction,
    sizes: Vec<u64>,
    errors: Vec<(i32, String)>,
    /// Of the arrays of the result.
    pub shapes: Vec<Vec<usize>>,
}

impl Native {
    /// Compiles the form of the program that is best on the device.
    pub fn new(
        def: &Def,
        sizes: &Sizes,
        form: impl FnOnce(&DeviceInfo) -> Def,
    ) -> Result<Native, lift::Error> {
        let by_name: std::collections::BTreeMap<String, i128> =
            sizes.iter().map(|(name, value)| (name.to_string(), value)).collect();
        let info = lift::open("cpu").map_err(lift::Error::Device)?.info().clone();
        let form = form(&info);
        let options = lift::Options {
            sizes: by_name.clone(),
            local_bytes: info.local_memory_bytes,
            ..lift::Options::default()
        };
        let name = Library::usual_name(def);
        let listed = vec![Listed { def: form, sizes: by_name }];
        let library = Library {
            name: &name,
            def,
            language: Language::C,
            options: &options,
            listed,
            others: false,
        };
        let callable = library.callable()?;
        let options = CompileOptions::default();
        let function =
            CFunction::compile(&callable.source, &callable.name, &callable.params, &options)
                .map_err(lift::Error::Device)?;
        let value = |v: &lift_ir::Var| sizes.get(v.name()).and_then(|n| u64::try_from(n).ok());
        let ret = concrete_type(&def.ret, sizes)?;
        Ok(Native {
            function,
            sizes: def.sizes.iter().map(|v| value(v).unwrap_or(0)).collect(),
            errors: callable.errors,
            shapes: shapes(&ret),
        })
    }

    /// Runs the program.
    ///
    /// # Safety
    ///
    /// The arguments are scalars and arrays as the program's types say, of the sizes it was compiled for, and then the
    /// arrays of the result.
    pub unsafe fn call(&self, arguments: &[CArg]) -> Result<(), String> {
        let mut code = 0i32;
        let mut args: Vec<CArg> = Vec::with_capacity(self.sizes.len() + arguments.len() + 1);
        args.extend(self.sizes.iter().map(|size| CArg::from(*size)));
        args.extend_from_slice(arguments);
        args.push(CArg::Pointer((&raw mut code).cast()));
        // SAFETY: The arguments are what the caller promises, and the error has a place.
        unsafe { self.function.call(&args) };
        if code == 0 {
            return Ok(());
        }
        let text = self.errors.iter().find(|(number, _)| *number == code);
        Err(text.map_or_else(|| format!("error {code}"), |(_, text)| text.clone()))
    }
}
