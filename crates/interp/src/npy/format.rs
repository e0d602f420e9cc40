//! The `.npy` format: a header that is a Python dictionary, then the elements.

use std::io::{Read, Write};

use lift_ir::Scalar;
use smallvec::SmallVec;

use super::complex;
use crate::array::{Array, Columns};
use crate::buffer::Buffer;
use crate::meter::Meter;
use crate::number::{Element, with_scalar};
use crate::strided::{Dim, Strided};
use crate::value::Value;

const MAGIC: &[u8] = b"\x93NUMPY";
/// Headers of plain arrays are far shorter.
const MAX_HEADER: usize = 1 << 16;

/// Whether a value is one array (or scalar) outside.
pub(super) fn is_single(value: &Value) -> bool {
    match value {
        Value::Scalar(_) | Value::Vector(_) => true,
        Value::Array(array) => {
            matches!(array.columns(), Columns::Leaf(_)) || complex::lengths(value).is_some()
        }
        Value::Tuple(_) => complex::lengths(value).is_some(),
    }
}

/// Writes a single array, little-endian, row by row.
pub(super) fn write(out: &mut dyn Write, value: &Value) -> Result<(), String> {
    if let Some(lengths) = complex::lengths(value) {
        let buffer = complex::interleaved(value)?;
        let header = header_of(buffer.scalar(), true, &lengths);
        let written = out.write_all(&header).and_then(|()| write_elements(out, &buffer));
        return written.map_err(|e| e.to_string());
    }
    let lengths: Vec<usize> = match value {
        Value::Array(array) => match array.columns() {
            Columns::Leaf(view) => view.lengths().collect(),
            Columns::Tuple { .. } => Vec::new(),
        },
        Value::Vector(vector) => vec![vector.lanes().len()],
        Value::Scalar(_) | Value::Tuple(_) => Vec::new(),
    };
    let buffers = value.buffers().map_err(|e| e.to_string())?;
    let [buffer] = buffers.as_slice() else {
        return Err(format!("a value of type `{}` is not one array", value.ty()));
    };
    let header = header_of(buffer.scalar(), false, &lengths);
    out.write_all(&header).and_then(|()| write_elements(out, buffer)).map_err(|e| e.to_string())
}

