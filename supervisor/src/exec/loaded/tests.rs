use std::io::Write;
use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;
use crate::mutation::spoilt;

#[test]
fn tables_are_read_to_the_end_of_the_vector() {
    let words = [2, 100, 104, 0, 108, 0, 9, 0x7000, 31, 120, 0, 0];
    let tables = Tables::parse(words.into_iter()).unwrap();
    assert_eq!((tables.argc, tables.first_argument), (2, 100));
    assert_eq!((tables.execfn, tables.entry), (120, 0x7000));
    for cut in 0..words.len() {
        assert!(
            Tables::parse(words.into_iter().take(cut)).is_none(),
            "cut at {cut}"
        );
    }
}

#[test]
fn a_mapping_names_its_file() {
    let line = b"7f00-7f10 r--p 00000000 fe:00 2752 /lib/ld so";
    let (id, path) = parse_mapping(line).unwrap();
    assert_eq!(
        id,
        FileId {
            device: (0xfe, 0),
            inode: 2752
        }
    );
    assert_eq!(path, b"/lib/ld so");
}

/// A mapping, as fs/proc/task_mmu.c of the kernel shows it.
#[derive(Clone, Debug)]
struct Mapping {
    range: Range<u64>,
    id: FileId,
    /// Empty for one of no file.
    path: Vec<u8>,
}

fn any_mappings() -> impl Strategy<Value = Vec<Mapping>> {
    const NAMES: [&[u8]; 7] = [
        b"",
        b"[stack]",
        b"/lib64/ld-linux-x86-64.so.2",
        b"/a b (deleted)",
        b"/x\n0-ffffffffffffffff r-xp 0 00:01 5 /y",
        b" - ",
        b"/\xff\\012",
    ];
    let path = prop_oneof![
        select(&NAMES[..]).prop_map(<[u8]>::to_vec),
        vec(1..=u8::MAX, 0..20)
    ];
    let page = 1..0x1000_u64;
    let mapping = (page.clone(), page, any::<[u8; 2]>(), any::<u64>(), path);
    vec(mapping, 0..6).prop_map(|mappings| {
        let mut at = 0;
        let mappings = mappings
            .into_iter()
            .map(|(gap, len, [major, minor], inode, path)| {
                let start = at + (gap << 12);
                at = start + (len << 12);
                let device = (u32::from(major), u32::from(minor) << 4);
                Mapping {
                    range: start..at,
                    id: FileId { device, inode },
                    path,
                }
            });
        mappings.collect()
    })
}

/// What the file shows of a path: a newline as an octal escape, and nothing else changed.
fn shown(path: &[u8]) -> Vec<u8> {
    let pieces = path.split(|byte| *byte == b'\n');
    pieces.collect::<Vec<_>>().join(&b"\\012"[..])
}

fn text_of(mappings: &[Mapping]) -> Vec<u8> {
    let mut text = Vec::new();
    for Mapping { range, id, path } in mappings {
        let ((major, minor), inode) = (id.device, id.inode);
        let start = text.len();
        write!(
            text,
            "{:08x}-{:08x} r-xp 00000000 {major:02x}:{minor:02x} {inode} ",
            range.start, range.end
        )
        .unwrap();
        if !path.is_empty() {
            text.resize(text.len().max(start + 73), b' ');
            text.extend(shown(path));
        }
        text.push(b'\n');
    }
    text
}

proptest! {
    #[test]
    fn an_address_is_the_mappings_that_it_is_in_or_nobodys(
        mappings in any_mappings(),
        page in 0..0x8000_u64,
        end in any::<Index>(),
    ) {
        let text = text_of(&mappings);
        let address = page << 12;
        let expected = mappings.iter().find(|mapping| mapping.range.contains(&address));
        let expected = expected.map(|mapping| (mapping.id, shown(&mapping.path).trim_ascii_start().to_vec()));
        let found = mapping_at(&text, address).map(|(id, path)| (id, path.to_vec()));
        prop_assert_eq!(&found, &expected);
        let cut = &text[..end.index(text.len() + 1)];
        if let Some((id, path)) = mapping_at(cut, address) {
            prop_assert_eq!(Some((id, path.to_vec())), expected);
        }
    }

    #[test]
    fn any_maps_have_an_answer(
        text in spoilt(any_mappings().prop_map(|mappings| text_of(&mappings)), &[4096]),
        page in 0..0x8000_u64,
    ) {
        let lines = text.split(|byte| *byte == b'\n').count();
        prop_assert!(mapping_at(&text, page << 12).is_none_or(|(_, path)| lines > 0 && path.len() < text.len()));
    }

    #[test]
    fn the_tables_of_a_stack_are_read_as_they_are_or_not_at_all(
        argv in vec(1..u64::MAX, 0..6),
        envp in vec(1..u64::MAX, 0..6),
        vector in vec((select(vec![3, 6, 15, 25, 33, 51]), any::<u64>()), 0..8),
        [entry, execfn] in any::<[u64; 2]>(),
        end in any::<Index>(),
        put in proptest::option::of((any::<Index>(), any::<u64>())),
    ) {
        let auxiliary = vector.into_iter().chain([(AT_ENTRY, entry), (AT_EXECFN, execfn), (AT_NULL, 0)]);
        let auxiliary = auxiliary.flat_map(|(kind, value)| [kind, value]);
        let pointers = argv.iter().chain([&0]).chain(&envp).chain([&0]).copied();
        let mut words: Vec<u64> = [argv.len() as u64].into_iter().chain(pointers).chain(auxiliary).collect();
        let tables = Tables::parse(words.iter().copied()).unwrap();
        prop_assert_eq!((tables.argc, tables.entry, tables.execfn), (argv.len(), entry, execfn));
        prop_assert_eq!(tables.first_argument, argv.first().copied().unwrap_or(0));
        let cut = end.index(words.len());
        prop_assert!(Tables::parse(words.iter().copied().take(cut)).is_none());
        // Another word somewhere, as a process that shares the memory could put it there.
        if let Some((at, word)) = put {
            let at = at.index(words.len());
            words[at] = word;
            let other = Tables::parse(words.iter().copied());
            prop_assert!(other.is_none_or(|other| other.argc <= words.len()));
        }
    }
}
