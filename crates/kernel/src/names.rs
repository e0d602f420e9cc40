//! How names are written in OpenCL C, CUDA C and C.
//!
//! A program may call anything anything: `I`, `linux` and `INT_MIN` are good names of sizes, and macros of some target.
//! No list of what targets and their headers define is complete, so the list is of what they do not define. A name made
//! of [`WORDS`] is written as it is; any other ends in an underscore, as no name in a header does. A word that is
//! missing here costs an underscore, nothing else; tests compare the words with the headers of the targets.
//!
//! | name | written |
//! |---|---|
//! | `x`, `row_2`, `acc` | `x`, `row_2`, `acc` |
//! | `kernel`, `INT_MIN`, `y0` | `kernel_`, `INT_MIN_`, `y0_` |
//! | `__x` | `v__x_` |
//! | longer than 48 letters | the first 28, sixteen digits that stand for all of them, an underscore |

use std::collections::HashSet;
use std::sync::LazyLock;

/// Longer names are cut. Files are called after kernels, and some compilers end on names of thousands of letters.
const LONGEST: usize = 48;

/// A name as every target takes it.
///
/// ```
/// use lift_kernel::target_name;
///
/// assert_eq!(target_name("row"), "row");
/// assert_eq!(target_name("kernel"), "kernel_");
/// assert_eq!(target_name("float4"), "float4_");
/// ```
pub fn target_name(name: &str) -> String {
    if is_harmless(name) {
        return name.to_owned();
    }
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let first = if name.starts_with(|c: char| c.is_ascii_alphabetic()) { "" } else { "v" };
    if name.chars().count() <= LONGEST {
        return format!("{first}{}_", name.chars().map(letter).collect::<String>());
    }
    let start: String = name.chars().take(28).map(letter).collect();
    format!("{first}{start}_{:016x}_", hash(name))
}

/// Whether a name may be that of a kernel, which is written as it is.
pub(crate) fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        // No helper ends in an underscore.
        && (!name.starts_with("lift_") || name.ends_with('_'))
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether no target has a meaning for a name: it is made of words no target uses, or of letters, and of numbers.
pub(crate) fn is_harmless(name: &str) -> bool {
    // The functions of Bessel, and the imaginary unit.
    let is_known = |name: &str| matches!(name, "I" | "j0" | "j1" | "y0" | "y1");
    // Types end in `_t`, functions that may be entered again in `_r`.
    let is_later = |part: &str| {
        !matches!(part, "t" | "r")
            && (is_word(part) || is_number(part) || LATER_WORDS.contains(&without_digits(part)))
    };
    let mut parts = name.split('_');
    let is_first =
        |part: &str| is_word(part) || is_letter(without_digits(part)) || HARMLESS.contains(part);
    name.len() <= LONGEST
        && !is_known(name)
        && parts.next().is_some_and(is_first)
        && parts.all(is_later)
}

/// A word or a letter, small ones, and maybe a number: `row`, `x2`. Capitals make macros: `M_E`.
fn is_word(part: &str) -> bool {
    let word = without_digits(part);
    let is_small = !part.contains(|c: char| c.is_ascii_uppercase());
    is_small && (is_letter(word) || HARMLESS.contains(word) || HARMLESS.contains(part))
}

fn is_letter(part: &str) -> bool {
    part.len() == 1 && part.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn is_number(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit())
}

fn without_digits(part: &str) -> &str {
    part.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// FNV-1a in 64 bits.
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

static HARMLESS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| WORDS.iter().flat_map(|line| line.split_ascii_whitespace()).collect());

/// Words that targets know, but not behind others: `mm_local`.
const LATER_WORDS: [&str; 15] = [
    "local", "private", "global", "register", "kernel", "dot", "min", "max", "index", "length",
    "distance", "norm", "exp", "log", "with",
];

