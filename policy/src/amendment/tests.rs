use std::fmt::Write as _;

use super::*;
use crate::request::{Destination, ProgramFile};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

const RULES: &str = r#"
    version = 1
    mode.security = "allowlist"
    [[ask]]
    id = "force"
    command = "git push"
    flags = "--force"
    [[ask]]
    id = "prod"
    command = "kubectl"
    flags = "--context=prod"
"#;

pub(super) fn policy(text: &str) -> Ruleset {
    let source = Source {
        name: "p",
        text: text.as_bytes(),
        layer: Layer::User,
    };
    Ruleset::load(&[source], &Places::of_tests(), &NoIncludes).unwrap_or_else(|it| panic!("{it}"))
}

pub(super) fn call(line: &str) -> ExecRequest {
    let argv: Vec<Vec<u8>> = line.split(' ').map(Into::into).collect();
    let name = line.split(' ').next().unwrap();
    let path = match name.contains('/') {
        true => name.to_owned(),
        false => format!("/usr/bin/{name}"),
    };
    let mut request = ExecRequest {
        cwd: Some(b"/w".to_vec()),
        ..ExecRequest::new(ProgramFile::at(path), argv)
    };
    for path in policy("version = 1\nmode.security = \"full\"\n[[deny]]\nid = \"a\"\npath = \"/x\"")
        .named_paths(&request)
    {
        let destination = Destination::as_written(&path);
        request.destinations.insert(path, destination);
    }
    request
}

/// What is offered, one scope a line, with the words that the rule has.
fn offered(rules: &str, request: &ExecRequest) -> String {
    let amendments = policy(rules).amendments(request, "a", NOW);
    let mut text = String::new();
    for amendment in amendments {
        let rule = amendment
            .rule
            .lines()
            .skip(2)
            .collect::<Vec<_>>()
            .join("; ");
        writeln!(text, "{}: {rule}", amendment.scope).unwrap();
    }
    text
}

const EXACT: &str = "exact: program = \"/usr/bin/git\"; argv = [\"git\", ";

#[test]
fn each_scope_is_a_rule() {
    for (line, expected) in [
        (
            "git push -u origin",
            format!(
                "{EXACT}\"push\", \"-u\", \"origin\"]; cwd = \"/w\"\n\
                 flags: command = \"git push\"; flags = \"-u\"\nprefix: command = \"git push\"\n\
                 program: program = \"/usr/bin/git\"\n"
            ),
        ),
        (
            "git -C sub status",
            format!(
                "{EXACT}\"-C\", \"sub\", \"status\"]; cwd = [\"/w\", \"/w/sub\"]\n\
                 flags: command = \"git status\"; flags = \"-C\"\nprefix: command = \"git status\"\n\
                 program: program = \"/usr/bin/git\"\n"
            ),
        ),
        (
            "curl -sS https://pypi.org/x",
            "exact: program = \"/usr/bin/curl\"; argv = [\"curl\", \"-sS\", \
             \"https://pypi.org/x\"]; cwd = \"/w\"\n\
             flags: command = \"curl\"; flags = [\"-S\", \"-s\"]; host = \"pypi.org:443\"\n\
             prefix: command = \"curl\"; host = \"pypi.org:443\"\n\
             program: program = \"/usr/bin/curl\"\n"
                .to_owned(),
        ),
        (
            "npm run build",
            "exact: program = \"/usr/bin/npm\"; argv = [\"npm\", \"run\", \"build\"]; cwd = \"/w\"\n\
             flags: command = \"npm run build\"; flags = \"!*\"\n\
             prefix: command = \"npm run build\"\n"
                .to_owned(),
        ),
        (
            "/opt/tool x",
            "exact: program = \"/opt/tool\"; argv = [\"tool\", \"x\"]; cwd = \"/w\"\n\
             flags: command = \"/opt/tool\"; flags = \"!*\"\n\
             prefix: command = \"/opt/tool\"\nprogram: program = \"/opt/tool\"\n"
                .to_owned(),
        ),
    ] {
        assert_eq!(offered(RULES, &call(line)), expected, "{line}");
    }
}

#[test]
fn what_its_arguments_make_of_it_is_never_offered() {
    for line in [
        "bash -c ls",
        "sh",
        "python3 -m a",
        "node -e x",
        "env ls",
        "sudo ls",
        "xargs rm",
        "npx eslint",
        "uvx ruff",
        "npm exec x",
        "busybox ls",
        "docker ps",
        "git",
        "npm",
        "/lib64/ld-linux-x86-64.so.2 /bin/ls",
        "find . -delete",
    ] {
        assert_eq!(offered(RULES, &call(line)), "", "{line}");
    }
    let mut suid = call("tool x");
    suid.program.gains_rights = true;
    // Root lacks none of them.
    let mut suid_of_root = call("tool x");
    suid_of_root.program.brings_rights = true;
    let mut unresolved = call("tool x");
    unresolved.program.resolved = None;
    let mut foreign = call("tool x");
    foreign.program.origin = Origin::Foreign;
    let mut memory = call("tool x");
    memory.program.origin = Origin::Anonymous;
    for request in [suid, suid_of_root, unresolved, foreign, memory] {
        assert_eq!(offered(RULES, &request), "");
    }
    // By a link of that name it is one too.
    let mut linked = call("npx x");
    linked.program.resolved = Some(b"/usr/lib/npm/npx-cli.js".to_vec());
    assert_eq!(offered(RULES, &linked), "");
}

