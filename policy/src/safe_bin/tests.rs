use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const OPTIONAL: [&str; 8] = ["sort", "grep", "shuf", "iconv", "jq", "awk", "sed", "find"];

/// The default bins and those that may be added.
fn all() -> SafeBins {
    let mut bins = SafeBins::default();
    for name in OPTIONAL {
        bins.add(name).unwrap();
    }
    bins
}

fn judge<'a>(bins: &SafeBins, call: &[&'a str]) -> Result<(), Unsafe<'a>> {
    let arguments = call[1..].iter().map(|argument| argument.as_bytes());
    bins.judge(call[0].as_bytes(), arguments)
}

#[test]
fn filters_are_safe_in_any_spelling() {
    let calls: &[&[&str]] = &[
        &["wc", "-l"],
        &["wc", "--li"],
        &["wc", "-"],
        &["tr", "-d", "abc"],
        &["tr", "/", "_"],
        &["tr", "[:upper:]", "[:lower:]"],
        &["uniq", "-c"],
        &["uniq", "--group=both"],
        &["cut", "-d/", "-f1"],
        &["cut", "-d", "/", "-f", "1"],
        &["cut", "-sd:", "-f1"],
        &["head", "-n", "5"],
        &["head", "-5"],
        &["tail", "-n", "1"],
        &["tail", "-n", "+2"],
        &["sort", "-k2,2n", "-t", " ", "-ru"],
        &["sort", "-n", "-"],
        &["grep", "root"],
        &["grep", "-i", ".env"],
        &["grep", "-c", "-e", "x", "-e", "a*"],
        &["grep", "-A3", "x", "-"],
        &["shuf", "-n", "1"],
        &["iconv", "-f", "latin1", "-t", "UTF-8//TRANSLIT"],
        &["jq", "-r", ".a.env"],
        &["jq", "--arg", "a", "b", ".x"],
        &["awk", "-F:", "{print $1}"],
        &["awk", "-v", "n=1", "$1 > n"],
        &["sed", "-n", "1,3p"],
        &["sed", "-e", "s/e/w/", "-e", "s|w|e|g", "-n", "-e", "1,3p"],
        &["find", ".", "-name", "*-exec*", "-newer", "/usr", "-print"],
        &["find", "/", "(", "-type", "f", "-o", "!", "-empty", ")"],
    ];
    let bins = all();
    for call in calls {
        assert_eq!(judge(&bins, call), Ok(()), "{call:?}");
    }
}

/// Calls that open files, run programs, write, or do not end.
const UNSAFE: &[&[&str]] = &[
    &["uniq", "--group", ".env"],
    &["uniq", "--g", ".env"],
    &["uniq", "a", "b"],
    &["uniq", "-", "out"],
    &["uniq", "--", "in", "m"],
    &["head", "-c", "16", "f"],
    &["head", "--", "f"],
    &["tail", "-f"],
    &["tail", "-fn", "1"],
    &["tail", "-5f"],
    &["tail", "--retry"],
    &["wc", "--files0-from=l"],
    &["wc", "--files=l"],
    &["wc", "f"],
    &["cut", "-f1", "f"],
    &["sort", "--compress-prog=sh"],
    &["sort", "-S", "32k", "--compress-prog=./p"],
    &["sort", "-of"],
    &["sort", "-om"],
    &["sort", "-uo", "f"],
    &["sort", "-nruo", "m"],
    &["sort", "--outp", "f"],
    &["sort", "--ou=m"],
    &["sort", "-T", "d"],
    &["sort", "--files0-from", "l"],
    &["grep", "-e", "x", ".env"],
    &["grep", ".env", "-e", "x"],
    &["grep", "-e", "x", "--", ".env"],
    &["grep", "-re", "x"],
    &["grep", "-R", "x"],
    &["grep", "--dereference-recursive", "TOKEN"],
    &["grep", "-d", "recurse", "x"],
    &["grep", "-f", "l"],
    &["grep", "k", "--exclude-from=.env", "src"],
    &["grep", "x", "f"],
    &["shuf", "-e", "DATA", "-om"],
    &["shuf", "--random-source=f"],
    &["iconv", "-f", "./secret"],
    &["iconv", "-o", "m"],
    &["jq", "-n", "env"],
    &["jq", "-n", "$ENV.KEY"],
    &["jq", ".a", "f"],
    &["jq", "-Rr", ".", "s"],
    &["jq", "-nf", "x"],
    &["jq", "-L", "lib", "-n", "import \"d\" as $d; $d"],
    &["jq", "--rawfile", "a", "f", "."],
    &["awk", "BEGIN{print > \"f\"}"],
    &["awk", "-f", "p.awk"],
    &["awk", "{print}", "f"],
    &["awk", "-W", "exec", "f"],
    &["sed", "--in-place=.m", "s/x/y/", "f"],
    &["sed", "-ni", "p"],
    &["sed", "-e", "s/a/b/", "-e", "1w m"],
    &["sed", "-e", "p", "f"],
    &["sed", "-n", "/X/Iw m"],
    &["sed", "-f", "x"],
    &["sed", "-e=;w m"],
    &["find", ".", "-delete"],
    &["find", ".", "-exec", "id", ";"],
    &["find", ".", "-fprintf", "m", "x"],
    &["find", "-files0-from", "l"],
    &["split", "-l", "1", "-", "m"],
    &["cat"],
    &["egrep", "x"],
];