/// Words that neither a target language nor a header of one has a meaning for.
#[rustfmt::skip]
const WORDS: [&str; 19] = [
    // Of passes
    "acc tmp state twice broken smooth result status len group in out block turn once next init wg lid gid base at item items part parts place lane warp",
    // Of arrays and their parts
    "xs ys zs row rows col cols column columns tile tiles chunk chunks strip strips window windows plane planes grid grids cell cells",
    "array arrays matrix vec vector vectors element elements edge edges border corner corners head tail middle centre center centres",
    "centers start stop first second third fourth last left right top bottom inner outer upper lower above below here there near around",
    "along inside outside start begin own other others old now before after both each every some many few one two three four",
    "five six seven eight nine ten pair pairs triple key keys value values val entry entries record records field fields number numbers",
    // Of what is computed
    "sum sums total totals mean means average variance var product products count counts diff diffs delta deltas error errors",
    "loss score scores weight weights bias biases alpha beta theta lambda sigma rho phi psi eta kappa omega mu nu tau chi zeta xi eps",
    "epsilon scale scales shift shifts factor factors coeff coeffs coefficient rate rates ratio energy mass charge force forces velocity",
    "position positions pos vel acceleration temperature pressure density power heat flux phase mag magnitude angle radius area volume",
    "point points particle particles body bodies cluster clusters feature features label labels query queries neighbour neighbours",
    "image images pixel pixels channel channels batch batches input inputs output outputs hidden tap taps stencil blur sharpen gradient",
    "height width depth size sizes extent extents offset offsets stride strides lat lng lon im re price prices strike spot vol",
    "dx dy dz dt du dv dw ds dn ux uy uz vx vy vz px py pz ax ay az bx by bz cx cy cz xx xy xz yx yy yz zx zy zz at bt ab ba aa bb cc dd",
    // Of programs
    "asum axpy scal gemv gemm mm matmul gesummv atax nn md nbody kmeans mriq convolution conv convolve jacobi heat",
    "jacobi2d jacobi3d hotspot2d heat3d heat2d srad1 srad2 acoustic3d stencil2d gaussian mandelbrot softmax layernorm rmsnorm attention",
    "pairwise argmin argmax partial transposed transpose coalesced tiled vectorised mult add sub square squares squared",
    "scan prefix fold folded histogram harris bilateral floyd lu fft lbm life mlp linear relu maxpool cosine program test demo example saxpy inv held flag more At Bt Ct",
    "black scholes copy fill swap reverse reversed sorted padded pad clamped wrapped mirrored flat joined zipped mapped TILE BLOCK",
];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::{HARMLESS, LONGEST, is_harmless, is_identifier, target_name};

    #[test]
    fn words_are_kept_and_others_end_in_an_underscore() {
        for name in [
            "x",
            "N",
            "row",
            "x_2",
            "acc_3_4",
            "in_g1",
            "t2",
            "A_sub",
            "jacobi2d_5",
            "TILE",
            "mm_local",
        ] {
            assert_eq!(target_name(name), name);
        }
        for (name, written) in [
            ("kernel", "kernel_"),
            ("I", "I_"),
            ("y0", "y0_"),
            ("M_E", "M_E_"),
            ("size_t", "size_t_"),
            ("__x", "v__x_"),
            ("x_", "x__"),
            ("f32x4", "f32x4_"),
            ("TILE_WIDTH", "TILE_WIDTH_"),
            ("größe", "gr__e_"),
            ("", "v_"),
        ] {
            assert_eq!(target_name(name), written);
            assert!(is_identifier(written) && !is_harmless(name), "{name}");
        }
    }

    #[test]
    fn long_names_are_told_apart_by_their_whole() {
        let long = "x".repeat(5000);
        let names = [&long, &format!("{long}y"), &format!("y{long}")].map(|name| target_name(name));
        assert!(names.iter().all(|name| name.len() <= LONGEST + 2 && is_identifier(name)));
        assert_ne!(names[0], names[1]);
        assert_ne!(names[0], names[2]);
        assert!(!is_harmless(&"x_".repeat(30)));
    }

    /// Every word, alone and with a number, is free to be a variable and a function beside all that a kernel in C may
    /// include, and more.
    #[test]
    fn words_are_free_in_c() {
        let mut names: Vec<String> = HARMLESS.iter().map(ToString::to_string).collect();
        names.extend(('a'..='z').chain('A'..='Z').map(String::from));
        let numbered = |name: &String| [0, 1, 2, 3, 4, 8, 16, 32, 64].map(|n| format!("{name}{n}"));
        names.extend(names.iter().flat_map(numbered).collect::<Vec<_>>());
        names.retain(|name| is_harmless(name));
        names.sort();
        names.dedup();
        assert!(names.len() > 2000, "{}", names.len());
        let headers = ["stdint", "stdbool", "math", "stdlib", "complex", "omp"];
        let mut text: String = headers.map(|h| format!("#include <{h}.h>\n")).concat();
        for name in &names {
            text += &format!("void {name}(float* lift_x, int lift_n) {{ lift_x[lift_n] = 0; }}\n");
        }
        text += "void lift_all(float* lift_x) {\n";
        for name in &names {
            text += &format!("float {name} = lift_x[0]; lift_x[1] = {name} * 2;\n");
        }
        text += "}\n";
        let mut cc = Command::new("cc")
            .args(["-std=gnu11", "-fopenmp", "-fsyntax-only", "-Werror", "-x", "c", "-"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        cc.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = cc.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
