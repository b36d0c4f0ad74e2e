//! `audit tree`.

use std::fs;

use execward_tests::Ground;

use super::{HOSTILE, RULES, ground, holds_for_any_log, is_plain, json, written};

#[test]
fn a_sessions_execs_stand_below_what_started_them() {
    let ground = ground();
    let text = holds_for_any_log(&ground, &["audit", "tree"]);
    assert!(is_plain(&text), "{text}");
    for part in [
        "/usr/bin/true x  x 3, the last at ",
        "REFUSED    +-- /usr/bin/mkdir \"</script><img src=x onerror=alert(1)>\\u{202e}\\u{1b}[2J\\n=1+1\"  (rule no-mkdir)\n",
        "(rule ask-touch, no_approver)\n",
        "/usr/bin/true \"a\\u{fffd}\"\n",
    ] {
        assert!(text.contains(part), "{part} {text}");
    }
    let below = text
        .lines()
        .position(|line| line.ends_with("/usr/bin/true below"));
    let lines: Vec<_> = text.lines().collect();
    let below = below.expect("a line");
    assert!(
        lines[below - 1].contains("-c \"/usr/bin/true below; :\""),
        "{text}"
    );
    let column = |line: &str, word: &str| line.find(word).expect("a word");
    let above = column(lines[below - 1], "+-- ");
    assert_eq!(column(lines[below], "`-- "), above + "+-- ".len(), "{text}");
    let tree = json(&written(
        &ground,
        &["audit", "tree", "--json", "audit.jsonl"],
        0,
    ));
    let processes = tree["processes"].as_array().expect("processes");
    assert_eq!(
        [&processes[0]["origin"], &processes[1]["origin"]],
        ["command", "parent"]
    );
    let execs: usize = processes
        .iter()
        .map(|process| process["execs"].as_array().expect("execs").len())
        .sum();
    let records = ground.records();
    assert_eq!(records.last().expect("an end")["count"]["decisions"], execs);
}

#[test]
fn a_page_is_written_over_no_other_file_and_runs_nothing() {
    let ground = ground();
    let words = ["audit", "tree", "--html", "tree.html", "audit.jsonl"];
    assert_eq!(written(&ground, &words, 0), "wrote tree.html\n");
    let page = fs::read_to_string(ground.path("tree.html")).expect("a page");
    assert!(is_plain(&page), "{page}");
    assert!(HOSTILE.contains("<img") && !page.contains("<img") && !page.contains("<script"));
    for part in [
        "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;\\u{202e}",
        "&#10005; REFUSED",
        "default-src 'none'",
        "&#215; 3</span>",
        "prefers-color-scheme: dark",
    ] {
        assert!(page.contains(part), "{part} {page}");
    }
    for outside in ["http:", "https:", "url(", "@import", " src=\"", "href"] {
        assert!(!page.contains(outside), "{outside} {page}");
    }
    written(&ground, &words, 1);
    let again = fs::read_to_string(ground.path("tree.html")).expect("a page");
    assert_eq!(again, page);
    let nowhere = ["audit", "tree", "--html", "no/tree.html", "audit.jsonl"];
    written(&ground, &nowhere, 7);
}

#[test]
fn of_several_sessions_the_one_that_is_named_is_drawn() {
    let log = |name: &str, script: &str| {
        let ground = Ground::full(RULES)
            .only_option("--session", name)
            .option("--prompt=none");
        let _ran = ground.sh(script);
        let _records = ground.records_at_end();
        fs::read_to_string(ground.path("audit.jsonl")).expect("a log")
    };
    let ground = Ground::full(RULES);
    let (first, second) = (log("first", "/usr/bin/true"), log("second", "/usr/bin/id"));
    fs::write(ground.path("both.jsonl"), first + &second).expect("a log");
    for (words, name) in [
        (&["audit", "tree", "both.jsonl"][..], "second"),
        (
            &["audit", "tree", "--session", "first", "both.jsonl"],
            "first",
        ),
    ] {
        let text = written(&ground, words, 0);
        assert!(text.starts_with(&format!("session {name}: ")), "{text}");
        assert_eq!(text.contains("/usr/bin/true"), name == "first", "{text}");
    }
    let other = ["audit", "tree", "--session", "third", "both.jsonl"];
    assert_eq!(ground.execward(&other).status.code(), Some(1));
}
