//! What is checked before a driver sees it, the same on every device.

use crate::{Arg, ArgType, DeviceInfo, Language, Launch, RuntimeError};

/// What the compiler found out about one kernel.
#[derive(Clone, Default)]
pub struct KernelLimits {
    /// Work-items a group that its registers allow.
    pub max_group_size: Option<u64>,
    pub local_memory_bytes: u64,
    /// The local size that the text demands.
    pub required_local: Option<[u64; 3]>,
}

/// Requires: text for a C-like compiler, and the name of a kernel in it.
pub fn text(info: &DeviceInfo, source: &str, name: &str) -> Result<(), RuntimeError> {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !starts || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(RuntimeError::invalid(&info.id, format!("`{name}` is no name for a kernel")));
    }
    if source.contains('\0') {
        return Err(RuntimeError::invalid(
            &info.id,
            format!("the text of the kernel `{name}` contains a zero byte"),
        ));
    }
    Ok(())
}

const LESS_MEMORY: &str = "use smaller sizes or a device with more memory";

/// The buffers of a program, by name and size in bytes, fit the device: each of them and all together.
///
/// Asked before anything is allocated, so that sizes that are far too large cost nothing.
pub fn buffers(info: &DeviceInfo, buffers: &[(String, u64)]) -> Result<(), RuntimeError> {
    for (name, bytes) in buffers {
        let what = format!("the size of the buffer `{name}` in bytes");
        at_most(info, &what, *bytes, info.max_buffer_bytes, LESS_MEMORY)?;
    }
    let all = buffers.iter().map(|(_, bytes)| *bytes).fold(0, u64::saturating_add);
    at_most(info, "the size of all buffers in bytes", all, info.memory_bytes, LESS_MEMORY)
}

/// A group of the kernel finds the local memory that it needs.
pub fn local_memory(info: &DeviceInfo, kernel: &str, bytes: u64) -> Result<(), RuntimeError> {
    let what = format!("the local memory of the kernel `{kernel}` in bytes");
    at_most(info, &what, bytes, info.local_memory_bytes, SMALLER_TILES)
}

const SMALLER_TILES: &str = "choose smaller tiles";

pub fn buffer_size(info: &DeviceInfo, bytes: u64) -> Result<(), RuntimeError> {
    if bytes == 0 {
        return Err(RuntimeError::invalid(&info.id, "a buffer has at least one byte"));
    }
    at_most(info, "the buffer's size in bytes", bytes, info.max_buffer_bytes, LESS_MEMORY)
}

/// A transfer touches the start of a buffer and ends within it.
pub fn transfer(info: &DeviceInfo, buffer: u64, bytes: usize) -> Result<(), RuntimeError> {
    if bytes as u64 > buffer {
        let message = format!("{bytes} bytes do not fit a buffer of {buffer} bytes");
        return Err(RuntimeError::invalid(&info.id, message));
    }
    Ok(())
}

/// The arguments are those the kernel takes, in number, kind and size.
pub fn args(info: &DeviceInfo, params: &[ArgType], args: &[Arg]) -> Result<(), RuntimeError> {
    let wrong = |message: String| Err(RuntimeError::invalid(&info.id, message));
    if params.len() != args.len() {
        let (takes, given) = (params.len(), args.len());
        return wrong(format!("the kernel takes {takes} arguments, the launch gives {given}"));
    }
    for (at, (param, arg)) in params.iter().zip(args).enumerate() {
        match (param.scalar_bytes(), arg) {
            (None, Arg::Buffer(_)) => {}
            (Some(size), Arg::Bytes(bytes)) if size == bytes.len() => {}
            (_, Arg::Buffer(_)) => {
                return wrong(format!("argument {at} of the kernel is {param:?}, not a buffer"));
            }
            (_, Arg::Bytes(bytes)) => {
                let given = bytes.len();
                return wrong(format!(
                    "argument {at} of the kernel is {param:?}, not {given} bytes"
                ));
            }
        }
    }
    Ok(())
}

