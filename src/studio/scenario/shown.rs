//! An author's text as it may be shown: marks that turn the direction of writing are made visible, because with them a
//! text can look like another. The text itself stays as it was written.

/// Marks that turn the direction of what follows.
pub fn is_bidi(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with such marks, and control characters other than line ends, written as what they are: `[U+202E]`.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_bidi(c) || (c.is_control() && c != '\n') {
            out.push_str(&format!("[U+{:04X}]", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn a_mark_that_turns_the_text_is_seen() {
        assert_eq!(shown("safe \u{202e}tsol"), "safe [U+202E]tsol");
        assert_eq!(shown("\u{2066}a\u{2069}\u{7}"), "[U+2066]a[U+2069][U+0007]");
        assert_eq!(shown("两行\n字 a\u{301}"), "两行\n字 a\u{301}");
    }
}
