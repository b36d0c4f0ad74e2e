//! The golden corpus of broken policies: what their authors are told.
//!
//! Every `broken/NAME.toml` has one fault or several; `broken/NAME.txt` is how they are
//! rendered. With `EXECWARD_BLESS=1` the renderings are written anew, to be read as their
//! user would before they are committed.

use std::fs;
use std::path::{Path, PathBuf};

use execward_policy::{
    Diagnostics, Included, Includes, Layer, Place, Places, Ruleset, Source, Style,
};

/// Fewest policies of the corpus: it grows and does not shrink.
const POLICIES_MIN: usize = 70;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken")
}

/// The files below `broken/includes`.
struct CorpusIncludes;

impl Includes for CorpusIncludes {
    fn read(&self, _includer: &str, path: &str) -> Result<Included, String> {
        let text = fs::read(corpus().join("includes").join(path));
        Ok(Included {
            name: path.to_owned(),
            // The words of the system are not those of every system.
            text: text.map_err(|error| error.kind().to_string())?,
        })
    }
}

fn load(name: &str, text: &[u8]) -> Result<Ruleset, Diagnostics> {
    let places = Places {
        home: "/home/ada".into(),
        workspace: "/home/ada/engine".into(),
        tmp: "/tmp".into(),
    };
    let layer = Layer::User;
    Ruleset::load(&[Source { name, text, layer }], &places, &CorpusIncludes)
}

fn faults(text: &[u8]) -> Diagnostics {
    load("p.toml", text).expect_err("the policy has a fault")
}

/// The faults as lines of `line:column: message`.
fn lines(faults: &Diagnostics) -> Vec<String> {
    let line = |line: &str| line.strip_prefix("p.toml:").map(str::to_owned);
    faults.to_string().lines().filter_map(line).collect()
}

/// Whether a place is in a file: on a character, or just after the last one of its line.
fn is_inside(place: &Place, text: &str) -> bool {
    let line = text.split('\n').nth(place.line() - 1);
    line.is_some_and(|line| place.column() <= line.chars().count() + 1)
}

/// What is wrong with the golden file of one policy.
fn check(name: &str, is_blessing: bool) -> Result<(), String> {
    let file = corpus().join(name);
    let text = fs::read_to_string(&file).map_err(|error| format!("{name}: {error}"))?;
    let Err(faults) = load(name, text.as_bytes()) else {
        return Err(format!("{name}: loads"));
    };
    for fault in faults.faults() {
        for place in std::iter::once(fault.place()).chain(fault.related_place()) {
            let included = corpus().join("includes").join(place.source());
            let text = match place.source() == name {
                true => text.clone(),
                false => fs::read_to_string(included).map_err(|error| error.to_string())?,
            };
            if !is_inside(place, &text) {
                return Err(format!("{name}: {fault}: outside of the file"));
            }
        }
    }
    let (rendering, golden) = (faults.render(Style::Plain), file.with_extension("txt"));
    if is_blessing {
        return fs::write(golden, rendering).map_err(|error| format!("{name}: {error}"));
    }
    let wanted = fs::read_to_string(golden).map_err(|error| format!("{name}: {error}"))?;
    match rendering == wanted {
        true => Ok(()),
        false => Err(format!("{name}: wanted\n{wanted}\nfound\n{rendering}")),
    }
}

