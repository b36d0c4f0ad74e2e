//! Versions of one program by their names: `python3.12` is a `python3`.

/// Whether `called` is `name`, or one of the two is a version of the other: `python3.12` of
/// `python3`, `pip` of `pip3`.
pub(crate) fn is_version_of(called: &[u8], name: &[u8]) -> bool {
    let is_version = |rest: &[u8]| {
        let rest = rest
            .strip_prefix(b"-")
            .or(rest.strip_prefix(b"."))
            .unwrap_or(rest);
        rest.first().is_some_and(u8::is_ascii_digit)
            && rest
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b'.')
    };
    called == name
        || called.strip_prefix(name).is_some_and(is_version)
        || name.strip_prefix(called).is_some_and(is_version)
}

/// What versions of one name have in common.
pub(crate) fn unversioned(name: &[u8]) -> &[u8] {
    let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let end = name
        .iter()
        .rposition(|byte| !is_part(byte))
        .map_or(0, |at| at + 1);
    let stem = name.get(..end).unwrap_or_default();
    let stem = if end < name.len() {
        stem.strip_suffix(b"-").unwrap_or(stem)
    } else {
        stem
    };
    if stem.is_empty() { name } else { stem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_a_name_are_that_name() {
        for (called, name) in [
            ("python3.12", "python3"),
            ("python3.12", "python"),
            ("python", "python3"),
            ("pip3", "pip"),
            ("gcc-12", "gcc"),
            ("git", "git"),
        ] {
            assert!(
                is_version_of(called.as_bytes(), name.as_bytes()),
                "{called} {name}"
            );
            let stems = [called, name].map(|name| unversioned(name.as_bytes()).to_vec());
            assert_eq!(stems[0], stems[1], "{called} {name}");
        }
        for (called, name) in [
            ("python2", "python3"),
            ("pythonx", "python"),
            ("git-lfs", "git"),
            ("gitk", "git"),
            ("7z", "z"),
        ] {
            assert!(
                !is_version_of(called.as_bytes(), name.as_bytes()),
                "{called} {name}"
            );
        }
    }

    #[test]
    fn a_name_of_digits_is_its_own_stem() {
        for name in ["7", "2048", "-1", "."] {
            assert_eq!(unversioned(name.as_bytes()), name.as_bytes());
        }
    }
}
