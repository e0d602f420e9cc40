//! Mathematical functions of which the system's library has versions for whole vectors.
//!
//! A compiler may only call them where it is told that they exist: `#pragma omp declare simd`, which the library's own header
//! does under `-ffast-math` alone. Their results are within the language's bounds, special values included.

use lift_ir::{Math, Scalar};

use super::c::C;
use super::code::Code;
use super::dialect::Dialect;
use super::scalar;
use super::text::Text;
use crate::Expr;

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

/// The exponential function, 0 where the result is below the smallest normal number.
///
/// The library's vector versions do a vector number by number where one of its results is so small, twenty times slower: in the soft
/// maximum of a masked row, all. They are asked for the exponential of 0 there. Masks of bits say so, since a compiler takes a choice
/// between a constant and a result apart again.
pub(super) fn exp(code: &mut Code<'_, C>, scalar: Scalar, args: &[Expr]) -> Text {
    let (bits, least) = match scalar {
        Scalar::F64 => ("int64_t", "-0x1.6232bdd7abcd2p9"),
        _ => ("int32_t", "-0x1.5d589ep6f"),
    };
    let (ty, library) = (code.scalar(scalar), scalar::library(Math::Exp, scalar));
    let name = format!("lift_{library}");
    code.headers.insert("math.h");
    code.headers.insert("stdint.h");
    code.helper(format!(
        "{}{ty} {name}({ty} x) {{
  const {bits} kept = -({bits})!(x < {least});
  union {{ {ty} value; {bits} bits; }} y = {{x}};
  y.bits &= kept;
  y.value = {library}(y.value);
  y.bits &= kept;
  return y.value;
}}",
        C::FUNCTION
    ));
    let args = code.all(args);
    Text::call(&name, &args)
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
