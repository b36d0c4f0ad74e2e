//! What URLs hold of secrets: RFC 3986, 3.2.1 and 3.4.

use std::ops::Range;

/// Longest name of a user that is no secret by itself.
const USER_MAX_BYTES: usize = 16;

/// The secrets before the hosts of the URLs in `text`.
pub(super) fn find(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for at in super::shape::places(text, b"://") {
        let from = at + 3;
        let tail = text.get(from..).unwrap_or_default();
        let len = tail
            .iter()
            .take_while(|byte| !b"/?#\\ \t\n\"'".contains(byte))
            .count();
        let authority = tail.get(..len).unwrap_or_default();
        let Some(end) = authority.iter().rposition(|byte| *byte == b'@') else {
            continue;
        };
        if !is_plain_user(authority.get(..end).unwrap_or_default()) {
            found.push(from..from + end);
        }
    }
    found
}

/// `git@`, `user@`, a name of a host to deceive: with no password, and no token in its place.
fn is_plain_user(user: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_lowercase() || b"-_.".contains(byte);
    user.len() <= USER_MAX_BYTES && user.iter().all(is_plain)
}
