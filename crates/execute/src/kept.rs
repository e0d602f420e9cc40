//! Values as bytes, for another process of this machine: the scalars of one component after the other.

use std::io::{self, Read, Write};

use lift_interp::{Sizes, Value};
use lift_ir::Type;

use crate::{Error, bytes};

/// Writes the scalars of a value.
pub fn write_value(value: &Value, to: &mut dyn Write) -> Result<(), Error> {
    for buffer in value.buffers()? {
        to.write_all(bytes::of_buffer(&buffer)).map_err(|error| failed("written", &error))?;
    }
    Ok(())
}

/// The value of a type whose scalars these are.
///
/// Requires: the sizes in the type are constants.
pub fn read_value(ty: &Type, from: &mut dyn Read) -> Result<Value, Error> {
    let mut parts = Vec::new();
    for like in Value::zeros(ty, &Sizes::new())?.buffers()? {
        let mut read =
            |bytes: &mut [u8]| from.read_exact(bytes).map_err(|error| failed("read", &error));
        parts.push(bytes::to_buffer(like.scalar(), like.len(), &mut 0.0, &mut read)?);
    }
    Ok(Value::from_buffers(ty, parts)?)
}

fn failed(what: &str, error: &io::Error) -> Error {
    Error::arguments(format!("a value that is kept cannot be {what}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A scalar, an array of arrays, and an array of tuples.
    #[test]
    fn what_is_read_is_what_was_written() {
        let pair = |n: u8| Value::tuple(vec![Value::u8(n), Value::bool(n == 1)]);
        let value = Value::tuple(vec![
            Value::f32(1.5),
            Value::shaped(vec![1i64, -2, 3, 4, 5, 6], &[2, 3]).unwrap(),
            Value::array(vec![pair(0), pair(1)]).unwrap(),
        ]);
        let mut bytes = Vec::new();
        write_value(&value, &mut bytes).unwrap();
        assert_eq!(read_value(&value.ty(), &mut bytes.as_slice()).unwrap(), value);
        let cut = &bytes[..bytes.len() - 1];
        assert!(read_value(&value.ty(), &mut &cut[..]).is_err());
    }
}
