//! Bytes as letters of an alphabet, most significant bits first, without padding, and the check of what was spelled.
//! Reading is strict: each text of bytes has one spelling. It deliberately knows two alphabets only, and no table:
//! those of the general libraries cost the page some 18 kB, for links of a few hundred characters.

/// An alphabet whose letters stand for so many bits each.
pub struct Alphabet {
    bits: u32,
    letters: &'static [u8],
}

pub const BASE64URL: Alphabet =
    Alphabet { bits: 6, letters: b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" };
/// Crockford's base 32, without lower case and look-alikes.
pub const CROCKFORD: Alphabet = Alphabet { bits: 5, letters: b"0123456789ABCDEFGHJKMNPQRSTVWXYZ" };

impl Alphabet {
    pub fn encode(&self, bytes: &[u8]) -> String {
        let mut text = String::new();
        let (mut held, mut count) = (0_u32, 0);
        let mut put = |value: u32| text.push(char::from(self.letters[value as usize % self.letters.len()]));
        for byte in bytes {
            (held, count) = (held << 8 | u32::from(*byte), count + 8);
            while count >= self.bits {
                count -= self.bits;
                put(held >> count);
            }
        }
        if count > 0 {
            put(held << (self.bits - count));
        }
        text
    }

    /// `None`: a letter of another alphabet, a letter too many, or bits at the end that no byte has.
    pub fn decode(&self, letters: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let (mut held, mut count) = (0_u32, 0);
        for letter in letters {
            let value = self.letters.iter().position(|known| known == letter)?;
            (held, count) = (held << self.bits | value as u32, count + self.bits);
            if count >= 8 {
                count -= 8;
                bytes.push((held >> count) as u8);
            }
        }
        let rest = held & ((1 << count) - 1);
        (count < self.bits && rest == 0).then_some(bytes)
    }
}

/// CRC-32 as gzip and zip have it, bit by bit.
pub fn crc32(bytes: &[u8]) -> u32 {
    let divided = |rest: u32| (rest >> 1) ^ if rest & 1 == 1 { 0xEDB8_8320 } else { 0 };
    !bytes.iter().fold(u32::MAX, |rest, byte| (0..8).fold(rest ^ u32::from(*byte), |rest, _| divided(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::{BASE64URL_NOPAD, Encoding, Specification};

    fn crockford() -> Encoding {
        let mut specification = Specification::new();
        specification.symbols.push_str("0123456789ABCDEFGHJKMNPQRSTVWXYZ");
        specification.encoding().expect("an alphabet")
    }

    /// Bytes of every kind, of each length up to a few letters.
    fn samples() -> impl Iterator<Item = Vec<u8>> {
        (0..40_usize).flat_map(|length| {
            (0..7_u32).map(move |seed| (0..length as u32).map(|i| (i * 97 + seed * 61 + i * i * seed) as u8).collect())
        })
    }

    #[test]
    fn bytes_are_spelled_as_a_general_library_spells_them() {
        for bytes in samples() {
            assert_eq!(BASE64URL.encode(&bytes), BASE64URL_NOPAD.encode(&bytes));
            assert_eq!(CROCKFORD.encode(&bytes), crockford().encode(&bytes));
            assert_eq!(BASE64URL.decode(BASE64URL.encode(&bytes).as_bytes()).as_ref(), Some(&bytes));
            assert_eq!(CROCKFORD.decode(CROCKFORD.encode(&bytes).as_bytes()).as_ref(), Some(&bytes));
        }
    }

    #[test]
    fn the_check_is_that_of_a_general_library() {
        for bytes in samples() {
            assert_eq!(crc32(&bytes), crc32fast::hash(&bytes));
        }
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn what_a_strict_library_refuses_is_refused() {
        for bytes in samples() {
            let good = BASE64URL.encode(&bytes);
            let mut hurt: Vec<String> = ["=", "A", "AA", "AAA", "+", "/", " ", "é", "\0"]
                .iter()
                .flat_map(|end| [format!("{good}{end}"), format!("{end}{good}")])
                .collect();
            hurt.extend((0..64).filter_map(|i| {
                let short = good.get(..good.len().checked_sub(1)?)?;
                Some(format!("{short}{}", char::from(BASE64URL.letters[i])))
            }));
            for text in hurt {
                let expected = BASE64URL_NOPAD.decode(text.as_bytes()).ok();
                assert_eq!(BASE64URL.decode(text.as_bytes()), expected, "{text}");
            }
        }
    }
}
