//! Versions of one program by their names: `python3.12` is a `python3`.

use crate::case::Case;

/// Whether `called` is `name`, or one of the two is a version of the other: `python3.12` of
/// `python3`, `pip` of `pip3`.
pub(crate) fn is_version_of(called: &[u8], name: &[u8]) -> bool {
    is_version_in(Case::Exact, called, name)
}

/// The same, with letters compared by `case`.
pub(crate) fn is_version_in(case: Case, called: &[u8], name: &[u8]) -> bool {
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
    case.is_same(called, name)
        || case.strip_prefix(called, name).is_some_and(is_version)
        || case.strip_prefix(name, called).is_some_and(is_version)
}

/// What versions of one name have in common: the name without all that a version may end in.
/// Nothing is left of a name that is nothing else.
pub(crate) fn unversioned(name: &[u8]) -> &[u8] {
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-');
    let end = name.iter().rposition(|byte| !is_part(byte));
    name.get(..end.map_or(0, |at| at + 1)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
    fn versions_are_told_in_letters_of_either_case() {
        assert!(is_version_in(Case::Folded, b"PYTHON3.12", b"python3"));
        assert!(is_version_in(Case::Folded, b"Pip", b"pip3"));
        assert!(!is_version_in(Case::Folded, b"PYTHON2", b"python3"));
        assert!(!is_version_in(Case::Exact, b"PYTHON3.12", b"python3"));
    }

    #[test]
    fn a_name_of_nothing_but_a_version_has_a_stem_too() {
        for (called, name) in [("7.1", "7"), ("a-1", "a-"), ("a.-1", "a.")] {
            let [called, name] = [called, name].map(str::as_bytes);
            assert!(is_version_of(called, name));
            assert_eq!(unversioned(called), unversioned(name));
        }
    }

    proptest! {
        #[test]
        fn versions_have_their_stem_in_common(name in "[a1.-]{1,4}", rest in "[a1.-]{0,3}") {
            let called = format!("{name}{rest}");
            let [called, name] = [&called, &name].map(String::as_bytes);
            prop_assert!(!is_version_of(called, name) || unversioned(called) == unversioned(name));
        }
    }
}
