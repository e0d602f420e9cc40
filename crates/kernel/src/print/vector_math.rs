//! Mathematical functions of which the system's library has versions for whole vectors.
//!
//! A compiler may only call them where it is told that they exist: `#pragma omp declare simd`, which the library's own header
//! does under `-ffast-math` alone. Their results are within the language's bounds, special values included.

use lift_ir::{Math, Scalar};

use super::c::C;
use super::code::Code;

/// Tells the compiler of a function's vector versions, where there are any.
pub(super) fn declare(code: &mut Code<'_, C>, math: Math, scalar: Scalar, name: &str) {
    let Some(since) = since(math) else { return };
    let ty = code.scalar(scalar);
    let params = vec![ty; math.arity()].join(", ");
    code.helper(format!(
        "#if defined(__x86_64__) && defined(__GLIBC__) && __GLIBC_PREREQ(2, {since})
#pragma omp declare simd notinbranch
{ty} {name}({params});
#endif"
    ));
}

/// The minor version of the GNU C library 2 that has had vector versions of a function since.
fn since(math: Math) -> Option<u32> {
    match math {
        Math::Exp | Math::Log | Math::Sin | Math::Cos | Math::Pow => Some(22),
        Math::Sqrt | Math::Rsqrt => None,
        _ if math.is_approximate() => Some(35),
        _ => None,
    }
}
