//! The table of `SEEDS.md` against the numbers there are and the tests there are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const TABLE: &str = include_str!("../../SEEDS.md");

/// Where tests are, from the workspace.
const TEST_SOURCES: [&str; 4] = [
    "policy/src",
    "policy/tests",
    "supervisor/src",
    "tests/enforce",
];

/// The requirements that other parts of execward are to answer.
const LATER: [&[u16]; 2] = [
    // Approvals that last, the log.
    &[
        52, 54, 66, 67, 77, 117, 118, 119, 120, 128, 132, 133, 134, 135, 140, 141, 148, 149, 150,
        151,
    ],
    // Rounds of their own.
    &[153, 154],
];

/// The numbers of a letter, and what shows each.
fn rows(letter: char) -> Vec<(u16, &'static str)> {
    let rows = TABLE.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| ")?.split(" | ").collect();
        let number = cells.first()?.strip_prefix(letter)?.parse().ok()?;
        let [_, _, _, shown] = cells.as_slice() else {
            panic!("{line}");
        };
        Some((number, shown.trim_end_matches(" |")))
    });
    rows.collect()
}

fn names(shown: &str) -> impl Iterator<Item = &str> {
    shown.split(", ").map(|name| name.trim_matches('`'))
}

fn rust_files(directory: &Path, found: &mut Vec<PathBuf>) {
    for file in std::fs::read_dir(directory).expect("a directory") {
        let path = file.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The names of functions that are marked as tests, in each source of tests.
fn tests() -> BTreeSet<String> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for directory in TEST_SOURCES {
        rust_files(&workspace.join(directory), &mut files);
    }
    let mut tests = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(file).expect("UTF-8");
        let mut is_test = text.contains("proptest!");
        for line in text.lines().map(str::trim) {
            if let Some((name, _)) = line
                .strip_prefix("fn ")
                .and_then(|line| line.split_once('('))
            {
                if is_test {
                    tests.insert(name.to_owned());
                }
                is_test = text.contains("proptest!");
            } else if line == "#[test]" {
                is_test = true;
            }
        }
    }
    tests
}

#[test]
fn r142_every_number_is_in_the_table_once_and_its_tests_exist() {
    let requirements: Vec<u16> = (1..=57).chain(60..=155).collect();
    let oddities: Vec<u16> = (1..=25).chain(30..=49).collect();
    let tests = tests();
    for (letter, expected) in [('R', requirements), ('O', oddities)] {
        let rows = rows(letter);
        let numbers: Vec<u16> = rows.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, expected);
        for (number, shown) in rows
            .iter()
            .filter(|(_, shown)| !shown.starts_with("later: "))
        {
            for name in names(shown) {
                assert!(
                    tests.contains(name),
                    "{letter}{number}: there is no test `{name}`"
                );
            }
        }
    }
}

#[test]
fn only_what_belongs_elsewhere_is_left_for_later() {
    let rows = rows('R');
    let later = rows
        .iter()
        .filter(|(_, shown)| shown.starts_with("later: "));
    let later: Vec<u16> = later.map(|(number, _)| *number).collect();
    let mut allowed = LATER.concat();
    allowed.sort_unstable();
    assert_eq!(later, allowed);
}

#[test]
fn every_test_of_a_number_is_in_the_row_of_that_number() {
    let shown: BTreeSet<(char, u16, &str)> = ['R', 'O']
        .into_iter()
        .flat_map(|letter| {
            let rows = rows(letter).into_iter();
            rows.flat_map(move |(number, shown)| {
                names(shown).map(move |name| (letter, number, name))
            })
        })
        .collect();
    for test in tests() {
        let Some((number, _)) = test.split_once('_') else {
            continue;
        };
        for (letter, prefix) in [('R', 'r'), ('O', 'o')] {
            let number = number.strip_prefix(prefix).map(str::parse::<u16>);
            if let Some(Ok(number)) = number {
                assert!(shown.contains(&(letter, number, test.as_str())), "{test}");
            }
        }
    }
}
