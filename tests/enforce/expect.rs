//! Sessions that are held to a list of execs, and logs that are.

use std::fs;
use std::os::unix::fs::symlink;

use execward_tests::{Ground, said, skip, until};

use crate::interpreter::run_with_own_loader;

const RULES: &str = "[[deny]]\nid = \"no-mkdir\"\nprogram = \"mkdir\"\n";

/// What each run has of its own is nothing to a list.
const SCRIPT: &str = "/usr/bin/touch \"$PWD/a\"; file=$(/usr/bin/mktemp -p /tmp); \
    /usr/bin/rm \"$file\"; /usr/bin/true \"$(printf 'a\\377')\"";

/// A list of what `script` executes.
fn list(script: &str, counts: &[&str]) -> String {
    let ground = Ground::full(RULES);
    let _ran = ground.sh(script);
    let _records = ground.records_at_end();
    let words = [
        &["audit", "expect", "--learn", "-o", "list.toml"],
        counts,
        &["audit.jsonl"],
    ];
    let learned = ground.execward(&words.concat());
    assert_eq!(learned.status.code(), Some(0), "{}", said(&learned));
    fs::read_to_string(ground.path("list.toml")).expect("a list")
}

/// A ground whose sessions are held to this list.
fn held_to(list: &str) -> Ground {
    hold(Ground::full(RULES), list)
}

fn hold(ground: Ground, list: &str) -> Ground {
    fs::write(ground.path("list.toml"), list).expect("a list");
    let list = ground.path("list.toml").display().to_string();
    let junit = ground.path("junit.xml").display().to_string();
    ground
        .option(&format!("--expect={list}"))
        .option(&format!("--junit={junit}"))
}

#[test]
fn a_session_that_executes_what_is_expected_ends_as_its_command() {
    let list = list(SCRIPT, &[]);
    for part in ["\"${cwd}/a\"", "\"/tmp/*\"", "\"a?\""] {
        assert!(list.contains(part), "{part} {list}");
    }
    for end in ["exit 0", "exit 3"] {
        let ground = held_to(&list);
        let ran = ground.sh(&format!("{SCRIPT}\n{end}"));
        assert_eq!(
            ran.code(),
            Some(i32::from(end == "exit 3") * 3),
            "{}",
            ran.stderr
        );
        assert!(!ran.stderr.contains("expects"), "{}", ran.stderr);
        let report = fs::read_to_string(ground.path("junit.xml")).expect("a report");
        assert!(report.contains("failures=\"0\""), "{report}");
    }
}

#[test]
fn what_is_not_expected_fails_a_session_that_has_not_failed() {
    let list = list(SCRIPT, &[]);
    for (end, code) in [("exit 0", 1), ("exit 5", 5)] {
        let ground = held_to(&list);
        let more =
            "/usr/bin/touch '<b> & \u{202e}'; /usr/bin/touch '<b> & \u{202e}'; /usr/bin/mkdir c";
        let ran = ground.sh(&format!("{SCRIPT}\n{more}\n{end}"));
        assert_eq!(ran.code(), Some(code), "{}", ran.stderr);
        let ids = |program: &str| ran.decisions(&[program])[0]["exec_id"].clone();
        let [touch, mkdir] = ["/usr/bin/touch", "/usr/bin/mkdir"].map(ids);
        assert!(touch.is_string() && mkdir.is_string());
        assert!(
            ran.stderr.contains("list.toml expects:\n"),
            "{}",
            ran.stderr
        );
        for line in [
            "+ /usr/bin/touch \"<b> & \\u{202e}\"  [".to_owned(),
            "] ran, 2 times\n".to_owned(),
            format!(
                "+ /usr/bin/mkdir c  [{}] refused (rule no-mkdir)\n",
                mkdir.as_str().unwrap()
            ),
        ] {
            assert!(ran.stderr.contains(&line), "{line} {}", ran.stderr);
        }
        assert!(!ground.has("c"));
        let report = fs::read_to_string(ground.path("junit.xml")).expect("a report");
        for part in [
            "failures=\"2\"",
            "not expected: ran, 2 times",
            "&lt;b&gt; &amp; \\u{202e}",
            "not expected: refused (rule no-mkdir)",
        ] {
            assert!(report.contains(part), "{part} {report}");
        }
        assert!(report.is_ascii(), "{report}");
    }
}

/// What it left running is known, too, or does not run.
#[test]
fn what_the_command_leaves_behind_is_not_missed() {
    let list = list(SCRIPT, &[]);
    let ground = held_to(&list);
    let ran = ground.sh(
        "/usr/bin/setsid /bin/sh -c '/usr/bin/touch late; exec sleep 1000' & \
         until [ -e late ]; do :; done",
    );
    assert_eq!(ran.code(), Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("+ /usr/bin/touch late"),
        "{}",
        ran.stderr
    );
    let is_left = || {
        let mut processes = fs::read_dir("/proc").expect("proc").flatten();
        let own = ground.path("list.toml").display().to_string();
        processes.any(|entry| {
            let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            words.escape_ascii().to_string().contains(&own)
        })
    };
    until("nobody of the session", || (!is_left()).then_some(()));
}

