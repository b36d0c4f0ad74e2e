use super::*;
use crate::escape::EscapeError;
use crate::flag::FlagError;
use crate::program::ProgramError;
use crate::request::{ExecRequest, ProgramFile};
use crate::trust::Trust;

/// Whether the words of `command` hold for `call`, strictly and in doubt. The program is taken
/// as meant.
fn reads(command: &str, call: &str) -> (bool, bool) {
    let command = Command::parse(command, &Places::of_tests(), Case::Exact).unwrap();
    let argv: Vec<Vec<u8>> = call.split(' ').map(Into::into).collect();
    let request = ExecRequest::new(ProgramFile::at("/usr/bin/x"), argv);
    let trust = Trust::default();
    let image = Image::of_program(&request, &trust);
    let holds = |reading| command.words_hold(&image, reading);
    (holds(Reading::Strict), holds(Reading::Doubtful))
}

#[test]
fn words_lead_in_both_readings_when_nothing_stands_between() {
    for call in ["tool push", "tool push origin main", "tool push --force"] {
        assert_eq!(reads("tool push", call), (true, true), "{call}");
    }
}

#[test]
fn flags_with_and_without_values_may_stand_between_only_in_doubt() {
    for call in [
        "tool -C sub push",
        "tool --no-pager push",
        "tool -c a=b push",
        "tool -C sub --no-pager -c a=b push",
        "tool -p push",
        "tool -- push",
        "tool - push",
        "tool -C -- push",
        "tool +nightly push",
        "tool -- -x sub push",
    ] {
        assert_eq!(reads("tool push", call), (false, true), "{call}");
    }
    assert_eq!(
        reads("tool run test", "tool -w pkg run --silent test"),
        (false, true)
    );
}

#[test]
fn a_word_that_is_not_among_the_leading_operands_does_not_count() {
    for call in [
        "tool",
        "tool commit -m push",
        "tool commit push",
        "tool sub push",
        "tool -C sub sub push",
        "tool pushx",
        "tool pus",
        "tool -push",
        "tool +sub sub push",
    ] {
        assert_eq!(reads("tool push", call), (false, false), "{call}");
    }
}

#[test]
fn a_word_may_itself_be_read_as_a_value() {
    // `-x push` with a value leaves `commit`; without one it leaves `push`.
    assert_eq!(reads("tool push", "tool -x push commit"), (false, true));
    assert_eq!(reads("tool commit", "tool -x push commit"), (false, true));
}

#[test]
fn repeated_words_are_told_apart() {
    assert_eq!(reads("x a a b", "x a a b"), (true, true));
    assert_eq!(reads("x a a b", "x a b"), (false, false));
    assert_eq!(reads("x a a b", "x -v a -v a -v a b"), (false, true));
}

#[test]
fn one_word_holds_for_any_arguments() {
    assert_eq!(reads("ls", "ls"), (true, true));
    assert_eq!(reads("ls", "ls -l x"), (true, true));
}

#[test]
fn an_allow_names_the_whole_command() {
    for (command, call, is_whole) in [
        ("git", "git", true),
        ("git", "git --version", true),
        ("git", "git status", false),
        ("git stash", "git stash", true),
        ("git stash", "git stash -q", true),
        ("git stash", "git stash drop", false),
        ("git stash", "git stash -q drop", false),
        ("npm run", "npm run deploy", false),
        ("npm run test", "npm run test unit", true),
        ("git *", "git stash drop", true),
        ("kubectl get *", "kubectl get pods", true),
        ("aws * describe-*", "aws ec2 describe-instances", true),
        ("aws * describe-*", "aws ec2 terminate-instances", false),
    ] {
        assert_eq!(reads(command, call).0, is_whole, "{command}: {call}");
    }
}

#[test]
fn a_word_that_begins_with_a_dash_is_a_flag_that_must_be_there() {
    for (command, call, holds) in [
        ("tool -rf", "tool -rf x", (true, true)),
        ("tool -rf", "tool x -rf", (true, true)),
        ("tool -rf", "tool -r x -f", (false, true)),
        ("tool -rf", "tool -r x", (false, false)),
        (
            "tool ci --ignore-scripts",
            "tool ci --ignore-scripts",
            (true, true),
        ),
        ("tool ci --ignore-scripts", "tool ci", (false, false)),
        (
            "tool ci --ignore-scripts",
            "tool ci -x --ignore-scripts",
            (false, true),
        ),
        ("tool -m pytest", "tool -m pytest -q", (true, true)),
        (
            "tool reset --hard",
            "tool reset HEAD~1 --har",
            (false, true),
        ),
    ] {
        assert_eq!(reads(command, call), holds, "{command}: {call}");
    }
}

#[test]
fn a_script_is_no_word() {
    let check = |text| {
        let command = Command::parse(text, &Places::of_tests(), Case::Exact).unwrap();
        command.check_script().is_err()
    };
    assert!(check("node app.js"));
    assert!(check("python3.12 x/run.py"));
    assert!(!check("node --version"));
    assert!(!check("cat app.js"));
    assert!(!check("python3 -m pytest"));
}

#[test]
fn the_longest_command_is_followed_to_its_end() {
    let words = vec!["a"; WORDS_MAX].join(" ");
    assert_eq!(reads(&words, &words), (true, true));
    let shorter = vec!["a"; WORDS_MAX - 1].join(" ");
    assert_eq!(reads(&words, &shorter), (false, false));
}

#[test]
fn a_flood_of_flags_is_read_in_linear_time() {
    let flood = format!("tool {}push", "-x ".repeat(100_000));
    assert_eq!(reads("tool push", &flood), (false, true));
}

#[test]
fn words_may_hold_any_byte() {
    assert_eq!(reads(r"x \x2d\*", "x -*"), (true, true));
    let command = Command::parse(r"x \xff", &Places::of_tests(), Case::Exact).unwrap();
    assert!(may_lead(
        &command.words.proper,
        [b"\xff".as_slice()].into_iter()
    ));
}

#[test]
fn what_is_not_supported_or_not_a_command_is_refused() {
    for (text, error) in [
        ("", CommandError::Blank),
        (" \t", CommandError::Blank),
        ("a; b", CommandError::Shell(";")),
        ("a | b", CommandError::Shell("|")),
        ("a && b", CommandError::Shell("&&")),
        ("A_1=x make", CommandError::Assignment("A_1=x".to_owned())),
        ("a > b", CommandError::Shell(">")),
        ("a < b", CommandError::Shell("<")),
        ("a $(b)", CommandError::Shell("$(")),
        ("a `b`", CommandError::Shell("`")),
        ("a\nb", CommandError::Shell("\n")),
        ("a 'b c'", CommandError::Quote),
        ("-x", CommandError::FlagFirst("-x".to_owned())),
        (
            "x --",
            CommandError::Flag(FlagError::NoFlag("--".to_owned())),
        ),
        ("env @shells", CommandError::Class("@shells".to_owned())),
        ("a ${hme}", CommandError::Word(EscapeError::Dollar)),
        (
            "@shell x",
            CommandError::Program(ProgramError::Class("@shell".to_owned())),
        ),
    ] {
        assert_eq!(
            Command::parse(text, &Places::of_tests(), Case::Exact).err(),
            Some(error),
            "{text:?}"
        );
    }
    let long = vec!["a"; WORDS_MAX + 1].join(" ");
    assert_eq!(
        Command::parse(&long, &Places::of_tests(), Case::Exact).err(),
        Some(CommandError::TooLong)
    );
}