/// What would be asked about all the same is not offered: a question that names more than the rule,
/// one in every mode, one about variables.
#[test]
fn what_would_not_help_is_not_offered() {
    let scopes = |rules: &str, line: &str| {
        let amendments = policy(rules).amendments(&call(line), "a", NOW);
        amendments.iter().map(|it| it.scope).collect::<Vec<_>>()
    };
    // The same layer asks.
    assert_eq!(scopes(RULES, "git push --force"), []);
    let scopes_of_ls = Scope::ALL;
    assert_eq!(scopes(RULES, "ls"), scopes_of_ls);
    let always = "version = 1\nmode.security = \"allowlist\"\nmode.ask = \"always\"";
    assert_eq!(scopes(always, "ls"), []);
    let mut preloaded = call("ls");
    preloaded.env = Some([b"LD_PRELOAD=/tmp/x.so".to_vec()].into());
    assert_eq!(offered(RULES, &preloaded), "");
    // Nobody reads so much.
    let mut long = call("ls x");
    long.argv.push(vec![b'x'; 1 << 20]);
    assert!(!offered(RULES, &long).contains("exact"));
    // What is allowed or denied is no question.
    let allowed = format!("{RULES}[[allow]]\nid = \"ls\"\ncommand = \"ls\"\n");
    assert_eq!(scopes(&allowed, "ls"), []);
    let off = "version = 1\nmode.security = \"allowlist\"\nmode.ask = \"off\"";
    assert_eq!(scopes(off, "ls"), []);
}

/// A question of a lower layer is answered by what names it.
#[test]
fn a_question_of_a_lower_layer_is_answered() {
    let sources = [
        (
            "agent",
            Layer::Agent,
            "version = 1\n[[ask]]\nid = \"force\"\ncommand = \"git push\"\nflags = \"--force\"\n",
        ),
        (
            "user",
            Layer::User,
            "version = 1\nmode.security = \"allowlist\"\n",
        ),
    ];
    let sources = sources.map(|(name, layer, text)| Source {
        name,
        text: text.as_bytes(),
        layer,
    });
    let rules = Ruleset::load(&sources, &Places::of_tests(), &NoIncludes).unwrap();
    let amendments = rules.amendments(&call("git push --force"), "a", NOW);
    let scopes: Vec<_> = amendments.iter().map(|it| it.scope).collect();
    assert_eq!(scopes, [Scope::Exact, Scope::Flags]);
}

#[test]
fn what_is_saved_lets_the_call_and_its_like_run_and_no_other() {
    for (line, scope, like, unlike) in [
        (
            "git push -u o",
            Scope::Exact,
            "git push -u o",
            "git push -u p",
        ),
        ("git push -u o", Scope::Flags, "git push x", "git push -q x"),
        ("git push -u o", Scope::Prefix, "git push -q x", "git pull"),
        (
            "git push -u o",
            Scope::Program,
            "git pull --rebase",
            "/opt/git pull",
        ),
        (
            "curl https://a.example/x",
            Scope::Prefix,
            "curl -s https://a.example",
            "curl https://b.example",
        ),
        (
            "npm run build",
            Scope::Prefix,
            "npm run build -- x",
            "npm run deploy",
        ),
        (
            "cargo test -q",
            Scope::Flags,
            "cargo test",
            "cargo test --release",
        ),
        ("tool -x=1 a", Scope::Flags, "tool b", "tool -y"),
    ] {
        let amendments = policy(RULES).amendments(&call(line), "a", NOW);
        let amendment = amendments.iter().find(|it| it.scope == scope);
        let amendment = amendment.unwrap_or_else(|| panic!("{line}: no {scope}"));
        let saved = policy(&format!("{RULES}{}", amendment.rule));
        let decide = |line: &str| saved.decide(&call(line), NOW).decision();
        assert_eq!(decide(line), Decision::Allow, "{line} {scope}");
        assert_eq!(decide(like), Decision::Allow, "{like} {scope}");
        assert_eq!(decide(unlike), Decision::Ask, "{unlike} {scope}");
    }
}

#[test]
fn what_an_exact_rule_covers_tells_its_words_apart() {
    let mut request = call("touch a");
    request.argv = ["touch", "a b", "", "\"c"]
        .map(|word| word.as_bytes().to_vec())
        .into();
    let amendments = policy(RULES).amendments(&request, "a", NOW);
    assert_eq!(
        amendments[0].covers,
        r#"`touch "a b" "" "\"c"` in /w, and no other call"#
    );
}

#[test]
fn a_script_is_offered_with_its_content_and_an_interpreter_alone_is_not() {
    for (line, offered) in [
        ("python3 /w/a.py x", "exact"),
        ("sh /w/a.sh", "exact"),
        ("python3 -c code /w/a.py", ""),
        ("bash -s /w/a.sh", ""),
        ("python3", ""),
        ("bash -c ls /w/a.sh", ""),
        ("env python3 /w/a.py", ""),
        // What options name runs too, and its content is not known.
        ("node -r /w/b.js /w/a.js", ""),
        ("node --import=/w/b.js /w/a.js", ""),
        ("perl -MX /w/a.pl", ""),
        ("perl -I. -w /w/a.pl", ""),
        ("python3 --unknown /w/a.py", ""),
        ("perl -w /w/a.pl", "exact"),
        ("node /w/a.js", "exact"),
        ("deno run --preload /w/b.ts /w/a.ts", ""),
    ] {
        let request = call(line);
        let amendments = policy(RULES).amendments(&request, "a", NOW);
        let scopes: Vec<_> = amendments.iter().map(|it| it.scope.as_str()).collect();
        assert_eq!(scopes.join(" "), offered, "{line}");
        for amendment in amendments {
            let script = line.split(' ').find(|word| word.starts_with("/w/"));
            let script = script.unwrap();
            assert_eq!(amendment.content, Content::Script(script.into()));
            assert!(amendment.covers.ends_with("as the script is now"));
        }
    }
}
