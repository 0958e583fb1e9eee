//! The codecs of a link: text to characters that survive a chat, and back, with a check. What the text means is no
//! affair of theirs.

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};

use super::error::{LinkError, LinkProblem, Readable};
use super::letters::{BASE64URL, CROCKFORD, crc32};

/// Characters of a fragment that are read.
pub const MAX_FRAGMENT: usize = 64 << 10;
/// Bytes that a payload may unpack to.
pub const MAX_OUTPUT: usize = 1 << 20;
/// Characters of a check: 32 bits in base 32.
const CHECK_LEN: usize = 7;
/// The slowest and best level of the packer.
const BEST: u8 = 10;

/// How the text is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Codec {
    /// base64url of the text, for tools that cannot compress.
    K0,
    /// The same, raw deflate first.
    K1,
}

impl Codec {
    const fn name(self) -> &'static str {
        match self {
            Codec::K0 => "k0",
            Codec::K1 => "k1",
        }
    }
}

/// The check of everything before its dot.
fn check_of(characters: &str) -> String {
    CROCKFORD.encode(&crc32(characters.as_bytes()).to_be_bytes())
}

/// Codec, payload, dot and check.
pub fn encode(codec: Codec, text: &str) -> String {
    let bytes = match codec {
        Codec::K0 => text.as_bytes().to_vec(),
        Codec::K1 => compress_to_vec(text.as_bytes(), BEST),
    };
    let characters = format!("{}{}", codec.name(), BASE64URL.encode(&bytes));
    let check = check_of(&characters);
    format!("{characters}.{check}")
}

/// The text, if nothing happened to it on the way.
pub fn decode(body: &str) -> Result<(Codec, String), LinkError> {
    let mut letters = body.chars();
    let codec = match (letters.next(), letters.next()) {
        (Some('k'), Some('0')) => Codec::K0,
        (Some('k'), Some('1')) => Codec::K1,
        (Some('k'), Some(number @ '2'..='9')) => {
            // A newer link that lost its end is said to be newer: a newer reader will say the rest.
            let mut e = LinkError::new(LinkProblem::NewerVersion, format!("k{number}"), "k0 or k1");
            e.limit = number.to_digit(10).map(u64::from);
            return Err(e);
        }
        (None, _) | (Some('k'), None) => {
            return Err(LinkError::new(LinkProblem::CutShort, body, "k0 or k1, a payload, a dot and a check"));
        }
        (Some(_), _) => {
            return Err(LinkError::new(
                LinkProblem::UnknownCodec,
                body.chars().take(12).collect::<String>(),
                "k0 or k1",
            ));
        }
    };
    let damaged = |problem, found: String, expected: String, payload: &str| LinkError {
        readable: Readable::of(&salvage(codec, payload)),
        ..LinkError::new(problem, found, expected)
    };
    let Some((characters, check)) = body.split_once('.') else {
        return Err(damaged(
            LinkProblem::CutShort,
            "no dot".into(),
            format!("a dot and {CHECK_LEN} characters of check at the end"),
            &body[2..],
        ));
    };
    let payload = &characters[2..];
    if check.len() < CHECK_LEN {
        return Err(damaged(
            LinkProblem::CutShort,
            format!("{} characters of check", check.len()),
            format!("{CHECK_LEN}"),
            payload,
        ));
    }
    if check != check_of(characters) {
        return Err(damaged(LinkProblem::Changed, check.chars().take(20).collect(), check_of(characters), payload));
    }
    let unreadable = |expected: &str| {
        damaged(LinkProblem::Changed, "a payload that its maker did not write well".into(), expected.into(), payload)
    };
    let bytes = BASE64URL.decode(payload.as_bytes()).ok_or_else(|| unreadable("base64url without padding"))?;
    let bytes = match codec {
        Codec::K0 => bytes,
        Codec::K1 => decompress_to_vec_with_limit(&bytes, MAX_OUTPUT).map_err(|e| match e.status {
            TINFLStatus::HasMoreOutput => {
                let mut e = damaged(
                    LinkProblem::TooLarge,
                    "more".into(),
                    format!("at most {MAX_OUTPUT} bytes when unpacked"),
                    "",
                );
                e.limit = Some(MAX_OUTPUT as u64);
                e
            }
            _other => unreadable("raw deflate"),
        })?,
    };
    let text = String::from_utf8(bytes).map_err(|_| unreadable("UTF-8"))?;
    Ok((codec, text))
}

/// Whatever can still be read of a damaged payload.
fn salvage(codec: Codec, payload: &str) -> String {
    let legal = payload.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')).count();
    // Whole groups of four characters are whole bytes.
    let Some(bytes) = BASE64URL.decode(&payload.as_bytes()[..legal / 4 * 4]) else { return String::new() };
    let bytes = match codec {
        Codec::K0 => bytes,
        Codec::K1 => match decompress_to_vec_with_limit(&bytes, MAX_OUTPUT) {
            Ok(bytes) => bytes,
            Err(e) => e.output,
        },
    };
    String::from_utf8_lossy(&bytes).into_owned()
}
