//! Libraries that say what they are: behind the code stands a digest of it and of the name it is kept under.
//!
//! One that was cut, altered, or put in another's place does not match its digest, and is not loaded. A loader does
//! not look behind the end of the code. The digest is no signature: who can write to the cache is
//! [`trust`](super::trust)'s business.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::trust;

/// What a sealed file ends with, after its digest.
const MARK: &[u8; 8] = b"LiftSeal";

const DIGEST: usize = 16;

/// Writes the code of a library with its seal for a name. Only the user may read or write the new file.
pub fn write(code: &Path, sealed: &Path, name: &str) -> io::Result<()> {
    let mut bytes = fs::read(code)?;
    let digest = digest(&[name.as_bytes(), &bytes]);
    bytes.extend_from_slice(&digest.to_le_bytes());
    bytes.extend_from_slice(MARK);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(sealed)?;
    file.write_all(&bytes)
}

/// Whether a file is a library that was sealed for this name and that nobody else can have written.
pub fn is_intact(path: &Path, name: &str) -> bool {
    let read = || {
        let mut bytes = Vec::new();
        trust::open(path)?.read_to_end(&mut bytes)?;
        io::Result::Ok(bytes)
    };
    read().is_ok_and(|bytes| has_seal(&bytes, name))
}

fn has_seal(bytes: &[u8], name: &str) -> bool {
    let sealed = bytes.strip_suffix(MARK).and_then(<[u8]>::split_last_chunk::<DIGEST>);
    sealed.is_some_and(|(code, seal)| digest(&[name.as_bytes(), code]).to_le_bytes() == *seal)
}

/// FNV-1a in 128 bits, of the texts and their lengths. Stable over releases, unlike the standard hash.
pub fn digest(texts: &[&[u8]]) -> u128 {
    const START: u128 = 0x6c62272e07bb014262b821756295c58d;
    const PRIME: u128 = 0x0000000001000000000000000000013b;
    let mix = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul(PRIME);
    let lengths = texts.iter().flat_map(|text| (text.len() as u64).to_le_bytes());
    let start = lengths.fold(START, mix);
    texts.iter().fold(start, |hash, text| text.iter().fold(hash, |hash, byte| mix(hash, *byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_tells_texts_and_their_borders_apart() {
        assert_ne!(digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]));
        assert_ne!(digest(&[b"a"]), digest(&[b"b"]));
        assert_eq!(digest(&[b"a", b"b"]), digest(&[b"a", b"b"]));
    }

    #[test]
    fn every_change_breaks_the_seal() {
        let folder = std::env::temp_dir().join(format!("lift-seal-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let (code, sealed) = (folder.join("code"), folder.join("sealed"));
        fs::write(&code, b"some code").unwrap();
        write(&code, &sealed, "name").unwrap();
        assert!(is_intact(&sealed, "name"));
        assert!(!is_intact(&code, "name"));
        let bytes = fs::read(&sealed).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert!(has_seal(&bytes, "name"));
        assert!(!has_seal(&bytes, "other"));
        for length in 0..bytes.len() {
            assert!(!has_seal(&bytes[..length], "name"), "cut to {length}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(!has_seal(&changed, "name"), "changed at {at}");
        }
    }
}
