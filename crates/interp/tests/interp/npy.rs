//! Files.

use std::fs;
use std::path::PathBuf;

use half::f16;
use lift_interp::inputs::{Fill, generate};
use lift_interp::npy::{coerce, read, write};
use lift_interp::{ScalarValue, Value};
use lift_ir::{Nat, Scalar, Type, Var};
use proptest::prelude::*;

use crate::{floats, ints, rows, tuple, value};

/// A folder of its own for each test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("lift-npy-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("a folder");
        let name = |e: fs::DirEntry| e.file_name().to_string_lossy().into_owned();
        entries.map(|e| name(e.expect("an entry"))).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A `.npy` file of version 1.
fn npy(header: &str, elements: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(elements);
    bytes
}

fn read_bytes(name: &str, bytes: &[u8]) -> Result<Value, String> {
    let folder = Folder::new(name);
    let path = folder.file("x.npy");
    fs::write(&path, bytes).expect("a file");
    read(&path).map_err(|e| e.replace(&path.display().to_string(), "FILE"))
}

#[test]
fn every_type_comes_back() {
    let folder = Folder::new("types");
    for scalar in Scalar::ALL {
        for ty in [
            Type::Scalar(scalar),
            Type::array(Type::Scalar(scalar), 5),
            Type::array(Type::array(Type::Scalar(scalar), 3), 2),
            Type::array(Type::Scalar(scalar), 0),
            Type::array(Type::Scalar(scalar), 70_000),
        ] {
            let value = generate(Fill::Random { seed: 7 }, &ty).unwrap();
            let path = folder.file("x.npy");
            write(&path, &value).unwrap();
            assert_eq!(read(&path), Ok(value));
        }
    }
    assert_eq!(folder.names(), ["x.npy"]);
}

#[test]
fn the_bytes_are_those_of_numpy() {
    let folder = Folder::new("bytes");
    let path = folder.file("x.npy");
    write(&path, &rows(&[&[1, 2, 3], &[-4, 5, 6]])).unwrap();
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 128 + 24);
    let header = String::from_utf8_lossy(&bytes[10..128]);
    let text = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }";
    assert_eq!(header.trim_end(), text);
    assert!(header.ends_with('\n'));
    assert_eq!(bytes[128 + 12..128 + 16], (-4i32).to_le_bytes());
    write(&path, &floats(&[1.0])).unwrap();
    assert!(String::from_utf8_lossy(&fs::read(&path).unwrap()).contains("'shape': (1,), }"));
    write(&path, &Value::bool(true)).unwrap();
    let bytes = fs::read(&path).unwrap();
    assert!(String::from_utf8_lossy(&bytes).contains("'descr': '|b1'"));
    assert!(String::from_utf8_lossy(&bytes).contains("'shape': (), }"));
}

#[test]
fn other_orders_are_read() {
    let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3)}";
    let elements: Vec<u8> = [1i16, 2, 3, 4, 5, -6].iter().flat_map(|x| x.to_be_bytes()).collect();
    let got = read_bytes("fortran", &npy(header, &elements)).unwrap();
    let row = |xs: [i16; 3]| Value::from(xs.to_vec());
    assert_eq!(got, Value::array(vec![row([1, 3, 5]), row([2, 4, -6])]).unwrap());
    let header = "{\"shape\": (1,), \"fortran_order\": False, \"descr\": '>f8'}\n";
    let got = read_bytes("big", &npy(header, &1.5f64.to_be_bytes())).unwrap();
    assert_eq!(got, Value::from(vec![1.5f64]));
}

