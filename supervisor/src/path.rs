//! Paths as text.

/// The last component of a path.
pub(crate) fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

/// What stands before the last slash of a path: nothing for what lies in the root.
pub(crate) fn directory(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    path.get(..end).unwrap_or_default()
}

/// The path of `name` in `directory`.
pub(crate) fn join(mut directory: Vec<u8>, name: &[u8]) -> Vec<u8> {
    if !directory.ends_with(b"/") {
        directory.push(b'/');
    }
    directory.extend_from_slice(name);
    directory
}
