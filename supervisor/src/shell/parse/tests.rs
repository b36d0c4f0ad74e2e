use super::*;

/// The words of each command, joined by `|`; `?` for one that is not known.
fn commands(text: &str) -> Vec<String> {
    let analysis = analyse(text).unwrap();
    let segments = analysis.segments.into_iter();
    let words = segments.map(|segment| segment.argv.map_or("?".to_owned(), |argv| argv.join("|")));
    words.collect()
}

fn refused(text: &str) -> Vec<String> {
    let analysis = analyse(text).unwrap();
    analysis.refused.into_iter().map(|it| it.token).collect()
}

#[test]
fn commands_are_found_wherever_they_stand() {
    for (text, found) in [
        ("git status", &["git|status"][..]),
        ("a && b || c; d & e\nf", &["a", "b", "c", "d", "e", "f"]),
        ("a | b |& c", &["a", "b", "c"]),
        ("if a; then b; else c; fi", &["a", "b", "c"]),
        ("while a; do b; done", &["a", "b"]),
        ("for i in 1 2; do a; done", &["a"]),
        ("case x in y) a;; esac", &["a"]),
        ("(a; b) ; { c; }", &["a", "b", "c"]),
        ("! a", &["a"]),
        ("f() { a; }", &["a"]),
        ("echo $(a b) `c`", &["?", "a|b", "c"]),
        ("cat <(a)", &["?", "a"]),
        ("cat <<E\ngit push $(a)\nE", &["cat", "a"]),
        ("cat <<'E'\n$(a)\nE", &["cat"]),
        (
            "eval 'a b'; eval a b",
            &["eval|a b", "a|b", "eval|a|b", "a|b"],
        ),
        ("sh -c 'a; b'", &["sh|-c|a; b", "a", "b"]),
        (
            "/bin/bash -ec \"sh -c 'a'\" x",
            &["/bin/bash|-ec|sh -c 'a'|x", "sh|-c|a", "a"],
        ),
        ("trap 'a b' EXIT", &["trap|a b|EXIT", "a|b"]),
        ("exec a b; command a; builtin cd x", &["a|b", "a", "cd|x"]),
        ("command -v a", &["command|-v|a"]),
        ("A=1 B=2 a", &["a"]),
        ("# git push", &[]),
        ("", &[]),
    ] {
        assert_eq!(commands(text), found, "{text}");
    }
}