/// `[1 + 2i, 3 - 4i]` as numpy writes it.
#[test]
fn complex_numbers_are_pairs() {
    let folder = Folder::new("complex");
    let path = folder.file("x.npy");
    let elements: Vec<u8> = [1.0f32, 2.0, 3.0, -4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let header = "{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }";
    let pair = |re: f32, im: f32| tuple(&[Value::f32(re), Value::f32(im)]);
    let two = Value::array(vec![pair(1.0, 2.0), pair(3.0, -4.0)]).unwrap();
    assert_eq!(read_bytes("two", &npy(header, &elements)), Ok(two.clone()));
    write(&path, &two).unwrap();
    let bytes = fs::read(&path).unwrap();
    assert_eq!(String::from_utf8_lossy(&bytes[10..128]).trim_end(), header);
    assert_eq!(bytes[128..], elements);
    // One number, and none.
    for value in [pair(0.5, -0.5), value(&[two], |_, b, x| b.take(0, &x[0]))] {
        write(&path, &value).unwrap();
        assert_eq!(read(&path), Ok(value));
    }
    // The other float types have no complex numbers, and nothing has them of three parts.
    for scalars in [vec![Scalar::F16; 2], vec![Scalar::F32; 3], vec![Scalar::F32, Scalar::F64]] {
        let ty = Type::array(Type::tuple(scalars.into_iter().map(Type::Scalar)), 2);
        let value = generate(Fill::Ones, &ty).unwrap();
        assert!(write(&path, &value).unwrap_err().contains("is stored as `.npz`"));
    }
}

#[test]
fn complex_numbers_in_other_orders_are_read() {
    let header = "{'descr': '>c16', 'fortran_order': True, 'shape': (2, 3), }";
    let elements: Vec<u8> = (0..12).flat_map(|x| f64::from(x).to_be_bytes()).collect();
    let got = read_bytes("complex-fortran", &npy(header, &elements)).unwrap();
    let row = |first: u32| {
        let at = |j: u32| f64::from(first + 4 * j);
        let f64 = |x: f64| Value::Scalar(ScalarValue::F64(x));
        let pairs = (0..3).map(|j| tuple(&[f64(at(j)), f64(at(j) + 1.0)]));
        Value::array(pairs.collect()).unwrap()
    };
    assert_eq!(got, Value::array(vec![row(0), row(2)]).unwrap());
}

#[test]
fn views_are_written_row_by_row() {
    let folder = Folder::new("views");
    let path = folder.file("x.npy");
    let columns = value(&[rows(&[&[1, 2, 3], &[4, 5, 6]])], |_, b, x| b.transpose(&x[0]));
    write(&path, &columns).unwrap();
    assert_eq!(read(&path), Ok(rows(&[&[1, 4], &[2, 5], &[3, 6]])));
}

#[test]
fn vectors_are_one_more_dimension() {
    let folder = Folder::new("vectors");
    let path = folder.file("x.npy");
    let vectors = value(&[floats(&[1.0, 2.0, 3.0, 4.0])], |_, b, x| b.as_vector(2, &x[0]));
    write(&path, &vectors).unwrap();
    let got = read(&path).unwrap();
    assert_eq!(got.ty().to_string(), "[[f32; 2]; 2]");
    let n = Nat::var(&Var::named("N"));
    let wanted = Type::array(Type::vector(Scalar::F32, 2), n.clone());
    assert_eq!(coerce(got.clone(), &wanted), vectors);
    // What does not fit stays as it is.
    assert_eq!(coerce(got.clone(), &Type::array(Type::vector(Scalar::F64, 2), n)), got);
    assert_eq!(coerce(got.clone(), &Type::vector(Scalar::F32, 2)), got);
    let one = Value::vector([1.0f32, 2.0].map(ScalarValue::F32)).unwrap();
    write(&path, &one).unwrap();
    assert_eq!(coerce(read(&path).unwrap(), &one.ty()), one);
}

#[test]
fn tuples_are_archives() {
    let folder = Folder::new("tuples");
    let path = folder.file("x.npz");
    let nested = tuple(&[Value::i32(1), tuple(&[ints(&[2, 3]), Value::f16(f16::ONE)])]);
    write(&path, &nested).unwrap();
    assert_eq!(read(&path), Ok(nested.clone()));
    let array = Value::array(vec![nested.clone(), nested.clone()]).unwrap();
    write(&path, &array).unwrap();
    let got = read(&path).unwrap();
    assert_eq!(got.ty().to_string(), "([i32; 2], ([[i32; 2]; 2], [f16; 2]))");
    assert_eq!(coerce(got, &array.ty()), array);
    // One array is one entry.
    write(&path, &ints(&[1, 2])).unwrap();
    assert_eq!(read(&path), Ok(ints(&[1, 2])));
    let error = write(&folder.file("x.npy"), &nested).unwrap_err();
    assert!(error.starts_with("a value of type `(i32, ([i32; 2], f16))` is stored as `.npz`"));
    assert_eq!(folder.names(), ["x.npz"]);
}

/// Tuples become arrays of tuples only part by part, and only where every part is an array.
#[test]
fn tuples_that_do_not_fit_stay() {
    let pairs = Type::array(Type::tuple([Type::I32, Type::I32]), 2);
    let two = ints(&[1, 2]);
    let zipped = coerce(tuple(&[two.clone(), two.clone()]), &pairs);
    assert_eq!(zipped.to_string(), "[(1, 1), (2, 2)]");
    for odd in [
        tuple(&[two.clone(), two.clone(), two.clone()]),
        tuple(&[two.clone(), Value::i32(3)]),
        tuple(&[two.clone(), ints(&[1, 2, 3])]),
    ] {
        assert_eq!(coerce(odd.clone(), &pairs), odd);
    }
}

#[test]
fn the_same_value_is_the_same_bytes() {
    let folder = Folder::new("same");
    let pair = tuple(&[ints(&[1]), floats(&[2.0])]);
    let bytes = |name: &str| {
        write(&folder.file(name), &pair).unwrap();
        fs::read(folder.file(name)).unwrap()
    };
    assert_eq!(bytes("a.npz"), bytes("b.npz"));
}

#[test]
fn headers_that_lie_are_errors() {
    let claim =
        |shape: &str| format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}");
    for (shape, message) in [
        ("(3,)", "its header says 12 bytes of elements, it holds 4"),
        ("(1000000000000,)", "an array of 1000000000000 `f32` takes 4000000000000 bytes"),
        ("(18446744073709551615, 18446744073709551615)", "an array of "),
        ("(99999999999999999999999,)", "its shape is not made of lengths"),
        ("(-1,)", "its shape is not made of lengths"),
        ("3", "its header lacks a `(`"),
        (&"(".repeat(60_000), "its shape is not made of lengths"),
    ] {
        let error = read_bytes("lies", &npy(&claim(shape), &[0; 4])).unwrap_err();
        assert!(error.starts_with(&format!("cannot read `FILE`: {message}")), "{error}");
    }
}