/// The sizes are positive, divide, and stay within the device's and the kernel's limits.
pub fn launch(
    info: &DeviceInfo,
    kernel: &KernelLimits,
    launch: &Launch,
) -> Result<(), RuntimeError> {
    let Launch { global, local, dynamic_local_bytes } = *launch;
    const SMALLER: &str = "choose a smaller local size";
    if global.contains(&0) || local.contains(&0) {
        let message = format!(
            "a launch has at least one work-item in every dimension, not global {global:?} \
             with local {local:?}"
        );
        return Err(RuntimeError::invalid(&info.id, message));
    }
    for (d, (size, allowed)) in local.into_iter().zip(info.max_group_sizes).enumerate() {
        let what = format!("the work-group size in dimension {d}");
        at_most(info, &what, size, allowed, SMALLER)?;
    }
    let group = local.iter().copied().fold(1, u64::saturating_mul);
    at_most(info, "the work-group size", group, info.max_group_size, SMALLER)?;
    if let Some(allowed) = kernel.max_group_size {
        let what = "the work-group size of this kernel, by the registers it uses,";
        at_most(info, what, group, allowed, SMALLER)?;
    }
    if let Some(required) = kernel.required_local.filter(|required| *required != local) {
        let message = format!("the kernel demands the local size {required:?}, not {local:?}");
        return Err(RuntimeError::invalid(&info.id, message));
    }
    for d in 0..3 {
        let (global, local) = (global[d], local[d]);
        if global % local != 0 {
            let message = format!(
                "the local size {local} does not divide the global size {global} in dimension {d}; \
                 choose a local size that does"
            );
            return Err(RuntimeError::invalid(&info.id, message));
        }
        let what = format!("the number of work-groups in dimension {d}");
        at_most(info, &what, global / local, info.max_groups[d], "choose a smaller global size")?;
    }
    if dynamic_local_bytes > 0 && info.language != Language::Cuda {
        let message = "a kernel of this device declares all of its local memory";
        return Err(RuntimeError::invalid(&info.id, message));
    }
    let what = "the kernel's local memory in bytes";
    let bytes = kernel.local_memory_bytes.saturating_add(dynamic_local_bytes);
    at_most(info, what, bytes, info.local_memory_bytes, SMALLER_TILES)
}

