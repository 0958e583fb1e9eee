//! Bytes as letters of an alphabet, most significant bits first, without padding. Reading is strict: each text of bytes
//! has one spelling. It deliberately knows two alphabets only; a general library costs the page more than all of a link.

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