#[test]
fn every_broken_policy_is_refused_in_these_words() {
    let is_blessing = std::env::var_os("EXECWARD_BLESS").is_some_and(|value| value == "1");
    let entries = fs::read_dir(corpus()).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort();
    assert!(names.len() >= POLICIES_MIN, "{} policies", names.len());
    let wrong: Vec<String> = names
        .iter()
        .filter_map(|name| check(name, is_blessing).err())
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const SOUND: &str = "version = 1\n\n[mode]\nsecurity = \"full\"\n";

#[test]
fn a_source_of_nine_mebibytes_is_refused_by_its_size() {
    let text = [SOUND.as_bytes(), &vec![b'#'; 9 << 20]].concat();
    let found = faults(&text);
    assert_eq!(
        lines(&found),
        ["1:1: a policy has at most 8388608 bytes, and this has more"]
    );
    assert!(found.render(Style::Plain).len() < 1000);
}

#[test]
fn a_nul_is_located_wherever_it_stands() {
    for (text, line_column) in [
        ("version = 1\0\n", "1:11: "),
        ("version = 1\n# a\0b\n", "2:4: "),
        ("version = 1\nlayer = \"us\0er\"\n", "2:12: "),
        ("\0", "1:1: "),
    ] {
        let found = faults(text.as_bytes());
        let is_located = |line: &String| line.starts_with(line_column);
        assert!(lines(&found).iter().any(is_located), "{text:?}: {found}");
        assert!(!found.render(Style::Plain).contains('\0'), "{text:?}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_text() {
    let sound = format!("\u{feff}{SOUND}");
    load("p.toml", sound.as_bytes()).unwrap_or_else(|faults| panic!("{faults}"));
    let found = faults("\u{feff}version = 2\nlayer = \"usr\"\n".as_bytes());
    assert_eq!(
        lines(&found),
        [
            "1:11: version 2 of the language is not known",
            "2:9: unknown value `usr`"
        ]
    );
}

#[test]
fn text_in_another_encoding_is_located_at_its_first_byte() {
    let latin: &[u8] = b"version = 1\n# na\xefve\n";
    let utf16: Vec<u8> = SOUND.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked_utf16 = [b"\xff\xfe".as_slice(), &utf16].concat();
    let cut = [SOUND.as_bytes(), "é".as_bytes().split_at(1).0].concat();
    for (text, line_column) in [(latin, "2:5"), (&marked_utf16, "1:1"), (&cut, "5:1")] {
        assert_eq!(
            lines(&faults(text)),
            [format!(
                "{line_column}: a policy is UTF-8, and this byte is not"
            )]
        );
    }
    // Without a mark it is UTF-8, with a NUL after each character.
    assert!(!faults(&utf16).faults().is_empty());
}

/// Ways to nest, `depth` deep: closed, and left open.
fn nested(depth: usize) -> Vec<String> {
    let open = |begin: &str, end: &str| begin.repeat(depth) + end;
    let closed = |begin: &str, middle: &str, end: &str| {
        format!("{}{middle}{}", begin.repeat(depth), end.repeat(depth))
    };
    vec![
        format!("version = 1\ninclude = {}\n", closed("[", "", "]")),
        format!("version = 1\ninclude = {}\n", open("[", "")),
        format!("version = 1\nmode = {}\n", closed("{ a = ", "1", " }")),
        format!("version = 1\nmode = {}\n", open("{ a = ", "")),
        format!("version = 1\ndeny = {}\n", closed("[{ a = ", "1", " }]")),
        format!("version = 1\nmode{} = 1\n", ".a".repeat(depth)),
        format!("version = 1\n[mode{}]\n", ".a".repeat(depth)),
        format!("version = 1\n[[deny{}]]\n", ".a".repeat(depth)),
        format!("version = 1\nmatch = {}\n", "]".repeat(depth)),
    ]
}

#[test]
fn nesting_without_end_is_a_fault_and_no_overflow() {
    // A thread of a supervisor has less stack than the main one.
    let thread = std::thread::Builder::new().stack_size(512 * 1024);
    let check = || {
        for depth in [100, 10_000] {
            for text in nested(depth) {
                let found = faults(text.as_bytes());
                let line = &text[..text.len().min(40)];
                assert!(found.faults().len() <= depth + 2, "{line}");
                assert!(found.render(Style::Plain).len() < 10_000, "{line}");
            }
        }
    };
    thread.spawn(check).unwrap().join().unwrap();
}

#[test]
fn a_line_of_a_megabyte_is_shown_in_part() {
    let long = "x".repeat(1 << 20);
    for (text, line_column) in [
        (format!("version = 1\nlayer = \"{long}\"\n"), "2:9"),
        (format!("version = 1\n{long} = 1\n"), "2:1"),
        (format!("version = 1\nlayer = \"usr\" # {long}\n"), "2:9"),
        (
            format!("version = 1\ninclude = [\"preset:dev\", \"{long}\"]\n"),
            "2:26",
        ),
        (
            format!("version = 1\ntrusted_dirs = [\"/{long}\", \"x\"]\n"),
            "2:1048598",
        ),
        (format!("version = 1\nlayer = \"{long}\n"), "2:1048586"),
    ] {
        let found = faults(text.as_bytes());
        let start = &text[..40];
        let is_located = |line: &String| line.starts_with(&format!("{line_column}: "));
        assert!(lines(&found).iter().any(is_located), "{start}");
        let length = found.render(Style::Plain).len();
        assert!(length < 5_000, "{start}: {length}");
    }
}

#[test]
fn faults_without_number_are_found_in_time() {
    for list in ["1,", "a,", "1 ", "\"x/y\",\n", "[],"] {
        let text = format!("version = 1\ntrusted_dirs = [{}]\n", list.repeat(100_000));
        let started = std::time::Instant::now();
        let found = faults(text.as_bytes());
        let length = found.render(Style::Plain).len() + found.to_string().len();
        let elapsed = started.elapsed();
        assert!(elapsed.as_secs() < 10, "{list}: {elapsed:?}");
        assert!(length < 100_000, "{list}: {length} bytes");
    }
    let found = faults(format!("version = 1\nallow = [{}]", "1,".repeat(150)).as_bytes());
    assert_eq!(found.faults().len(), 150);
    assert!(found.to_string().ends_with("\nand 50 more"));
    assert!(found.render(Style::Plain).ends_with("\nand 50 more\n"));
}

#[test]
fn carriage_returns_before_line_breaks_change_nothing() {
    let sound = SOUND.replace('\n', "\r\n");
    load("p.toml", sound.as_bytes()).unwrap_or_else(|faults| panic!("{faults}"));
    let broken = fs::read_to_string(corpus().join("five-different-faults.toml")).unwrap();
    let unix = faults(broken.as_bytes());
    let dos = faults(broken.replace('\n', "\r\n").as_bytes());
    assert_eq!(lines(&dos), lines(&unix));
    assert_eq!(dos.render(Style::Plain), unix.render(Style::Plain));
}