/// What the session makes of its list and report counts for nothing.
#[test]
fn the_list_is_the_one_that_was_there_before() {
    let list = list(SCRIPT, &[]);
    let ground = held_to(&list);
    fs::write(ground.path("other"), "kept").expect("a file");
    let ran = ground.sh(
        "printf 'version = 1\\n[[exec]]\\nprogram = \"*\"\\nargv = [\"**\"]\\n' >list.toml; \
         rm junit.xml; ln -s other junit.xml; /usr/bin/touch b",
    );
    assert_eq!(ran.code(), Some(1), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(ground.path("other")).unwrap(), "kept");
}

/// A list that has everything has neither what was loaded as something else than was judged, nor what a mount
/// of the session's own has a name for.
#[test]
fn what_is_not_what_it_is_called_is_expected_by_no_list() {
    let any = "version = 1\n[[exec]]\nprogram = \"**\"\nargv = [\"**\"]\n";
    let ground = held_to(any);
    let ran = run_with_own_loader(&ground);
    assert!(ground.has("marker"), "{}", ran.stderr);
    assert_eq!(ran.code(), Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("/t marker (loaded as something else: "),
        "{}",
        ran.stderr
    );
    // Where nothing is refused, what would have been killed is held to nothing.
    let rules = "[[deny]]\nid = \"d\"\nprogram = \"DIR/ld\"\n";
    let ground = hold(Ground::full(rules).option("--observe"), any);
    let ran = run_with_own_loader(&ground);
    assert_eq!(ran.outcome(&["./t", "marker"])["result"], "unverified");
    assert_eq!(ran.code(), Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("/t marker (held to nothing, since it was only observed"),
        "{}",
        ran.stderr
    );
    let ground = held_to(any);
    let ran = ground.sh(
        "unshare -Urm /bin/sh -c 'mount --bind /usr/bin/touch /usr/bin/true && exec /usr/bin/true marker'",
    );
    if !ground.has("marker") {
        return skip("nothing can be mounted in a user namespace here");
    }
    assert_eq!(ran.code(), Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("+ /usr/bin/true marker (in a mount namespace or root of its own)"),
        "{}",
        ran.stderr
    );
    // The twin.
    let ran = held_to(any).sh("unshare -Ur /usr/bin/true marker");
    assert_eq!(ran.code(), Some(0), "{}", ran.stderr);
}

/// What runs a script is a program as well.
#[test]
fn a_script_is_expected_with_what_runs_it() {
    let script = |interpreter: &str| {
        format!("printf '#!/usr/bin/{interpreter}\\n' >tool; chmod +x tool; ./tool")
    };
    let list = list(&script("cat"), &[]);
    assert!(list.contains("interpreter = \"/usr/bin/cat\""), "{list}");
    for (interpreter, code) in [("cat", 0), ("wc", 1)] {
        let ran = held_to(&list).sh(&script(interpreter));
        assert_eq!(ran.code(), Some(code), "{}", ran.stderr);
        let says = ran.stderr.contains("/tool (by /usr/bin/wc)  [");
        assert_eq!(says, code == 1, "{}", ran.stderr);
    }
}

#[test]
fn a_report_takes_the_place_of_neither_list_nor_log() {
    let list = "version = 1\n";
    for name in ["list.toml", "audit.jsonl"] {
        let ground = held_to(list);
        let at = ground.path(name).display().to_string();
        let ran = ground.only_option("--junit", &at).sh("/usr/bin/touch a");
        assert_eq!(ran.code(), Some(125), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("it is the list, or the log"),
            "{}",
            ran.stderr
        );
    }
    let ground = held_to(list);
    let _ran = ground.sh("/usr/bin/touch a");
    let log = fs::read(ground.path("audit.jsonl")).unwrap();
    for name in ["list.toml", "audit.jsonl"] {
        let words = [
            "audit",
            "expect",
            "--against",
            "list.toml",
            "--junit",
            name,
            "audit.jsonl",
        ];
        let output = ground.execward(&words);
        assert_eq!(output.status.code(), Some(7), "{}", said(&output));
    }
    assert_eq!(fs::read_to_string(ground.path("list.toml")).unwrap(), list);
    assert_eq!(fs::read(ground.path("audit.jsonl")).unwrap(), log);
}

