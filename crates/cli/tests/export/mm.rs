//! Calls an exported `mm` from Rust.

use std::ffi::{CStr, c_char, c_int};

unsafe extern "C" {
    fn mm(m: usize, k: usize, n: usize, a: *const f32, b: *const f32, result: *mut f32) -> c_int;
    fn mm_error_text(code: c_int) -> *const c_char;
}

fn main() {
    let (a, b) = ([1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0f32, 0.0, 0.0, 1.0, 1.0, 1.0]);
    let mut c = [0.0f32; 4];
    // SAFETY: The arrays are as long as the sizes say.
    let code = unsafe { mm(2, 3, 2, a.as_ptr(), b.as_ptr(), c.as_mut_ptr()) };
    // SAFETY: The text is a constant of the library.
    let text = unsafe { CStr::from_ptr(mm_error_text(code)) };
    assert_eq!((code, text.to_str()), (0, Ok("no error")));
    assert_eq!(c, [4.0, 5.0, 10.0, 11.0]);
    println!("passed");
}
