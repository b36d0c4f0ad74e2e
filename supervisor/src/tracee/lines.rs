//! The lines of a proc file.

/// Every line of `text` that has its end, without it. The kernel ends each: one that has none was cut,
/// and what is left of it may be another value.
pub(crate) fn whole_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    lines.filter_map(|line| line.strip_suffix(b"\n"))
}
