//! Programs with flags of their own whose value is a secret.

/// One of them, with one of its flags.
struct SecretFlag {
    program: &'static [u8],
    flag: &'static [u8],
    value: Value,
    /// The word behind which alone the flag means that.
    behind: Option<&'static [u8]>,
}

/// How the secret is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// As a word of its own, or right behind the flag.
    Word,
    /// Right behind the flag, and in no other way.
    Attached,
    /// As `USER:SECRET`, a word of its own or right behind the flag.
    Pair,
}

/// The value that a flag has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) value: Value,
    /// Where it begins in the flag's token; `None` where the next word is it.
    pub(super) from: Option<usize>,
}

#[rustfmt::skip]
const FLAGS: [SecretFlag; 26] = [
    flag(b"mysql", b"-p", Value::Attached),
    flag(b"mysqldump", b"-p", Value::Attached),
    flag(b"mysqladmin", b"-p", Value::Attached),
    flag(b"mariadb", b"-p", Value::Attached),
    flag(b"mariadb-dump", b"-p", Value::Attached),
    flag(b"7z", b"-p", Value::Attached),
    flag(b"7za", b"-p", Value::Attached),
    flag(b"sshpass", b"-p", Value::Word),
    flag(b"redis-cli", b"-a", Value::Word),
    flag(b"ldapsearch", b"-w", Value::Word),
    flag(b"ldapmodify", b"-w", Value::Word),
    flag(b"zip", b"-P", Value::Word),
    flag(b"unzip", b"-P", Value::Word),
    flag(b"ssh-keygen", b"-N", Value::Word),
    flag(b"docker", b"-p", Value::Word).behind(b"login"),
    flag(b"podman", b"-p", Value::Word).behind(b"login"),
    flag(b"az", b"-p", Value::Word).behind(b"login"),
    flag(b"oc", b"-p", Value::Word).behind(b"login"),
    flag(b"curl", b"-b", Value::Word),
    flag(b"curl", b"--cookie", Value::Word),
    flag(b"curl", b"-u", Value::Pair),
    flag(b"curl", b"--user", Value::Pair),
    flag(b"curl", b"-U", Value::Pair),
    flag(b"curl", b"--proxy-user", Value::Pair),
    flag(b"smbclient", b"-U", Value::Pair),
    flag(b"smbclient", b"--user", Value::Pair),
];

const fn flag(program: &'static [u8], flag: &'static [u8], value: Value) -> SecretFlag {
    SecretFlag {
        program,
        flag,
        value,
        behind: None,
    }
}

impl SecretFlag {
    const fn behind(mut self, word: &'static [u8]) -> Self {
        self.behind = Some(word);
        self
    }

    /// Where the value begins in a token that is this flag, if it is; a short one may have others, without values,
    /// before it: `-sSume`.
    fn value_in(&self, token: &[u8]) -> Option<usize> {
        const VALUELESS: &[u8] = b"sSfLkvigGjlnqR#46aJBNtHCEW";
        if token == self.flag {
            return Some(token.len());
        }
        let [b'-', short] = self.flag else {
            return None;
        };
        let letters = token.strip_prefix(b"-")?;
        let at = letters.iter().position(|it| !VALUELESS.contains(it))?;
        (letters.get(at) == Some(short)).then_some(at + 2)
    }
}

/// Whether `program` has such flags.
pub(super) fn has_any(program: &[u8]) -> bool {
    FLAGS.iter().any(|known| known.program == program)
}

/// Whether some flag of `program` is one behind `word` alone.
pub(super) fn is_begun_by(program: &[u8], word: &[u8]) -> bool {
    let mut known = FLAGS.iter();
    known.any(|known| known.program == program && known.behind == Some(word))
}

/// The value of a flag of `program`, if `token` is such a flag. `is_behind`: the word was there behind which some
/// are.
pub(super) fn value_of(program: &[u8], token: &[u8], is_behind: bool) -> Option<Given> {
    let mut known = FLAGS.iter().filter(|known| known.program == program);
    let (known, from) = known.find_map(|known| Some((known, known.value_in(token)?)))?;
    let is_meant = known.behind.is_none() || is_behind;
    is_meant.then_some(Given {
        value: known.value,
        from: (from < token.len()).then_some(from),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_found_alone_and_in_a_bundle() {
        let given = |program: &str, token: &str, is_behind| {
            value_of(program.as_bytes(), token.as_bytes(), is_behind)
        };
        let of = |value, from| Some(Given { value, from });
        assert_eq!(given("curl", "-u", false), of(Value::Pair, None));
        assert_eq!(given("curl", "-sSume:x", false), of(Value::Pair, Some(4)));
        assert_eq!(given("curl", "--proxy-user", false), of(Value::Pair, None));
        assert_eq!(given("mysql", "-px", false), of(Value::Attached, Some(2)));
        assert_eq!(given("mysql", "-p", false), of(Value::Attached, None));
        assert_eq!(given("docker", "-p", true), of(Value::Word, None));
        assert_eq!(given("docker", "-p", false), None);
        assert_eq!(given("curl", "-o", false), None);
        assert_eq!(given("curl", "--userx", false), None);
        assert_eq!(given("cat", "-p", false), None);
        assert!(is_begun_by(b"podman", b"login") && !is_begun_by(b"podman", b"run"));
    }
}
