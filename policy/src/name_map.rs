//! Maps by name, which every exec is looked up in.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are those of a policy or of a table. Whoever makes a call cannot add to them, so
/// that the hash need not be one that nobody can foresee.
pub(crate) type NameMap<K, V> = HashMap<K, V, BuildHasherDefault<Fnv>>;

/// FNV-1a of 64 bits (RFC 9923): one multiplication a byte, which suits names.
#[derive(Debug, Clone)]
pub(crate) struct Fnv(u64);

const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

impl Default for Fnv {
    fn default() -> Self {
        Self(OFFSET_BASIS)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(PRIME);
        }
    }

    /// The length of a name, which its hash takes in: it need not be spread over eight bytes.
    fn write_usize(&mut self, length: usize) {
        self.0 = (self.0 ^ length as u64).wrapping_mul(PRIME);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_standard() {
        for (bytes, hash) in [
            (&b""[..], 0xcbf2_9ce4_8422_2325),
            (b"a", 0xaf63_dc4c_8601_ec8c),
            (b"foobar", 0x8594_4171_f739_67e8),
        ] {
            let mut fnv = Fnv::default();
            fnv.write(bytes);
            assert_eq!(fnv.finish(), hash);
        }
    }
}
