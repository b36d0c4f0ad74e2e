//! Classes of programs: `@shells`. Their members are data, `data/classes.txt`.

use std::sync::LazyLock;

use crate::case::Case;
use crate::image::{Image, Reading};
use crate::name_map::NameMap;
use crate::path::file_name;
use crate::version::{is_version_in, is_version_of, unversioned};

const TABLE: &str = include_str!("../data/classes.txt");

/// Programs that have their use in common.
#[derive(Debug)]
pub(crate) struct Class {
    /// Without its `@`.
    pub(crate) name: &'static str,
    /// File names; none of a class of [`NAMELESS`].
    pub(crate) members: Vec<&'static str>,
    /// Which images are of it, if that is no matter of names.
    has: Option<fn(&Image<'_>) -> bool>,
}

type Nameless = (&'static str, fn(&Image<'_>) -> bool);

/// The classes that are no matter of names: memory files, deleted files and whatever else has no
/// path; files that bring rights.
const NAMELESS: [Nameless; 2] = [
    ("anonymous", |image| image.is_anonymous()),
    (SETUID, |image| image.gains_rights()),
];

/// The class of files that bring rights.
pub(crate) const SETUID: &str = "setuid";

static CLASSES: LazyLock<Vec<Class>> = LazyLock::new(|| {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    let classes = lines.filter_map(|line| {
        let mut words = line.split(' ');
        let name = words.next()?;
        let members = words.collect();
        let has = None;
        Some(Class { name, members, has })
    });
    let nameless = NAMELESS.map(|(name, has)| Class {
        name,
        members: Vec::new(),
        has: Some(has),
    });
    classes.chain(nameless).collect()
});

/// For a file name without its version, the members that have it, each with its class.
static MEMBERS: LazyLock<NameMap<&'static [u8], Vec<Member>>> = LazyLock::new(|| {
    let mut members = NameMap::<_, Vec<_>>::default();
    for class in CLASSES.iter() {
        for member in class.members.iter().map(|member| member.as_bytes()) {
            let entry = members.entry(unversioned(member)).or_default();
            entry.push((class, member));
        }
    }
    members
});

type Member = (&'static Class, &'static [u8]);

/// Every class: its name, without the `@`, and the file names that are of it. Versions of a name
/// are of its class. What has no file of its own is of the class `anonymous`, and what would run with
/// rights that its caller lacks is of the class `setuid`.
pub fn classes() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    CLASSES
        .iter()
        .map(|class| (class.name, class.members.as_slice()))
}

/// The classes that files of this name, a member's or a version of one, are of.
pub(crate) fn of_file_name(name: &[u8]) -> impl Iterator<Item = &'static Class> {
    let members = MEMBERS.get(unversioned(name)).into_iter().flatten();
    let those = members.filter(move |(_, member)| is_version_of(name, member));
    those.map(|(class, _)| *class)
}

/// Whether files of this name are of the class that is called so.
pub(crate) fn is_of(name: &[u8], class: &str) -> bool {
    of_file_name(name).any(|own| own.name == class)
}

/// Classes whose programs are what their arguments make of them: no prefix says what runs.
pub const OPEN_CLASSES: [&str; 6] = [
    "shells",
    "wrappers",
    "interpreters",
    "loaders",
    "multicall",
    "brokers",
];

/// Classes of programs that start others, or run what no file holds.
const RUNNING: [&str; 3] = ["interpreters", "loaders", "multicall"];

/// Whether a file of this name would run others in letters of another case, but is not known to:
/// `PYTHON3`.
pub(crate) fn is_recased(name: &[u8]) -> bool {
    let classes = CLASSES.iter().filter(|class| RUNNING.contains(&class.name));
    let mut members = classes.flat_map(|class| &class.members);
    of_file_name(name).next().is_none()
        && members.any(|member| is_version_in(Case::Folded, name, member.as_bytes()))
}

impl Class {
    /// The class that is called so, without its `@`.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        CLASSES.iter().find(|class| class.name == name)
    }

    /// Whether `image` is of the class.
    ///
    /// Strictly: it is a file in a trusted directory that the session has no hand in. In doubt,
    /// the name alone counts.
    pub(crate) fn covers(&self, image: &Image<'_>, reading: Reading) -> bool {
        if let Some(has) = self.has {
            return reading == Reading::Doubtful && has(image);
        }
        image.names(reading).any(|path| {
            let is_believed = || reading == Reading::Doubtful || image.is_vouched_for(path);
            self.has_name(file_name(path)) && is_believed()
        })
    }

    /// Whether a file of this name is a member, or a version of one.
    pub(crate) fn has_name(&self, name: &[u8]) -> bool {
        of_file_name(name).any(|class| std::ptr::eq(class, self))
    }

    /// The file names of which every image of the class has one, if it comes down to names.
    pub(crate) fn file_names(&self) -> Option<Vec<&[u8]>> {
        let names = self.members.iter().map(|member| member.as_bytes());
        self.has.is_none().then(|| names.collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_classes_are_those_of_the_language_and_name_nothing_twice() {
        let names: Vec<_> = classes().map(|(name, _)| name).collect();
        assert_eq!(
            names,
            [
                "shells",
                "wrappers",
                "interpreters",
                "loaders",
                "multicall",
                "runners",
                "editors",
                "network",
                "brokers",
                "anonymous",
                "setuid"
            ]
        );
        for (name, members) in classes() {
            assert_eq!(members.is_empty(), matches!(name, "anonymous" | "setuid"));
            let distinct: HashSet<_> = members.iter().collect();
            assert_eq!(distinct.len(), members.len(), "{name}");
            assert!(members.iter().all(|member| !member.is_empty()), "{name}");
        }
    }
}
