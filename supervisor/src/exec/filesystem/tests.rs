use std::collections::BTreeMap;
use std::os::fd::AsFd;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;
use crate::mutation::spoilt;
use crate::tracee::{Procfs, Tid};

const TABLE: &[u8] = b"21 1 8:1 / / rw - ext4 /dev/vda rw\n\
    121 21 0:22 / /proc rw shared:3 - proc proc rw\n\
    5 21 0:40 / /a\\040-\\040b rw master:1 propagate_from:2 - fuse.sshfs x rw\n";

#[test]
fn a_mount_is_found_by_its_whole_number() {
    assert_eq!(kind_of(21, TABLE), Filesystem::Local);
    assert_eq!(kind_of(121, TABLE), Filesystem::Proc);
    assert_eq!(kind_of(5, TABLE), Filesystem::Unstable);
}

#[test]
fn an_unknown_mount_is_unstable() {
    assert_eq!(kind_of(1, TABLE), Filesystem::Unstable);
    assert_eq!(kind_of(21, b""), Filesystem::Unstable);
}

#[test]
fn proc_and_a_temporary_file_are_told_apart() {
    let proc = Procfs::open().unwrap();
    let task = proc.task(Tid::own()).unwrap();
    let mut seen = Filesystems::default();
    for _again in 0..2 {
        let file = std::fs::File::open("/proc/self/status").unwrap();
        assert_eq!(seen.of(file.as_fd(), &task), Ok(Filesystem::Proc));
        let file = tempfile::tempfile().unwrap();
        assert_eq!(seen.of(file.as_fd(), &task), Ok(Filesystem::Local));
    }
}

/// A mount: root, mount point, optional fields, type, source.
type Mount = (Vec<u8>, Vec<u8>, Vec<&'static str>, String, Vec<u8>);

fn any_mounts() -> impl Strategy<Value = BTreeMap<u64, Mount>> {
    const NAMES: [&[u8]; 5] = [
        b"/",
        b"/a - ext4 b",
        b"/x\n7 1 8:1 / / rw - ext4 /dev/vda rw",
        b"/tab\t\\040",
        b"/\xff - ",
    ];
    let name = || {
        prop_oneof![
            select(&NAMES[..]).prop_map(<[u8]>::to_vec),
            vec(1..=u8::MAX, 1..12)
        ]
    };
    let optional =
        proptest::sample::subsequence(vec!["shared:1", "master:2", "propagate_from:1"], 0..=3);
    let kind = prop_oneof![
        4 => select(LOCAL_TYPES).prop_map(str::to_owned),
        2 => Just("proc".to_owned()),
        // With a subtype that whoever mounts it chooses.
        2 => "fuse\\.[ -~]{0,8}",
        2 => select(vec!["nfs4", "9p", "ext4dev", "tmpfss", "procfs", "overlayfs", "fuse.x - ext4 y"])
            .prop_map(str::to_owned),
    ];
    btree_map(0..200_u64, (name(), name(), optional, kind, name()), 0..6)
}

/// As fs/proc_namespace.c escapes what is not the kernel's own.
fn escaped(text: &[u8]) -> Vec<u8> {
    let escape = |byte: &u8| match byte {
        b' ' | b'\t' | b'\n' | b'\\' => format!("\\{byte:03o}").into_bytes(),
        other => vec![*other],
    };
    text.iter().flat_map(escape).collect()
}

fn table_of(mounts: &BTreeMap<u64, Mount>) -> Vec<u8> {
    let mut table = Vec::new();
    for (id, (root, point, optional, kind, source)) in mounts {
        table.extend(format!("{id} 1 0:{id} ").into_bytes());
        table.extend([escaped(root), escaped(point)].join(&b' '));
        table.extend(b" rw,relatime ");
        table.extend(
            optional
                .iter()
                .flat_map(|field| format!("{field} ").into_bytes()),
        );
        table.extend(
            [
                b"-".to_vec(),
                escaped(kind.as_bytes()),
                escaped(source),
                b"rw\n".to_vec(),
            ]
            .join(&b' '),
        );
    }
    table
}

proptest! {
    #[test]
    fn a_mount_is_what_it_is_or_unstable(
        mounts in any_mounts(),
        wanted in 0..200_u64,
        which in any::<Index>(),
        end in any::<Index>(),
    ) {
        let table = table_of(&mounts);
        let known: Vec<u64> = mounts.keys().copied().collect();
        let wanted = if known.is_empty() { wanted } else { known[which.index(known.len())] };
        let expected = match mounts.get(&wanted).map(|mount| mount.3.as_str()) {
            Some("proc") => Filesystem::Proc,
            Some(kind) if LOCAL_TYPES.contains(&kind) => Filesystem::Local,
            Some(_) | None => Filesystem::Unstable,
        };
        prop_assert_eq!(kind_of(wanted, &table), expected);
        let cut = kind_of(wanted, &table[..end.index(table.len() + 1)]);
        prop_assert!(cut == Filesystem::Unstable || cut == expected, "{cut:?}");
    }

    #[test]
    fn any_table_has_an_answer(
        table in spoilt(any_mounts().prop_map(|mounts| table_of(&mounts)), &[1024]),
        wanted in 0..200_u64,
    ) {
        let types = [&b"proc"[..]].into_iter().chain(LOCAL_TYPES.iter().map(|kind| kind.as_bytes()));
        let has_known = types.into_iter().any(|kind| table.windows(kind.len()).any(|part| part == kind));
        prop_assert!(has_known || kind_of(wanted, &table) == Filesystem::Unstable);
    }
}