#[test]
fn words_are_what_the_program_gets() {
    for (word, found) in [
        ("'a b'", "a b"),
        (r#""a b""#, "a b"),
        (r#""a \" \$ \\ \n""#, r#"a " $ \ \n"#),
        (r"a\ b\;", "a b;"),
        ("a'b'\"c\"d", "abcd"),
        ("g''it", "git"),
        (r"$'a\tb\x41\101\''", "a\tbAA'"),
        ("--x='a b'", "--x=a b"),
        ("'&&'", "&&"),
        ("2", "2"),
        ("a=b", "a=b"),
    ] {
        assert_eq!(
            commands(&format!("x {word}")),
            [format!("x|{found}")],
            "{word}"
        );
        assert!(refused(&format!("x {word}")).is_empty(), "{word}");
    }
}

/// A text, and what of it only the running shell can tell.
const UNTOLD: &[(&str, &str)] = &[
    ("a > f", "redirection"),
    ("a < f", "redirection"),
    ("a 2>> f", "redirection"),
    ("a &> f", "redirection"),
    ("echo $(a)", "command substitution"),
    ("echo `a`", "backticks"),
    ("echo \"$(a)\"", "command substitution"),
    ("cat <(a)", "process substitution"),
    ("echo $x", "variable"),
    ("echo \"${x:-y}\"", "variable"),
    ("echo $((1 + 2))", "arithmetic"),
    ("rm *.c", "wildcard"),
    ("rm ?", "wildcard"),
    ("rm [a]", "wildcard"),
    ("rm {a,b}", "braces"),
    ("cd ~/x", "tilde"),
    ("cat <<E\nE", "here-document"),
    ("cat <<< x", "here-string"),
    ("f() { a; }", "function"),
    ("export A=1", "declaration"),
    ("PATH=/x; ls", "assignment"),
    ("eval \"$x\"", "variable"),
    ("a && cd x; b", "change of directory"),
    ("cd x || a", "change of directory"),
    ("cd; a", "change of directory"),
    ("cd x & a", "change of directory"),
    ("if a; then cd x; fi", "change of directory"),
    ("pushd x", "change of directory"),
    ("true \\ #b; touch x", "word"),
    ("echo 'a'\\ #; touch x", "word"),
    ("\r#b ; touch x", "word"),
    ("\u{b}#b } break \"\\\"\";touch x", "word"),
    ("\\export BASH_ENV=x; bash -c true", "variable of the shell"),
    ("for PATH in x; do ls; done", "loop"),
    ("[[ S -eq 0 ]]", "test"),
    ("(( S ))", "arithmetic"),
    ("echo touch x | sh", "text from elsewhere"),
    ("PATH=x ls", "variable of the shell"),
    ("command -p touch x", "builtin"),
    ("builtin eval -- touch x", "builtin"),
    ("coproc touch x; wait", "builtin"),
    ("! ! touch x", "builtin"),
    ("\"\"; touch x", "empty command"),
    (". ./x", "text from elsewhere"),
    ("source x", "text from elsewhere"),
    ("echo \"open", "syntax error"),
    ("a && && b", "syntax error"),
    ("echo $'\\u1234'", "escape"),
    ("gi\\\nt push", "line that goes on within a word"),
];

/// The commands, each with where it works; `?` where that is not known, nothing where it is the start.
fn places(text: &str) -> String {
    let analysis = analyse(text).unwrap();
    let segments = analysis.segments.into_iter();
    let segments = segments.filter(|segment| !segment.raw.starts_with("cd "));
    let shown = segments.map(|segment| match segment.place {
        Place::Start => segment.raw,
        Place::In(directory) => format!("{directory}> {}", segment.raw),
        Place::Untold => format!("?> {}", segment.raw),
    });
    shown.collect::<Vec<_>>().join("; ")
}

#[test]
fn a_command_works_where_the_text_puts_it() {
    for (text, shown) in [
        (
            "a; cd x; b; cd ../y; c; cd /z; d",
            "a; x> b; x/../y> c; /z> d",
        ),
        ("cd x && a && b", "x> a; x> b"),
        ("cd x && a; b", "x> a; x> b"),
        ("a && cd x && b; c", "a; ?> b; ?> c"),
        ("false && cd x; a", "false; ?> a"),
        ("(cd x; a); b", "x> a; b"),
        ("x=$(cd x; a) b; c", "x=$(cd x; a) b; x> a; c"),
        ("cd x | a; b", "?> a; b"),
        ("cd x & a", "?> a"),
        ("if a; then cd x; fi; b", "a; ?> b"),
        ("cd $x; a; cd /y; b", "?> a; /y> b"),
        ("$x y; a", "$x y; ?> a"),
        ("f() { a; }; cd x; f; b", "?> a; x> f; ?> b"),
        ("alias c='cd x'; c; a", "alias c='cd x'; c; ?> a"),
        ("time cd x; a", "time cd x; ?> a"),
        ("eval 'cd x'; a", "eval 'cd x'; x> a"),
        ("sh -c 'cd x; a'; b", "sh -c 'cd x; a'; x> a; b"),
        ("trap 'a' EXIT; b", "trap 'a' EXIT; a; b"),
        ("trap 'a' EXIT; cd x; b", "trap 'a' EXIT; ?> a; x> b"),
        ("trap 'cd x' EXIT; b", "trap 'cd x' EXIT; ?> b"),
        ("cd -; a", "?> a"),
    ] {
        let places = places(text);
        let expected: String = shown.into();
        assert_eq!(places, expected, "{text}");
    }
}

#[test]
fn a_name_that_the_text_makes_is_no_programs() {
    let renamed = |text: &str| {
        let segments = analyse(text).unwrap().segments.into_iter();
        let renamed = segments.filter(|segment| segment.is_doubtful);
        renamed.map(|segment| segment.raw).collect::<Vec<_>>()
    };
    assert_eq!(renamed("git() { :; }; git push; ls"), ["git push"]);
    assert_eq!(renamed("git push; function git { :; }"), [""; 0]);
    assert_eq!(renamed("alias a=b git='x y'\ngit push; b"), ["git push"]);
}

#[test]
fn a_line_that_may_be_a_documents_is_no_sure_command() {
    let doubtful = |text: &str| {
        let segments = analyse(text).unwrap().segments.into_iter();
        segments
            .filter(|it| it.raw == "git push")
            .all(|it| it.is_doubtful)
    };
    for text in [
        "cat <<E\nE2\ngit push\nE",
        "cat <<'E'\n  E\ngit push\nE",
        "cat <<E\nE \ngit push\nE",
        "cat <<E\na\\\nE\ngit push\nE",
        "cat <<E \"\n\"\ngit push\nE",
        "cat <<E \\\n> x\ngit push\nE",
        "cat <<A <<B\nA\ngit push\nB",
        "{ cat <<E; }\ngit push\nE",
        "cat <<''\ngit push\n\n",
        "if ! cat <<E; then\ngit push\nE\n:; fi",
        "eval 'cat <<E\n E\ngit push\nE'",
        "cat <<E\n E\neval 'git push'\nE",
    ] {
        assert!(doubtful(text), "{text}");
    }
    for text in [
        "cat <<E\na\nE\ngit push",
        "cat <<-\"E_1\" >x | cat && git push\n\ta\n\tE_1",
        "echo \"$(cat <<'E'\na\nE\n)\"; git push",
        "git push; cat <<''\n\n",
        "eval 'cat <<E\n E\nE'; git push",
        "echo $((1<<2)) '<<E'\ngit push",
    ] {
        assert!(!doubtful(text), "{text}");
    }
}

#[test]
fn what_only_a_running_shell_can_tell_is_named() {
    for (text, token) in UNTOLD {
        let refused = refused(text);
        assert!(refused.iter().any(|it| it == token), "{text}: {refused:?}");
        let analysis = analyse(text).unwrap();
        assert!(!analysis.ok && analysis.reason.is_some(), "{text}");
    }
    for text in [
        "a 2>&1",
        "a >&2",
        "a && b | c; d",
        "sh -c 'a b'",
        "a & b",
        "cd x && a",
        "a; cd x; b && c",
    ] {
        assert_eq!(refused(text), [""; 0], "{text}");
        assert!(analyse(text).unwrap().ok, "{text}");
    }
}

#[test]
fn pipelines_and_chains_are_told_apart() {
    for (text, chains) in [
        ("a | b && c; d", &[&[0, 1][..], &[2], &[3]][..]),
        ("a 2>&1 | b", &[&[0, 1]]),
        ("(a | b) | c", &[&[2], &[0, 1]]),
        ("a | while b; do c; done", &[&[0], &[1], &[2]]),
    ] {
        let analysis = analyse(text).unwrap();
        let mut found: Vec<_> = analysis.chains.iter().filter(|it| !it.is_empty()).collect();
        found.sort();
        let mut chains: Vec<Vec<usize>> = chains.iter().map(|chain| chain.to_vec()).collect();
        chains.sort();
        assert_eq!(found, chains.iter().collect::<Vec<_>>(), "{text}");
    }
}

#[test]
fn a_redirection_tells_its_file() {
    let analysis = analyse("a < in > 'o u t' 2>> log 2>&1 >&- > $x").unwrap();
    let files: Vec<_> = analysis
        .redirects
        .iter()
        .map(|it| (it.path.as_str(), it.writes))
        .collect();
    assert_eq!(files, [("in", false), ("o u t", true), ("log", true)]);
}

#[test]
fn no_text_is_too_long_too_deep_or_too_wide() {
    for text in [
        "(".repeat(20_000),
        "$(".repeat(20_000),
        "a | ".repeat(1_000),
        "a;".repeat(20_000),
        "\"".repeat(30_001),
        "{a,".repeat(10_000),
        "<<E ".repeat(10_000),
        format!("sh -c {}", "'".repeat(30_000)),
        "eval ".repeat(10_000),
        "\\".repeat(60_000),
        "\0\u{1}\u{202e}".repeat(10_000),
    ] {
        // Whatever it is. How long it may take is up to the process (`a_text_that_is_too_much_is_said_to_be`).
        drop(analyse(&text));
    }
}

/// What bash makes of the words behind `x`; nothing if it takes the text for no shell's.
fn bash(text: &str) -> Option<Vec<String>> {
    let script = format!("x() {{ printf '%s\\0' \"$@\"; }}\n{text}");
    let output = std::process::Command::new("bash")
        .args(["--norc", "--noprofile", "-c", &script])
        .env_clear()
        .current_dir("/")
        .output()
        .unwrap();
    let words = String::from_utf8(output.stdout).ok()?;
    let words = words.split_terminator('\0').map(str::to_owned);
    let is_refused = output
        .stderr
        .windows(12)
        .any(|part| part == b"syntax error");
    (!is_refused).then(|| words.collect())
}

/// `scripts/fuzz` goes on with it for minutes.
#[test]
fn what_is_written_out_is_what_bash_makes_of_it() {
    const PIECES: [&str; 28] = [
        "a", "b", "-c", "=", " ", " ", "\t", "'", "'", "\"", "\"", "\\", "\n", "$", "$'", "#", "!",
        "{", "}", ",", "~", "*", "?", "[", "]", ";", "\u{e9}", "\\n",
    ];
    let pieces = proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..9);
    let compared = std::cell::Cell::new(0);
    while compared.get() < 150 {
        let mut runner = proptest::test_runner::TestRunner::default();
        let ran = runner.run(&pieces, |pieces| {
            let text = format!("x {}", pieces.concat());
            let Ok(analysis) = analyse(&text) else {
                return Ok(());
            };
            let [segment] = analysis.segments.as_slice() else {
                return Ok(());
            };
            if let Some([x, words @ ..]) = segment.argv.as_deref().filter(|_| analysis.ok)
                && x == "x"
                && !words.is_empty()
            {
                let Some(made) = bash(&text) else {
                    return Ok(());
                };
                proptest::prop_assert_eq!(made.join("|"), words.join("|"), "{:?}", text);
                compared.set(compared.get() + 1);
            }
            Ok(())
        });
        ran.unwrap_or_else(|error| panic!("{error}"));
    }
}