#[test]
fn what_opens_runs_or_writes_is_not() {
    let bins = all();
    for call in UNSAFE {
        assert!(judge(&bins, call).is_err(), "{call:?}");
    }
}

#[test]
fn the_reason_says_what_it_was() {
    let bins = all();
    for (call, reason) in [
        (&["cat"][..], "it is no safe bin"),
        (&["sort", "-o", "f"], "`-o` is not on its profile"),
        (&["wc", "f"], "`f` is an operand too many"),
        (&["wc", "--x"], "`--x` is not on its profile"),
        (&["iconv", "-f", "a/b"], "it has a file for a character set"),
        (&["sed", "w m"], "it has a command that writes a file"),
    ] {
        assert_eq!(judge(&bins, call).unwrap_err().to_string(), reason);
    }
    assert_eq!(judge(&SafeBins::none(), &["wc"]), Err(Unsafe::Name));
    assert_eq!(judge(&SafeBins::default(), &["sort"]), Err(Unsafe::Name));
}

fn flag<'t>(name: &'t str, form: &str) -> Flag<'t> {
    let form = FlagForm::parse(form).unwrap();
    Flag { name, form }
}

#[test]
fn a_policys_own_profile_is_read_by_its_forms() {
    let mut bins = SafeBins::none();
    let flags = [
        flag("-a", "none"),
        flag("-v", "value"),
        flag("-i", "=value"),
        flag("--two", "two"),
        flag("--long", "value"),
    ];
    bins.add_own("my-filter", 1, &flags).unwrap();
    for (call, is_safe) in [
        (&["my-filter"][..], true),
        (&["my-filter", "-a", "x"], true),
        (&["my-filter", "x", "y"], false),
        (&["my-filter", "x", "-"], false),
        (&["my-filter", "-av", "x", "y"], true),
        (&["my-filter", "-avx", "y"], true),
        (&["my-filter", "-ix", "y"], true),
        (&["my-filter", "-i", "x", "y"], false),
        (&["my-filter", "--two", "x", "y", "z"], true),
        (&["my-filter", "--two=x", "y", "z"], false),
        (&["my-filter", "--long=x", "y"], true),
        (&["my-filter", "--long", "x", "y"], true),
        (&["my-filter", "--lon", "x"], false),
        (&["my-filter", "-a=x"], false),
        (&["my-filter", "-b"], false),
        (&["my-filter", "-ab"], false),
        (&["my-filter", "--", "-b"], true),
        (&["my-filter", "--", "-b", "-a"], false),
    ] {
        assert_eq!(judge(&bins, call).is_ok(), is_safe, "{call:?}");
    }
}