#[test]
fn files_that_are_no_arrays_are_errors() {
    let header =
        |descr: &str| format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (), }}");
    for (bytes, message) in [
        (Vec::new(), "it is too short for a `.npy` file"),
        (b"hello, world".to_vec(), "it is not a `.npy` file"),
        (b"\x93NUMPY\x09\x00\x00\x00".to_vec(), "version 9 of `.npy` is not known"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(), "its header of 4294967295 bytes"),
        (b"\x93NUMPY\x01\x00\xff\x00".to_vec(), "its header is cut off"),
        (npy("", &[]), "its header lacks a `{`"),
        (npy("{}", &[]), "its header lacks a key"),
        (npy(&header("'<c4'"), &[0; 8]), "elements of type `<c4` are not supported"),
        (npy(&header("'|O'"), &[0; 8]), "elements of type `|O` are not supported"),
        (npy(&header("[('a', '<f4')]"), &[0; 4]), "records are not supported"),
        (b"PK\x03\x04 but no archive".to_vec(), ""),
        ([b"PK\x05\x06".as_slice(), &[0; 18]].concat(), "it has no entries"),
    ] {
        let error = read_bytes("garbage", &bytes).unwrap_err();
        assert!(error.starts_with(&format!("cannot read `FILE`: {message}")), "{error}");
    }
    let missing = read(&PathBuf::from("/nowhere/x.npy")).unwrap_err();
    assert!(missing.starts_with("cannot read `/nowhere/x.npy`: "));
    let missing = write(&PathBuf::from("/nowhere/x.npy"), &Value::i32(1)).unwrap_err();
    assert!(missing.starts_with("cannot write `/nowhere/x.npy`: "));
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_bytes("fuzz", &bytes);
        let mut file = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", &[0; 24]);
        for (i, byte) in bytes.drain(..).enumerate() {
            if byte < 16 {
                let at = (i * 7 + usize::from(byte)) % file.len();
                file[at] = file[at].wrapping_add(byte);
            }
        }
        let _ = read_bytes("fuzz", &file);
    }
}
