//! The files that a patch of Codex names.

/// What stands before a path.
const HEADS: [&str; 4] = [
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

/// The paths of the files that `patch` changes, as it has them.
pub(super) fn paths(patch: &str) -> Vec<Vec<u8>> {
    let path = |line: &str| {
        let line = line.trim_start();
        let mut paths = HEADS.iter().filter_map(|head| line.strip_prefix(head));
        paths.next().map(|path| path.trim().as_bytes().to_vec())
    };
    patch
        .lines()
        .filter_map(path)
        .filter(|path| !path.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_of_a_patch_is_named() {
        let patch = "*** Begin Patch\n*** Add File: a/b.rs\n+x\n*** Update File: c\n*** Move to: ../d\n\
            @@\n-*** Add File: no\n  *** Delete File: e \n*** End Patch";
        let paths = paths(patch)
            .into_iter()
            .map(|path| String::from_utf8(path).unwrap());
        assert_eq!(paths.collect::<Vec<_>>(), ["a/b.rs", "c", "../d", "e"]);
        assert!(super::paths("nothing").is_empty());
    }
}
