use super::*;

fn flag(text: &str) -> Flag {
    Flag::parse(text, &Places::of_tests(), Case::Exact).unwrap()
}

fn is_among(text: &str, call: &str) -> (bool, bool) {
    let arguments = || call.split(' ').map(str::as_bytes);
    let is = |reading| flag(text).is_among(arguments(), reading);
    (is(Reading::Strict), is(Reading::Doubtful))
}

#[test]
fn a_flag_is_present_by_its_own_name() {
    for (text, call) in [
        ("--force", "--force x"),
        ("-f", "x -f"),
        ("-rf", "-rf x"),
        ("--name=v*", "--name=value"),
        ("--name=v*", "--name value"),
    ] {
        assert_eq!(is_among(text, call), (true, true), "{text} {call}");
    }
}

#[test]
fn what_may_be_the_flag_counts_only_in_doubt() {
    for (text, call) in [
        ("--force", "x --force=false"),
        ("--force", "--force --no-force"),
        ("--force", "--forc x"),
        ("--force", "-force x"),
        ("--force", "-m --force"),
        ("--force", "-- --force"),
        ("-f", "-xf"),
        ("-f", "-ofile"),
        ("-rf", "-r x -f"),
        ("-rf", "-vfr"),
        ("-n=prod*", "-nprod-eu"),
        ("-n=prod*", "-vn prod"),
    ] {
        assert_eq!(is_among(text, call), (false, true), "{text} {call}");
    }
}

#[test]
fn another_flag_is_not_the_flag() {
    for (text, call) in [
        ("--force", "--forced"),
        ("--force", "force -x"),
        ("-f", "f --f"),
        ("-rf", "-r x"),
        ("--name=v*", "--name=other"),
        ("--name=v*", "--name"),
    ] {
        assert_eq!(is_among(text, call), (false, false), "{text} {call}");
    }
}

fn list(texts: &[&str]) -> List<Flag> {
    let (exceptions, wanted): (Vec<&str>, Vec<&str>) =
        texts.iter().partition(|text| text.starts_with('!'));
    List {
        wanted: wanted.into_iter().map(flag).collect(),
        exceptions: exceptions
            .into_iter()
            .map(|text| flag(&text[1..]))
            .collect(),
    }
}

#[test]
fn an_allow_lists_every_flag() {
    let all_on = |texts: &[&str], call: &str| {
        are_all_on(
            &list(texts),
            &[flag("--rm")],
            call.split(' ').map(str::as_bytes),
        )
    };
    assert!(all_on(&["-i", "-t", "--name"], "--rm -it --name x image"));
    assert!(all_on(&["*"], "--rm -v /:/h image"));
    assert!(all_on(&["-v"], "image -- x"));
    assert!(!all_on(&["-i", "-t"], "--rm -itv image"));
    assert!(!all_on(&["-i"], "image -x"));
    assert!(!all_on(&["-i"], "image -- -x"));
    assert!(!all_on(&["--name"], "--nam x"));
    assert!(!all_on(&["!--output"], "--out=x"));
    assert!(all_on(&["!--output"], "--colour"));
}

#[test]
fn a_deny_lists_some_flag() {
    let on =
        |texts: &[&str], call: &str| may_be_on(&list(texts), call.split(' ').map(str::as_bytes));
    assert!(on(&["--index-url"], "install --index-url https://e x"));
    assert!(on(&["-v", "--mount"], "run -v/:/h x"));
    let elsewhere = ["--index-url", "!--index-url=https://pypi.corp/*"];
    assert!(on(&elsewhere, "--index-url https://e/x"));
    assert!(!on(&elsewhere, "--index-url https://pypi.corp/simple x"));
    assert!(!on(&elsewhere, "--index-url=https://pypi.corp/simple"));
    assert!(!on(&["--force"], "push origin"));
}

#[test]
fn malformed_flags_are_refused() {
    for (text, error) in [
        ("", FlagError::NoFlag(String::new())),
        ("-", FlagError::NoFlag("-".to_owned())),
        ("--", FlagError::NoFlag("--".to_owned())),
        ("force", FlagError::NoFlag("force".to_owned())),
        ("--a b", FlagError::Blank),
        ("-x*", FlagError::Wildcard),
        ("--$a", FlagError::Word(EscapeError::Dollar)),
    ] {
        assert_eq!(
            Flag::parse(text, &Places::of_tests(), Case::Exact).err(),
            Some(error),
            "{text}"
        );
    }
}

#[test]
fn long_names_and_values_are_folded_where_case_is_ignored_and_letters_are_not() {
    let folded = |text: &str| Flag::parse(text, &Places::of_tests(), Case::Folded).unwrap();
    for (entry, element, is_covered) in [
        ("--Force", "--fORCE", true),
        ("--Name=V*", "--name=v1", true),
        ("--name=v", "--NAME=w", false),
        ("-d", "-d", true),
        ("-d", "-D", false),
        ("-n=V", "-n=v", true),
    ] {
        for reading in [Reading::Strict, Reading::Doubtful] {
            let is = folded(entry).covers(element.as_bytes(), None, reading);
            assert_eq!(is, is_covered, "{entry} {element} {reading:?}");
        }
    }
    assert!(folded("--force").covers(b"--FOR", None, Reading::Doubtful));
    assert!(!folded("--force").covers(b"--FOR", None, Reading::Strict));
    assert!(folded("--Force=A").names(&flag("--force")));
    assert!(folded("--force=A").names(&folded("--FORCE=a")));
    assert!(!flag("--force").names(&folded("--force")));
}
