//! A process may read its own memory: the strings below are this test's.

use super::*;

const PATH_MAX_BYTES: usize = 4096;
const STRINGS_MAX_BYTES: usize = 6 << 20;

fn own() -> Memory {
    Memory::new(Tid::own(), 8)
}

fn address<T>(of: &[T]) -> u64 {
    of.as_ptr().addr() as u64
}

fn array(strings: &[&[u8]]) -> (Vec<Vec<u8>>, Vec<u64>) {
    let owned: Vec<Vec<u8>> = strings.iter().map(|text| [*text, b"\0"].concat()).collect();
    let pointers = owned.iter().map(|text| address(text)).chain([0]).collect();
    (owned, pointers)
}

#[test]
fn strings_of_every_length_come_back_whole() {
    for len in [0, 1, 127, 128, 129, 4095, 4096, 5000, STRING_MAX_BYTES - 1] {
        let text = vec![b'x'; len];
        let (_keep, pointers) = array(&[&text, b"", b"tail", b""]);
        let mut budget = STRINGS_MAX_BYTES;
        let read = own().strings(address(&pointers), &mut budget).unwrap();
        assert_eq!(read, [&text[..], b"", b"tail", b""]);
        assert_eq!(STRINGS_MAX_BYTES - budget, len + 4 + 4 + 4 * 8);
    }
}

#[test]
fn thousands_of_strings_cross_batches_and_pages() {
    let words: Vec<String> = (0..5000).map(|n| n.to_string()).collect();
    let texts: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
    let (_keep, pointers) = array(&texts);
    let read = own()
        .strings(address(&pointers), &mut { STRINGS_MAX_BYTES })
        .unwrap();
    assert_eq!(read, texts);
}

/// As in an environment that exec has laid out; and as nobody does, but a hostile caller may.
#[test]
fn strings_that_lie_behind_each_other_come_back_whole_in_any_order() {
    let block: Vec<u8> = (0..600u32)
        .flat_map(|n| format!("N{n}=\0").into_bytes())
        .collect();
    let starts = (0..block.len()).filter(|at| *at == 0 || block[*at - 1] == 0);
    let orders: [fn(&mut Vec<usize>); 4] = [
        |_| {},
        |starts| starts.reverse(),
        |starts| *starts = starts.iter().flat_map(|at| [*at, *at, at + 1]).collect(),
        |starts| starts.rotate_left(7),
    ];
    for order in orders {
        let mut starts: Vec<usize> = starts.clone().collect();
        order(&mut starts);
        let expected: Vec<&[u8]> = starts
            .iter()
            .map(|at| block[*at..].split(|byte| *byte == 0).next().unwrap())
            .collect();
        let pointers = starts.iter().map(|at| address(&block) + *at as u64);
        let pointers: Vec<u64> = pointers.chain([0]).collect();
        let read = own().strings(address(&pointers), &mut { STRINGS_MAX_BYTES });
        assert_eq!(read.unwrap(), expected);
    }
}

#[test]
fn many_pointers_into_one_long_string_are_too_long_before_they_fill_the_memory() {
    let text = vec![b'x'; 2 * PAGE_BYTES];
    let pointers = (0..700_000).map(|n| address(&text) + n % 1024);
    let pointers: Vec<u64> = pointers.chain([0]).collect();
    let read = own().strings(address(&pointers), &mut { STRINGS_MAX_BYTES });
    assert_eq!(read, Err(MemoryError::TooLong));
}

#[test]
fn a_null_array_is_empty_and_a_wild_one_a_fault() {
    assert_eq!(own().strings(0, &mut { 10 }), Ok(vec![]));
    assert_eq!(own().strings(8, &mut { 10 }), Err(MemoryError::Fault(8)));
    let pointers = [address(b"fine\0"), 16, 0];
    let read = own().strings(address(&pointers), &mut { STRINGS_MAX_BYTES });
    assert_eq!(read, Err(MemoryError::Fault(16)));
}

#[test]
fn what_the_kernel_finds_too_long_is_too_long() {
    let long = vec![b'x'; STRING_MAX_BYTES];
    let (_keep, pointers) = array(&[&long]);
    let read = own().strings(address(&pointers), &mut { STRINGS_MAX_BYTES });
    assert_eq!(read, Err(MemoryError::TooLong));
    let (_keep, pointers) = array(&[b"abc"]);
    assert_eq!(
        own().strings(address(&pointers), &mut { 11 }),
        Err(MemoryError::TooLong)
    );
    assert!(own().strings(address(&pointers), &mut { 12 }).is_ok());
    let path = [b'/'; PATH_MAX_BYTES + 1];
    let read = own().string(address(&path), PATH_MAX_BYTES);
    assert_eq!(read, Err(MemoryError::TooLong));
}

#[test]
fn narrow_pointers_are_read_four_bytes_each() {
    let pointers: [u32; 2] = [0, 7];
    let memory = Memory::new(Tid::own(), 4);
    assert_eq!(memory.strings(address(&pointers), &mut { 10 }), Ok(vec![]));
}

#[test]
fn a_dead_task_is_gone() {
    let memory = Memory::new(Tid::new(0x7fff_fff0), 8);
    assert_eq!(memory.string(4096, 10), Err(MemoryError::Gone));
}
