//! The text of a kernel in pieces, so that several kernels can share a file.

/// What stands in a file for a kernel, in order. Helpers of the same name have the same text in all kernels of a
/// language, but for OpenCL C and CUDA C, where they may count in 32 or in 64 bits.
pub struct Pieces {
    /// What is included and said to the compiler.
    pub head: String,
    /// Types and functions that the kernel needs.
    pub helpers: Vec<String>,
    pub function: String,
}

impl Pieces {
    pub(super) fn joined(self) -> String {
        let mut parts = vec![self.head];
        parts.extend(self.helpers);
        parts.push(self.function);
        let parts: Vec<&str> =
            parts.iter().map(|p| p.trim_end()).filter(|p| !p.is_empty()).collect();
        let mut out = String::new();
        for (i, part) in parts.iter().enumerate() {
            // One-line declarations stand together.
            let apart = i > 0 && (i == 1 || part.contains('\n') || parts[i - 1].contains('\n'));
            out.push_str(if apart { "\n" } else { "" });
            out.push_str(part);
            out.push('\n');
        }
        out
    }
}