#[test]
fn a_profile_of_a_tabled_command_says_what_its_table_does() {
    let mut bins = SafeBins::none();
    let split = [flag("-l", "value"), flag("-d", "none")];
    bins.add_own("split", 1, &split).unwrap();
    assert_eq!(judge(&bins, &["split", "--lines=5", "-"]), Ok(()));
    assert!(judge(&bins, &["split", "-b", "5"]).is_err());
    // Whoever counts its operands anew does not make a script of sed's a mere text.
    bins.add_own("sed", 1, &[flag("-e", "value")]).unwrap();
    assert!(judge(&bins, &["sed", "w m"]).is_err());
    assert!(judge(&bins, &["sed", "-e", "w m"]).is_err());
    assert!(judge(&bins, &["sed", "-n", "p"]).is_err());
    for (name, flag, refusal) in [
        ("split", flag("-l", "none"), Refusal::Form),
        ("split", flag("--x", "none"), Refusal::UnknownFlag),
        ("split", flag("--filter", "value"), Refusal::Dangerous),
        ("sort", flag("-o", "value"), Refusal::Dangerous),
        ("grep", flag("-r", "none"), Refusal::Dangerous),
        ("sed", flag("-i", "=value"), Refusal::Dangerous),
        ("my-filter", flag("x", "none"), Refusal::Flag),
        ("my-filter", flag("--", "none"), Refusal::Flag),
        ("my-filter", flag("--x=y", "none"), Refusal::Flag),
    ] {
        let refused = bins.add_own(name, 1, &[flag]).unwrap_err();
        assert_eq!(refused, (Some(0), refusal), "{name} {flag:?}");
    }
}

#[test]
fn what_runs_what_it_is_given_is_refused_by_its_class() {
    let mut bins = SafeBins::none();
    for (name, class) in [
        ("bash", "shells"),
        ("python3", "interpreters"),
        ("python3.12", "interpreters"),
        ("gawk", "interpreters"),
        ("perl", "interpreters"),
        ("busybox", "multicall"),
        ("env", "wrappers"),
        ("xargs", "wrappers"),
        ("less", "editors"),
    ] {
        let refusal = Refusal::Class(class);
        assert_eq!(bins.add(name), Err(refusal.clone()), "{name}");
        assert_eq!(bins.add_own(name, 0, &[]), Err((None, refusal)), "{name}");
    }
    assert_eq!(bins.add("split"), Err(Refusal::NoProfile));
    assert_eq!(bins.add("/usr/bin/wc"), Err(Refusal::Name));
    assert_eq!(bins.add(""), Err(Refusal::Name));
}

#[test]
fn long_arguments_are_judged() {
    let bins = all();
    let mut safe = 0;
    for part in [
        "(", "[", "{", "\"\\(", "/", "s/[", "a\\\n", "$", "if ", "1,", "-", "x", "[>",
    ] {
        let text = part.repeat(100_000);
        for name in ["awk", "sed", "jq", "grep", "iconv", "sort"] {
            safe += usize::from(judge(&bins, &[name, &text]).is_ok());
            safe += usize::from(judge(&bins, &[name, "-e", &text, "-f", &text]).is_ok());
        }
        let many = vec![part.as_bytes(); 100_000];
        for name in ["tr", "sort", "find", "jq"] {
            safe += usize::from(bins.judge(name.as_bytes(), many.iter().copied()).is_ok());
        }
    }
    assert!(safe > 0);
}

proptest! {
    #[test]
    fn no_call_makes_it_panic(
        name in select(&["cut", "tail", "tr", "uniq", "sort", "grep", "jq", "awk", "sed", "find"][..]),
        arguments in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..12), 0..5),
    ) {
        let bins = all();
        let verdict = || bins.judge(name.as_bytes(), arguments.iter().map(Vec::as_slice));
        prop_assert_eq!(verdict(), verdict());
    }

    #[test]
    fn no_script_makes_it_panic(
        name in select(&["jq", "awk", "sed"][..]),
        script in r#"[a-z{}()\[\]/"\\;,$ \n.#|>&1:~!-]{0,30}"#,
    ) {
        let bins = all();
        prop_assert_eq!(judge(&bins, &[name, &script]), judge(&bins, &[name, &script]));
    }

    /// A flag that is not on the profile is found wherever it stands.
    #[test]
    fn a_letter_off_the_profile_is_found_in_any_cluster(
        before in "[nrubfgis]{0,6}",
        after in "[nrubfgis]{0,6}",
    ) {
        let cluster = format!("-{before}o{after}");
        prop_assert_eq!(judge(&all(), &["sort", &cluster]), Err(Unsafe::Flag(b"-o")));
    }
}

#[test]
fn a_carriage_return_ends_a_label_for_some_and_is_refused() {
    let bins = all();
    assert!(judge(&bins, &["sed", "-n", "t x\ra\\\nr secret\n:x\ra\\\np"]).is_err());
    assert!(judge(&bins, &["sed", "-n", "s/a/b/p"]).is_ok());
}
