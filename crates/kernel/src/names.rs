//! Names that mean the same in OpenCL C, CUDA C and C.

use std::collections::HashSet;
use std::sync::LazyLock;

/// `name`, or `name_` where a target language or a printed helper has a meaning for it.
///
/// ```
/// use lift_kernel::safe_name;
///
/// assert_eq!(safe_name("row"), "row");
/// assert_eq!(safe_name("kernel"), "kernel_");
/// assert_eq!(safe_name("float4"), "float4_");
/// ```
pub fn safe_name(name: &str) -> String {
    if is_reserved(name) { format!("{name}_") } else { name.to_owned() }
}

/// A name that can be printed: an identifier in ASCII without a meaning of its own.
pub(crate) fn is_safe(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !is_reserved(name)
}

fn is_reserved(name: &str) -> bool {
    // `name_` must be free where `name` is not, so the underscores of a name do not count.
    let ends_free = name.ends_with('_') && !name.starts_with("__");
    !ends_free
        && (PREFIXES.iter().any(|p| name.starts_with(p))
            || name.starts_with('_')
            || is_vector_type(name)
            || is_function(name)
            || RESERVED.contains(name))
}

/// `erf`, or `erff` of `float`: printed calls mean the language's own.
fn is_function(name: &str) -> bool {
    let single = name.strip_suffix('f');
    lift_ir::Math::ALL.iter().any(|m| m.name() == name || Some(m.name()) == single)
}

/// `float4`, `f32x4`, `make_float4` and the like.
fn is_vector_type(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(|c: char| c.is_ascii_digit()) else { return false };
    let stem = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let own = stem.strip_suffix('x').is_some_and(|s| lift_ir::Scalar::from_name(s).is_some());
    own || VECTOR_STEMS.contains(&stem)
}

const PREFIXES: [&str; 15] = [
    "lift_", "get_", "convert_", "as_", "vload", "vstore", "atomic_", "atom_", "native_", "half_",
    "cl_", "CLK_", "omp_", "cuda", "make_",
];

const VECTOR_STEMS: [&str; 17] = [
    "bool",
    "char",
    "uchar",
    "short",
    "ushort",
    "int",
    "uint",
    "long",
    "ulong",
    "half",
    "float",
    "double",
    "longlong",
    "ulonglong",
    "dim",
    "quad",
    "schar",
];

static RESERVED: LazyLock<HashSet<&str>> =
    LazyLock::new(|| WORDS.iter().flat_map(|line| line.split_ascii_whitespace()).collect());

#[rustfmt::skip]
const WORDS: [&str; 18] = [
    // C11
    "auto break case char const continue default do double else enum extern float for goto if inline int long register",
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm typeof",
    "true false bool NULL INFINITY NAN HUGE_VAL alignas alignof noreturn static_assert thread_local complex imaginary I",
    "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t ptrdiff_t intptr_t uintptr_t",
    "main malloc free calloc realloc abort exit aligned_alloc memcpy memset printf unix linux M_PI M_E",
    "random srandom rand srand rand_r drand48 atexit system getenv qsort bsearch atoi atof atol strtol strtod mblen ldiv a64l",
    "INT8_MIN INT16_MIN INT32_MIN INT64_MIN INT8_MAX INT16_MAX INT32_MAX INT64_MAX",
    // C++, for CUDA
    "and and_eq bitand bitor catch char16_t char32_t class compl concept const_cast constexpr decltype delete dynamic_cast",
    "explicit export friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public",
    "reinterpret_cast requires static_cast template this throw try typeid typename using virtual wchar_t xor xor_eq std",
    // OpenCL C
    "kernel global local constant private generic pipe read_only write_only read_write uniform half uchar ushort uint ulong",
    "event_t sampler_t image1d_t image2d_t image3d_t barrier mem_fence select vec_step any all bitselect isequal prefetch",
    "work_group_barrier sub_group_barrier popcount clz rotate upsample hadd rhadd mad_hi mul_hi mul24 mad24 add_sat sub_sat",
    // CUDA
    "norm normf norm3d norm4d rnorm rnorm3d rnorm4d rhypot normcdf normcdfinv erfinv erfcinv erfcx sincos sincospi sinpi cospi tanpi logb ilogb scalbn scalbln nextafter remquo fdim lround llround lrint llrint nearbyint copysign expm1 log1p rcbrt tgamma acosh asinh atanh clock clock64 assert",
    "threadIdx blockIdx blockDim gridDim warpSize ldg saturate half2 hsqrt hexp hlog hsin hcos hrint hfloor hceil",
    // Functions of more than one of them
    "abs labs llabs fabs fabsf min max fmin fmax fminf fmaxf clamp floor floorf ceil ceilf round rint rintf sqrt sqrtf rsqrt",
    "rsqrtf exp expf exp2 exp10 log logf log2 log10 sin sinf cos cosf tan tanf tanh tanhf sinh cosh asin acos atan atan2 pow powf pown",
    "fma fmaf mad fmod fmodf mix step smoothstep sign dot cross length distance normalize remainder trunc hypot cbrt erf erfc j0 j1 jn y0 y1 yn gamma lgamma index div signbit isnan isinf isfinite shuffle shuffle2 nan ldexp frexp modf degrees radians time",
];
