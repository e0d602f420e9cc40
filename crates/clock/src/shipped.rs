//! Descriptions that come with Lift, by which programs are planned for devices that were not measured.

use lift_runtime::Language;

use crate::description::{Description, LOCAL_BYTES};

const H200_CUDA: &str = include_str!("../machines/h200-cuda.json");
const H200_OPENCL: &str = include_str!("../machines/h200-opencl.json");

/// The description of a GPU like one whose groups have so much local memory, by the language of its kernels. Its times are
/// another's: they are good for comparing forms of a program. Which tiles there are depends on the local memory, so that is the
/// device's own.
pub fn like(language: Language, local_bytes: u64) -> Option<Description> {
    let text = match language {
        Language::Cuda => H200_CUDA,
        Language::OpenCl => H200_OPENCL,
        Language::C => return None,
    };
    let mut like = Description::parse(text).ok()?;
    like.quantities.iter_mut().find(|q| q.name == LOCAL_BYTES)?.value = local_bytes as f64;
    Some(like)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_descriptions_of_gpus() {
        for language in [Language::Cuda, Language::OpenCl] {
            let like = like(language, 1234);
            assert_eq!(like.and_then(|machine| machine.local_bytes()), Some(1234));
        }
        assert!(like(Language::C, 1234).is_none());
    }
}