/// Under the same uid the session may write to its log. What the gate wrote is known by its last digest.
#[test]
fn a_log_that_the_session_makes_itself_is_none() {
    let list = list("cat audit.jsonl; /usr/bin/touch b", &[]);
    let twice = "sed -i s/b/c/ audit.jsonl; /usr/bin/touch b";
    for script in [
        "/usr/bin/touch b; grep -v touch audit.jsonl >mine; cat mine >audit.jsonl; rm mine",
        "/usr/bin/touch b; cp audit.jsonl mine; rm audit.jsonl; mv mine audit.jsonl",
        twice,
    ] {
        let ground = held_to(&list);
        let allowed = "\n[[exec]]\nprogram = \"*\"\nargv = [\"**\"]\n";
        fs::write(ground.path("list.toml"), format!("{list}{allowed}")).expect("a list");
        let ran = ground.sh(script);
        assert_eq!(ran.code(), Some(1), "{script}: {}", ran.stderr);
        assert!(
            ran.stderr
                .contains("audit.jsonl is not what the gate wrote"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn a_list_with_faults_and_a_report_that_is_a_link_start_nothing() {
    let faulty = held_to("version = 1\n[[exec]]\nprogram = \"${a}\"\nargv = 1\n");
    let ran = faulty.sh("touch a");
    assert_eq!(ran.code(), Some(125));
    for place in ["list.toml:3:11: ", "list.toml:4:8: "] {
        assert!(ran.stderr.contains(place), "{}", ran.stderr);
    }
    let linked = held_to("version = 1\n");
    symlink("other", linked.path("junit.xml")).expect("a link");
    let ran = linked.sh("touch a");
    assert_eq!(ran.code(), Some(125), "{}", ran.stderr);
    assert!(ran.stderr.contains("junit.xml"), "{}", ran.stderr);
    for ground in [faulty, linked] {
        assert!(!ground.has("a") && !ground.has("other") && !ground.has("audit.jsonl"));
    }
}

#[test]
fn how_often_counts_where_the_list_says_it() {
    // What several entries are of counts for the one that says it.
    let twice = "/usr/bin/touch /tmp/x; /usr/bin/touch '?'; /usr/bin/touch a; /usr/bin/touch a";
    let [plain, counted] = [&[][..], &["--counts"]].map(|counts| list(twice, counts));
    assert!(
        counted.contains("count = 2\n") && !plain.contains("\ncount = "),
        "{counted}"
    );
    for (list, script, code) in [
        (&plain, "/usr/bin/touch a", 0),
        (&counted, twice, 0),
        (
            &counted,
            &twice[..twice.len() - "; /usr/bin/touch a".len()],
            1,
        ),
    ] {
        let ran = held_to(list).sh(script);
        assert_eq!(ran.code(), Some(code), "{}", ran.stderr);
        let says = ran
            .stderr
            .contains("~ /usr/bin/touch a  1 instead of 2 times");
        assert_eq!(says, code == 1, "{}", ran.stderr);
    }
}

#[test]
fn a_log_is_held_to_a_list_afterwards() {
    let ground = held_to(&list("/usr/bin/touch a; /usr/bin/true", &[]));
    let _ran = ground.sh("/usr/bin/touch a; /usr/bin/touch c");
    let against = |log: &str| {
        let words = ["audit", "expect", "--against", "list.toml", log];
        let output = ground.execward(&words);
        (output.status.code(), said(&output))
    };
    let (code, said) = against("audit.jsonl");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("+ /usr/bin/touch c"), "{said}");
    assert!(
        said.contains("  /usr/bin/true  never, which is no failure"),
        "{said}"
    );
    let _ran = ground.sh("/usr/bin/touch a");
    let (code, said) = against("audit.jsonl");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("every exec is expected: "), "{said}");
    // What is not known is not as expected.
    let log = fs::read_to_string(ground.path("audit.jsonl")).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    for (what, edited) in [
        ("nothing", String::new()),
        ("no end", lines[..lines.len() - 1].join("\n")),
        ("no start", lines[1..].join("\n")),
        (
            "a line less",
            [&lines[..3], &lines[4..]].concat().join("\n"),
        ),
        (
            "a word changed",
            log.replace("/usr/bin/touch", "/usr/bin/torch"),
        ),
        ("a line that is none", format!("{log}{{\"v\":")),
    ] {
        fs::write(ground.path("edited.jsonl"), edited).unwrap();
        let (code, said) = against("edited.jsonl");
        assert_eq!(code, Some(4), "{what}: {said}");
        assert!(
            said.contains("what was executed is not all known"),
            "{what}: {said}"
        );
    }
    let (code, said) = against("nowhere.jsonl");
    assert_eq!(code, Some(7), "{said}");
    let words = [
        "audit",
        "expect",
        "--learn",
        "-o",
        "list.toml",
        "audit.jsonl",
    ];
    let (code, said) = ground.says(&words);
    assert_eq!(code, Some(1), "{said}");
}
