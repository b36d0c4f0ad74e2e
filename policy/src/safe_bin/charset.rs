//! Names of character sets, as iconv takes them: one with a slash in it is a file.

/// Whether `name` names a character set and no file.
pub(super) fn is_name(name: &[u8]) -> bool {
    let mut name = name;
    while let Some(rest) = without_suffix(name) {
        name = rest;
    }
    let is_name_byte = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:+()".contains(byte);
    name.iter().all(is_name_byte)
}

/// The name without what it says of characters that the set lacks.
fn without_suffix(name: &[u8]) -> Option<&[u8]> {
    let at = name.windows(2).rposition(|pair| pair == b"//")?;
    let (rest, suffix) = name.split_at_checked(at)?;
    let is_known = |known: &&[u8]| suffix.eq_ignore_ascii_case(known);
    [&b"//TRANSLIT"[..], b"//IGNORE", b"//"]
        .iter()
        .any(is_known)
        .then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_no_character_set() {
        for (name, is_one) in [
            ("UTF-8", true),
            ("ISO_8859-1:1987", true),
            ("ASCII//TRANSLIT", true),
            ("ascii//translit//ignore", true),
            ("", true),
            ("./secret", false),
            ("a/b", false),
            ("/etc/shadow", false),
            ("x//y", false),
            ("a/b//TRANSLIT", false),
        ] {
            assert_eq!(is_name(name.as_bytes()), is_one, "{name}");
        }
    }
}