fn header_of(scalar: Scalar, is_complex: bool, lengths: &[usize]) -> Vec<u8> {
    let kind = match scalar {
        Scalar::Bool => "|b1".to_string(),
        _ if is_complex => format!("<c{}", 2 * scalar.bytes()),
        _ => {
            let order = if scalar.bytes() == 1 { '|' } else { '<' };
            let letter = if scalar.is_float() {
                'f'
            } else if scalar.is_signed_integer() {
                'i'
            } else {
                'u'
            };
            format!("{order}{letter}{}", scalar.bytes())
        }
    };
    let shape: String = lengths.iter().map(|n| format!("{n}, ")).collect();
    let shape = match lengths {
        [_] => shape.trim_end().to_string(),
        _ => shape.trim_end_matches(", ").to_string(),
    };
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Elements begin at a multiple of 64 bytes.
    let before = MAGIC.len() + 4;
    while !(before + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    let mut header = MAGIC.to_vec();
    header.extend([1, 0]);
    header.extend((text.len() as u16).to_le_bytes());
    header.extend(text.as_bytes());
    header
}

fn write_elements(out: &mut dyn Write, buffer: &Buffer) -> std::io::Result<()> {
    let width = buffer.scalar().bytes();
    let mut bytes = Vec::with_capacity(1 << 16);
    for i in 0..buffer.len() {
        bytes.extend_from_slice(&buffer.raw(i).to_le_bytes()[..width]);
        if bytes.len() + 8 > 1 << 16 {
            out.write_all(&bytes)?;
            bytes.clear();
        }
    }
    out.write_all(&bytes)
}

/// Reads a single array; what follows it is left.
pub(super) fn read(mut from: impl Read) -> Result<Value, String> {
    let mut start = [0; 8];
    from.read_exact(&mut start).map_err(|_| "it is too short for a `.npy` file")?;
    if !start.starts_with(MAGIC) {
        return Err("it is not a `.npy` file".to_string());
    }
    let length = match start[6] {
        1 => {
            let mut bytes = [0; 2];
            from.read_exact(&mut bytes).map_err(|e| e.to_string())?;
            usize::from(u16::from_le_bytes(bytes))
        }
        2 | 3 => {
            let mut bytes = [0; 4];
            from.read_exact(&mut bytes).map_err(|e| e.to_string())?;
            u32::from_le_bytes(bytes) as usize
        }
        version => return Err(format!("version {version} of `.npy` is not known")),
    };
    if length > MAX_HEADER {
        return Err(format!("its header of {length} bytes is too long for a plain array"));
    }
    let mut text = vec![0; length];
    from.read_exact(&mut text).map_err(|_| "its header is cut off")?;
    elements(from, &Header::parse(&text)?)
}

fn elements(from: impl Read, header: &Header) -> Result<Value, String> {
    let scalar = header.scalar;
    let parts = if header.is_complex { 2 } else { 1 };
    let count = Meter::default()
        .array(scalar, header.lengths.iter().copied().chain([parts]))
        .map_err(|e| e.to_string())?;
    let wanted = count as u64 * scalar.bytes() as u64;
    // Grows with what is there, whatever the header says.
    let mut bytes = Vec::new();
    from.take(wanted).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() as u64 != wanted {
        let found = bytes.len();
        return Err(format!("its header says {wanted} bytes of elements, it holds {found}"));
    }
    let raw = |element: &[u8]| {
        let mut wide = [0; 8];
        for (i, byte) in element.iter().enumerate() {
            let place = if header.big_endian { element.len() - 1 - i } else { i };
            wide[place] = *byte;
        }
        u64::from_le_bytes(wide)
    };
    let buffer = with_scalar!(scalar, T => {
        T::buffer(bytes.chunks_exact(scalar.bytes()).map(|b| T::from_raw(raw(b))).collect())
    });
    if header.is_complex {
        return Ok(complex::pairs(buffer, &header.lengths, header.fortran));
    }
    if header.fortran && header.lengths.len() > 1 {
        return Ok(Value::Array(Array::leaf(column_major(buffer, &header.lengths))));
    }
    Value::shaped_buffer(buffer, &header.lengths).ok_or_else(|| "its shape is not clear".into())
}

/// A buffer whose first index runs fastest.
fn column_major(buffer: Buffer, lengths: &[usize]) -> Strided {
    let mut stride = 1isize;
    let dims = lengths.iter().map(|len| {
        let dim = Dim { len: *len, stride };
        stride = stride.saturating_mul(*len as isize);
        dim
    });
    Strided { buffer, offset: 0, dims: dims.collect::<SmallVec<_>>(), vector: false }
}

struct Header {
    /// Of a complex number, that of its parts.
    scalar: Scalar,
    is_complex: bool,
    big_endian: bool,
    fortran: bool,
    lengths: Vec<usize>,
}

impl Header {
    /// `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`
    fn parse(text: &[u8]) -> Result<Header, String> {
        let text = std::str::from_utf8(text).map_err(|_| "its header is not text")?;
        let mut rest = Scanner(text);
        let (mut kind, mut fortran, mut lengths) = (None, None, None);
        rest.expect('{')?;
        while !rest.take('}') {
            let key = rest.string()?;
            rest.expect(':')?;
            match key {
                "descr" => {
                    let descr = rest.string().map_err(|_| "records are not supported")?;
                    kind = Some(scalar_of(descr)?);
                }
                "fortran_order" => fortran = Some(rest.truth()?),
                "shape" => lengths = Some(rest.lengths()?),
                _ => return Err(format!("its header has an unknown key `{key}`")),
            }
            if !rest.take(',') {
                rest.expect('}')?;
                break;
            }
        }
        match (kind, fortran, lengths) {
            (Some((scalar, is_complex, big_endian)), Some(fortran), Some(lengths)) => {
                Ok(Header { scalar, is_complex, big_endian, fortran, lengths })
            }
            _ => Err("its header lacks a key".to_string()),
        }
    }
}

/// The scalar type of `<f4`, whether numbers are pairs of them, and whether they are big-endian.
fn scalar_of(descr: &str) -> Result<(Scalar, bool, bool), String> {
    let kind = descr.trim_start_matches(['<', '>', '=', '|']);
    let scalar = match kind {
        "b1" | "?" => Scalar::Bool,
        "i1" => Scalar::I8,
        "i2" => Scalar::I16,
        "i4" => Scalar::I32,
        "i8" => Scalar::I64,
        "u1" => Scalar::U8,
        "u2" => Scalar::U16,
        "u4" => Scalar::U32,
        "u8" => Scalar::U64,
        "f2" => Scalar::F16,
        "f4" | "c8" => Scalar::F32,
        "f8" | "c16" => Scalar::F64,
        _ => return Err(format!("elements of type `{descr}` are not supported")),
    };
    Ok((scalar, kind.starts_with('c'), descr.starts_with('>')))
}

/// What is left of a header.
struct Scanner<'a>(&'a str);

impl<'a> Scanner<'a> {
    fn take(&mut self, c: char) -> bool {
        self.0 = self.0.trim_start();
        match self.0.strip_prefix(c) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, c: char) -> Result<(), String> {
        if self.take(c) { Ok(()) } else { Err(format!("its header lacks a `{c}`")) }
    }

    fn string(&mut self) -> Result<&'a str, String> {
        for quote in ['\'', '"'] {
            if self.take(quote) {
                let (text, rest) =
                    self.0.split_once(quote).ok_or("its header has an open string")?;
                self.0 = rest;
                return Ok(text);
            }
        }
        Err("its header lacks a string".to_string())
    }

    fn truth(&mut self) -> Result<bool, String> {
        self.0 = self.0.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.0.strip_prefix(word) {
                self.0 = rest;
                return Ok(value);
            }
        }
        Err("its header lacks a truth value".to_string())
    }

    fn lengths(&mut self) -> Result<Vec<usize>, String> {
        let mut lengths = Vec::new();
        self.expect('(')?;
        while !self.take(')') {
            self.0 = self.0.trim_start();
            let end = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
            let (digits, rest) = self.0.split_at(end);
            lengths.push(digits.parse().map_err(|_| "its shape is not made of lengths")?);
            self.0 = rest;
            if !self.take(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(lengths)
    }
}
