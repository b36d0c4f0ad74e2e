//! Paths as text: their components, and what can be told of them without a file system.

use std::borrow::Cow;

/// The components of an absolute path, empty ones and `.` included.
pub(crate) fn steps(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').skip(1)
}

/// The last component of a path.
pub(crate) fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

/// `path` itself if it is absolute, else what it is below `directory`, if there is one.
pub(crate) fn absolute(path: &[u8], directory: Option<&[u8]>) -> Option<Vec<u8>> {
    if path.starts_with(b"/") {
        return Some(path.to_vec());
    }
    directory.map(|directory| [directory, b"/", path].concat())
}

/// Whether an absolute path goes up, so that its text does not say where it leads.
pub(crate) fn has_parent_step(path: &[u8]) -> bool {
    steps(path).any(|step| step == b"..")
}

/// Takes `.` and empty components out, which change nothing; borrows when there are none.
pub(crate) fn without_empty_steps(path: &[u8]) -> Cow<'_, [u8]> {
    let is_empty = |step: &[u8]| step.is_empty() || step == b".";
    if !steps(path).any(is_empty) {
        return Cow::Borrowed(path);
    }
    Cow::Owned(join(steps(path).filter(|step| !is_empty(step))))
}

/// Takes each `..` as if the component before it were a plain directory, and `.` and empty
/// components out.
pub(crate) fn collapse(path: &[u8]) -> Vec<u8> {
    let mut kept = Vec::new();
    for step in steps(path) {
        match step {
            b".." => drop(kept.pop()),
            b"" | b"." => {}
            step => kept.push(step),
        }
    }
    join(kept)
}

fn join<'p>(steps: impl IntoIterator<Item = &'p [u8]>) -> Vec<u8> {
    steps
        .into_iter()
        .flat_map(|step| [b"/", step].concat())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_nothing_is_taken_out_and_what_goes_up_is_text() {
        for (path, straight, collapsed) in [
            ("/a/b", "/a/b", "/a/b"),
            ("//a/./b/", "/a/b", "/a/b"),
            ("/a/../b", "/a/../b", "/b"),
            ("/../a/./..", "/../a/..", ""),
            ("/", "", ""),
        ] {
            let path = path.as_bytes();
            assert_eq!(*without_empty_steps(path), *straight.as_bytes());
            assert_eq!(collapse(path), collapsed.as_bytes());
            assert_eq!(has_parent_step(path), straight.contains(".."));
        }
    }

    #[test]
    fn a_relative_path_needs_a_directory() {
        assert_eq!(absolute(b"a", Some(b"/d")), Some(b"/d/a".to_vec()));
        assert_eq!(absolute(b"/a", None), Some(b"/a".to_vec()));
        assert_eq!(absolute(b"a", None), None);
    }
}