fn at_most(
    info: &DeviceInfo,
    limit: &str,
    value: u64,
    allowed: u64,
    advice: &'static str,
) -> Result<(), RuntimeError> {
    if value <= allowed {
        return Ok(());
    }
    let (device, limit) = (info.id.clone(), limit.to_string());
    Err(RuntimeError::Limit { device, limit, value, allowed, advice })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BufferHandle;

    fn info() -> DeviceInfo {
        DeviceInfo {
            id: "test:0".into(),
            name: "test".into(),
            kind: "gpu",
            language: Language::OpenCl,
            compute_units: 1,
            memory_bytes: 1000,
            max_buffer_bytes: 100,
            max_group_size: 256,
            max_group_sizes: [256, 128, 64],
            max_groups: [1 << 31, 65535, 65535],
            local_memory_bytes: 1024,
            driver: String::new(),
            fp16: false,
            fp64: false,
            warp: 32,
        }
    }

    fn message(result: Result<(), RuntimeError>) -> String {
        result.expect_err("beyond a limit").to_string()
    }

    fn refused(kernel: KernelLimits, global: [u64; 3], local: [u64; 3]) -> String {
        message(launch(&info(), &kernel, &Launch::new(global, local)))
    }

    #[test]
    fn a_launch_at_every_limit_is_fine() {
        let kernel = KernelLimits {
            max_group_size: Some(256),
            local_memory_bytes: 1024,
            required_local: Some([4, 1, 64]),
        };
        assert_eq!(launch(&info(), &kernel, &Launch::new([8, 65535, 64], [4, 1, 64])), Ok(()));
    }

    #[test]
    fn the_error_names_the_limit_the_value_and_what_is_allowed() {
        assert_eq!(
            refused(KernelLimits::default(), [512, 1, 1], [512, 1, 1]),
            "test:0: the work-group size in dimension 0 is 512, allowed is 256; \
             choose a smaller local size"
        );
        let text = refused(KernelLimits::default(), [32, 16, 1], [32, 16, 1]);
        assert!(text.contains("the work-group size is 512, allowed is 256"), "{text}");
        let text = refused(KernelLimits::default(), [1, 65536, 1], [1, 1, 1]);
        assert!(text.contains("work-groups in dimension 1 is 65536, allowed is 65535"), "{text}");
    }

    #[test]
    fn sizes_beyond_64_bits_do_not_wrap() {
        let mut wide = info();
        wide.max_group_sizes = [u64::MAX; 3];
        let huge = [1 << 40, 1 << 40, 1];
        let text = message(launch(&wide, &KernelLimits::default(), &Launch::new(huge, huge)));
        assert!(text.contains("the work-group size is"), "{text}");
    }

    #[test]
    fn a_kernels_own_limits_hold_too() {
        let registers = KernelLimits { max_group_size: Some(64), ..Default::default() };
        let text = refused(registers, [128, 1, 1], [128, 1, 1]);
        assert!(text.contains("registers it uses, is 128, allowed is 64"), "{text}");
        let local = KernelLimits { local_memory_bytes: 2048, ..Default::default() };
        let text = refused(local, [1, 1, 1], [1, 1, 1]);
        assert!(text.contains("local memory in bytes is 2048, allowed is 1024"), "{text}");
        let fixed = KernelLimits { required_local: Some([8, 8, 1]), ..Default::default() };
        let text = refused(fixed, [8, 1, 1], [8, 1, 1]);
        assert!(text.contains("demands the local size [8, 8, 1], not [8, 1, 1]"), "{text}");
    }

    #[test]
    fn local_memory_of_the_text_and_of_the_launch_add_up() {
        let kernel = KernelLimits { local_memory_bytes: 1000, ..Default::default() };
        let more = |bytes| Launch { dynamic_local_bytes: bytes, ..Launch::SINGLE };
        let cuda = DeviceInfo { language: Language::Cuda, ..info() };
        assert_eq!(launch(&cuda, &kernel, &more(24)), Ok(()));
        assert_eq!(
            message(launch(&cuda, &kernel, &more(25))),
            "test:0: the kernel's local memory in bytes is 1025, allowed is 1024; \
             choose smaller tiles"
        );
        assert!(message(launch(&cuda, &kernel, &more(u64::MAX))).contains("allowed is 1024"));
        assert_eq!(
            message(launch(&info(), &kernel, &more(24))),
            "test:0: a kernel of this device declares all of its local memory"
        );
    }

    #[test]
    fn what_a_program_needs_is_known_before_it_is_loaded() {
        let named = |all: &[u64]| -> Vec<(String, u64)> {
            all.iter().enumerate().map(|(i, bytes)| (format!("b{i}"), *bytes)).collect()
        };
        assert_eq!(buffers(&info(), &named(&[100; 10])), Ok(()));
        assert_eq!(
            message(buffers(&info(), &named(&[100, 101]))),
            "test:0: the size of the buffer `b1` in bytes is 101, allowed is 100; \
             use smaller sizes or a device with more memory"
        );
        assert_eq!(
            message(buffers(&info(), &named(&[100; 11]))),
            "test:0: the size of all buffers in bytes is 1100, allowed is 1000; \
             use smaller sizes or a device with more memory"
        );
        assert_eq!(local_memory(&info(), "k", 1024), Ok(()));
        assert_eq!(
            message(local_memory(&info(), "k", 1025)),
            "test:0: the local memory of the kernel `k` in bytes is 1025, allowed is 1024; \
             choose smaller tiles"
        );
    }

    #[test]
    fn sizes_are_positive_and_divide() {
        let text = refused(KernelLimits::default(), [0, 1, 1], [1, 1, 1]);
        assert!(text.contains("at least one work-item"), "{text}");
        let text = refused(KernelLimits::default(), [1, 1, 1], [1, 0, 1]);
        assert!(text.contains("at least one work-item"), "{text}");
        let text = refused(KernelLimits::default(), [100, 1, 1], [64, 1, 1]);
        assert!(text.contains("64 does not divide the global size 100 in dimension 0"), "{text}");
    }

    #[test]
    fn buffers_are_not_empty_and_not_too_large() {
        assert_eq!(buffer_size(&info(), 100), Ok(()));
        let text = message(buffer_size(&info(), 101));
        assert!(text.contains("size in bytes is 101, allowed is 100"), "{text}");
        assert!(message(buffer_size(&info(), 0)).contains("at least one byte"));
        assert!(message(transfer(&info(), 4, 5)).contains("5 bytes do not fit"));
    }

    #[test]
    fn arguments_match_the_parameters() {
        let params = [ArgType::Pointer, ArgType::F64];
        let buffer = Arg::Buffer(BufferHandle(0));
        assert_eq!(args(&info(), &params, &[buffer.clone(), Arg::from(1.0f64)]), Ok(()));
        let text = message(args(&info(), &params, std::slice::from_ref(&buffer)));
        assert!(text.contains("takes 2 arguments, the launch gives 1"), "{text}");
        let text = message(args(&info(), &params, &[buffer.clone(), Arg::from(1.0f32)]));
        assert!(text.contains("argument 1 of the kernel is F64, not 4 bytes"), "{text}");
        let text = message(args(&info(), &params, &[buffer.clone(), buffer]));
        assert!(text.contains("argument 1 of the kernel is F64, not a buffer"), "{text}");
    }

    #[test]
    fn a_kernels_name_is_an_identifier() {
        assert_eq!(text(&info(), "", "k_1"), Ok(()));
        assert!(text(&info(), "", "1k").is_err());
        assert!(text(&info(), "", "").is_err());
        assert!(text(&info(), "", "k; evil").is_err());
        assert!(text(&info(), "a\0b", "k").is_err());
    }
}
