//! Names whose values are secrets.

/// How a name ends that has one, in small letters and with `-` between its words.
const ENDS: [&str; 16] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "token",
    "secret",
    "apikey",
    "api-key",
    "access-key",
    "secret-key",
    "access-key-id",
    "credentials",
    "auth",
    "bearer",
    "signature",
    "sig",
];

/// Names that have one as a whole.
const WHOLE: [&str; 9] = [
    "authorization",
    "cookie",
    "set-cookie",
    "pass",
    "key",
    "pgpassword",
    "mysql-pwd",
    "auth-string",
    "code",
];

/// Of those in [`WHOLE`] and [`ENDS`], the ones that hold no secret on a command line but in a URL.
const OF_URLS_ALONE: [&str; 5] = ["key", "auth", "code", "sig", "signature"];

/// Where a name stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Of a flag, or before `=`.
    Word,
    /// In the query of a URL.
    Url,
}

/// Whether what is called `name` is a secret.
pub(super) fn is_secret(name: &[u8], place: Place) -> bool {
    let name: String = name
        .iter()
        .skip_while(|byte| **byte == b'-')
        .map(|byte| match byte {
            b'_' | b'.' => '-',
            other => char::from(other.to_ascii_lowercase()),
        })
        .collect();
    let ends = |end: &&&str| match name.strip_suffix(**end) {
        Some("") => true,
        Some(before) => before.ends_with('-') || is_glued(end),
        None => false,
    };
    let known = WHOLE
        .iter()
        .find(|whole| **whole == name)
        .or_else(|| ENDS.iter().find(ends));
    known.is_some_and(|known| place == Place::Url || !OF_URLS_ALONE.contains(known))
}

/// Whether it is the end of a name also without a mark before it: `dbpassword`, `accessToken`.
fn is_glued(end: &str) -> bool {
    ["password", "passwd", "token", "secret", "apikey"].contains(&end)
}
