//! A 64-bit digest that is the same natively and in wasm. It is no protection against malice.

use core::hash::{Hash, Hasher};

/// FNV-1a over a canonical byte stream: lengths and discriminants are written as 64 bits whatever the target.
#[derive(Clone, Debug)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Digest(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    // Each field of a world is hashed by code of its own: a call in each is shorter than these steps in each.
    #[inline(never)]
    fn word(&mut self, value: u64) {
        // One multiplication a word keeps the digest of a whole world well below a frame.
        self.0 = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}

impl Hasher for Digest {
    fn finish(&self) -> u64 {
        let mut h = self.0;
        h ^= h >> 32;
        h = h.wrapping_mul(0xd6e8_feb8_6659_fd93);
        h ^ (h >> 32)
    }
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0u8; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
        self.word(bytes.len() as u64);
    }
    fn write_u8(&mut self, i: u8) {
        self.word(u64::from(i));
    }
    fn write_u16(&mut self, i: u16) {
        self.word(u64::from(i));
    }
    fn write_u32(&mut self, i: u32) {
        self.word(u64::from(i));
    }
    fn write_u64(&mut self, i: u64) {
        self.word(i);
    }
    fn write_usize(&mut self, i: usize) {
        self.word(i as u64);
    }
    fn write_i8(&mut self, i: i8) {
        self.word(i64::from(i) as u64);
    }
    fn write_i16(&mut self, i: i16) {
        self.word(i64::from(i) as u64);
    }
    fn write_i32(&mut self, i: i32) {
        self.word(i64::from(i) as u64);
    }
    fn write_i64(&mut self, i: i64) {
        self.word(i as u64);
    }
    fn write_isize(&mut self, i: isize) {
        self.word(i as i64 as u64);
    }
}

/// The digest of anything that can be hashed.
pub fn digest_of<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut digest = Digest::default();
    value.hash(&mut digest);
    digest.finish()
}
