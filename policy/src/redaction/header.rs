//! Headers of HTTP whose values are secrets: RFC 9110, 11.6.2 and 11.7.2, and what services have of their own.

use std::ops::Range;

/// Their names, in small letters.
const HEADERS: [&[u8]; 13] = [
    b"authorization:",
    b"cookie:",
    b"x-api-key:",
    b"api-key:",
    b"apikey:",
    b"x-auth-token:",
    b"x-auth-key:",
    b"x-access-token:",
    b"x-amz-security-token:",
    b"x-vault-token:",
    b"private-token:",
    b"job-token:",
    b"x-goog-api-key:",
];

/// What stands before the secret in an `Authorization`, and tells nothing.
const SCHEMES: [&[u8]; 8] = [
    b"bearer",
    b"basic",
    b"token",
    b"digest",
    b"apikey",
    b"negotiate",
    b"aws4-hmac-sha256",
    b"ntlm",
];

/// The secrets of the headers in `text`: to the end of the line, or the quote that ends it.
pub(super) fn find(text: &[u8]) -> Vec<Range<usize>> {
    if !text.contains(&b':') {
        return Vec::new();
    }
    let small = text.to_ascii_lowercase();
    let mut found = Vec::new();
    for header in HEADERS {
        for at in super::shape::places(&small, header) {
            let from = skip_blanks(&small, at + header.len());
            let from = behind_scheme(&small, from);
            let tail = small.get(from..).unwrap_or_default();
            let len = tail
                .iter()
                .take_while(|byte| !b"\n\r\"'".contains(byte))
                .count();
            found.push(from..from + len);
        }
    }
    found
}

fn skip_blanks(text: &[u8], from: usize) -> usize {
    let tail = text.get(from..).unwrap_or_default();
    from + tail.iter().take_while(|byte| **byte == b' ').count()
}

/// Where the secret begins in what a header holds from there on.
pub(super) fn behind_scheme(text: &[u8], from: usize) -> usize {
    let tail = text.get(from..).unwrap_or_default();
    let len = tail.iter().take_while(|byte| **byte != b' ').count();
    let word = tail.get(..len).unwrap_or_default().to_ascii_lowercase();
    let is_scheme = SCHEMES.contains(&word.as_slice());
    match is_scheme && len < tail.len() {
        true => skip_blanks(text, from + len),
        false => from,
    }
}
