use super::*;
use crate::places::Places;
use crate::preset::{PRESETS, preset};
use crate::source::{NoIncludes, Source};

/// Home, workspace and `/tmp` are the session's; `/etc` and the directories of `/usr` are there, with
/// `git`, `npm` and `python3`.
struct Here;

impl Machine for Here {
    fn is_writable(&self, path: &[u8]) -> bool {
        [&b"/home/u"[..], b"/w", b"/tmp"]
            .iter()
            .any(|place| path.starts_with(place))
    }

    fn is_directory(&self, path: &[u8]) -> bool {
        [&b"/etc"[..], b"/usr/bin"].contains(&path)
    }

    fn is_there(&self, path: &[u8]) -> bool {
        let names = ["git", "npm", "python3", "make", "curl", "busybox", "weird"];
        let mut paths = names.iter().map(|name| format!("/usr/bin/{name}"));
        self.is_directory(path) || paths.any(|it| it.as_bytes() == path)
    }
}

fn lint(sources: &[(Layer, &str)]) -> Vec<Warning> {
    let sources: Vec<Source<'_>> = sources
        .iter()
        .map(|(layer, text)| Source {
            name: "p",
            text: text.as_bytes(),
            layer: *layer,
        })
        .collect();
    let rules = Ruleset::load(&sources, &Places::of_tests(), &NoIncludes);
    let rules = rules.unwrap_or_else(|faults| panic!("{faults}"));
    rules.lint(&Here, "2026-01-01T00:00:00Z".parse().unwrap())
}

/// The kind of each warning, with the id of its rule.
fn kinds(rules: &str) -> Vec<String> {
    let text = format!("version = 1\nmode.security = \"allowlist\"\n{rules}");
    let warnings = lint(&[(Layer::User, &text)]);
    let shown = warnings.iter().map(|warning| match &warning.rule {
        Some((id, ..)) => format!("{id}: {}", warning.kind),
        None => warning.kind.to_owned(),
    });
    shown.collect()
}

fn rule(action: &str, id: &str, keys: &str) -> String {
    format!("[[{action}]]\nid = \"{id}\"\n{keys}\n")
}

/// Keys of an allow with a fault, those of its twin, and the kind of the fault.
const FAULTS: &[(&str, &str, &str)] = &[
    (
        "program = \"~/bin/tool\"",
        "program = \"/usr/bin/git\"",
        "writable-program",
    ),
    (
        "program = \"${workspace}/bin/*\"",
        "program = \"/usr/bin/*\"",
        "writable-program",
    ),
    (
        "command = \"/tmp/x run\"",
        "command = \"git status\"",
        "writable-program",
    ),
    (
        "program = \"~/bin/tool\"\nscript = \"/w/a\"\nsha256 = \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"",
        "program = \"~/bin/tool\"\nsha256 = \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"",
        "writable-program",
    ),
    (
        "command = \"npm run x\"\nchildren = [\"${workspace}/node_modules/**\"]",
        "command = \"npm run x\"\nchildren = [\"/usr/bin/*\"]",
        "writable-children",
    ),
    (
        "command = \"make x\"\nchildren = \"/**\"",
        "command = \"make x\"\nchildren = \"/usr/**\"",
        "any-children",
    ),
    (
        "program = \"python3\"",
        "command = \"python3 -m pytest\"",
        "any-script",
    ),
    (
        "command = \"python3\"",
        "command = \"python3 -V\"",
        "any-script",
    ),
    ("program = \"/**\"", "program = \"/usr/**\"", "any-program"),
    (
        "program = \"/*/bin/x\"",
        "program = \"/usr/*/x\"",
        "any-program",
    ),
    (
        "program = \"@interpreters\"",
        "program = \"@shells\"",
        "any-script",
    ),
    (
        "program = \"/usr/bin/python3\"",
        "program = \"python3\"\nscript = \"/usr/x.py\"",
        "any-script",
    ),
    (
        "program = \"/usr/bin/busybox\"",
        "command = \"busybox cat\"",
        "multicall-name",
    ),
    (
        "command = \"git log\"\nexpires = 2025-12-31T00:00:00Z",
        "command = \"git log\"\nexpires = 2026-01-02T00:00:00Z",
        "cannot-hold",
    ),
    (
        "command = [\"git log\", \"!git log\"]",
        "command = [\"git log\", \"!git log -p\"]",
        "cannot-hold",
    ),
    (
        "program = \"/usr/bin/git\"\ncommand = \"npm run x\"",
        "program = \"/usr/bin/git\"\ncommand = \"git log\"",
        "cannot-hold",
    ),
    (
        "command = \"weird\"\nhost = \"pypi.org\"",
        "command = \"curl\"\nhost = \"pypi.org\"",
        "cannot-hold",
    ),
    (
        "command = \"gti log\"",
        "command = \"git log\"",
        "missing-program",
    ),
    (
        "program = \"/opt/none\"",
        "program = \"/usr/bin/git\"",
        "missing-program",
    ),
];

#[test]
fn each_fault_is_told_and_its_harmless_twin_is_not() {
    for (fault, twin, kind) in FAULTS {
        assert_eq!(
            kinds(&rule("allow", "r", fault)),
            [format!("r: {kind}")],
            "{fault}"
        );
        assert_eq!(kinds(&rule("allow", "r", twin)), [""; 0], "{twin}");
    }
    for (fault, twin, kind) in [
        ("path = \"/etc\"", "path = \"/etc/\"", "directory-alone"),
        (
            "path = [\"/etc/passwd\", \"/usr/bin\"]",
            "path = \"/etc/passwd\"",
            "directory-alone",
        ),
        (
            "program = \"busybox\"",
            "command = \"busybox cat\"",
            "multicall-name",
        ),
        (
            "program = \"@multicall\"",
            "program = \"@loaders\"",
            "multicall-name",
        ),
    ] {
        assert_eq!(
            kinds(&rule("deny", "r", fault)),
            [format!("r: {kind}")],
            "{fault}"
        );
        assert_eq!(kinds(&rule("deny", "r", twin)), [""; 0], "{twin}");
    }
}

#[test]
fn a_rule_that_another_leaves_nothing_to_is_told() {
    for (first, second, expected) in [
        (
            ("allow", "command = \"git log\""),
            ("allow", "command = [\"git log\"]"),
            "b: duplicate",
        ),
        (
            ("deny", "path = \"/x\""),
            ("deny", "path = \"/x\""),
            "b: duplicate",
        ),
        (
            ("deny", "command = \"git push\""),
            ("allow", "command = \"git push origin\""),
            "b: shadowed",
        ),
        (
            ("deny", "program = \"git\""),
            ("allow", "command = \"/usr/bin/git push\""),
            "b: shadowed",
        ),
        (
            ("deny", "command = \"git push\""),
            ("ask", "command = \"git push\"\nflags = \"-f\""),
            "b: shadowed",
        ),
        (
            ("ask", "command = \"curl\""),
            ("allow", "command = \"curl\"\nhost = \"a.b\""),
            "b: unreachable",
        ),
        (
            ("ask", "env = \"X=1\""),
            ("allow", "command = \"curl\"\nenv = \"X=1\""),
            "b: unreachable",
        ),
    ] {
        let rules = rule(first.0, "a", first.1) + &rule(second.0, "b", second.1);
        assert_eq!(kinds(&rules), [expected], "{first:?} {second:?}");
    }
}

#[test]
fn a_rule_that_another_leaves_something_to_is_not() {
    for (first, second) in [
        (
            ("allow", "command = \"git log\""),
            ("allow", "command = \"git log -p\""),
        ),
        (
            ("allow", "command = \"git log\""),
            ("deny", "command = \"git log\"\nflags = \"-p\""),
        ),
        (
            ("deny", "command = \"git push\"\nflags = \"-f\""),
            ("allow", "command = \"git push\""),
        ),
        (
            ("deny", "command = \"git push\""),
            ("allow", "command = \"git\""),
        ),
        (
            ("deny", "command = [\"git *\", \"!git log\"]"),
            ("allow", "command = \"git log\""),
        ),
        (
            (
                "deny",
                "program = \"/usr/bin/git\"\nexpires = 2027-01-01T00:00:00Z",
            ),
            ("allow", "program = \"/usr/bin/git\""),
        ),
        (
            ("ask", "command = \"curl\"\nhost = \"a.b\""),
            ("allow", "command = \"curl\""),
        ),
        (("deny", "path = \"/x/\""), ("allow", "command = \"curl\"")),
        (
            ("deny", "program = \"git\"\ncommand = \"git push\""),
            ("allow", "command = \"git push\""),
        ),
    ] {
        let rules = rule(first.0, "a", first.1) + &rule(second.0, "b", second.1);
        assert_eq!(kinds(&rules), [""; 0], "{first:?} {second:?}");
    }
}

#[test]
fn a_question_that_a_higher_layer_always_answers_is_told() {
    let agent = "version = 1\n[[ask]]\nid = \"push\"\ncommand = \"git push\"\n";
    let user = |keys: &str| {
        let text = format!(
            "version = 1\nmode.security = \"allowlist\"\n{}",
            rule("allow", "u", keys)
        );
        let warnings = lint(&[(Layer::Agent, agent), (Layer::User, &text)]);
        warnings.iter().map(|it| it.kind).collect::<Vec<_>>()
    };
    assert_eq!(user("command = \"git push\""), ["always-lifted"]);
    assert_eq!(user("command = \"git push\"\nhost = \"a.b\""), [""; 0]);
    assert_eq!(user("command = \"git pull\""), [""; 0]);
}

#[test]
fn modes_that_contradict_themselves_are_told() {
    let lint_mode = |mode: &str, rules: &str| {
        let text = format!("version = 1\n[mode]\n{mode}\n{rules}");
        lint(&[(Layer::User, &text)]).len()
    };
    let (ask, allow) = (
        rule("ask", "a", "command = \"git push\""),
        rule("allow", "b", "command = \"git log\""),
    );
    for (mode, rules) in [
        ("security = \"deny\"", allow.as_str()),
        ("security = \"allowlist\"\nask_fallback = \"full\"", ""),
        ("security = \"full\"\nask = \"off\"", &ask),
        (
            "security = \"full\"\nask = \"always\"\napproval = \"never\"",
            "",
        ),
    ] {
        assert_eq!(lint_mode(mode, rules), 1, "{mode}");
    }
    for (mode, rules) in [
        ("security = \"deny\"", ""),
        ("security = \"full\"\nask_fallback = \"full\"", ask.as_str()),
        ("security = \"full\"\nask = \"off\"", &allow),
        (
            "security = \"full\"\nask = \"off\"\napproval = \"never\"",
            "",
        ),
    ] {
        assert_eq!(lint_mode(mode, rules), 0, "{mode}");
    }
    let dirs = "version = 1\ntrusted_dirs = [\"~/bin\", \"/opt/bin\"]\nmode.security = \"full\"";
    let warnings = lint(&[(Layer::User, dirs)]);
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].to_string().contains("/home/u/bin"),
        "{}",
        warnings[0]
    );
}

#[test]
fn of_the_presets_there_is_nothing_to_say() {
    for name in PRESETS {
        let warnings = lint(&[(Layer::Builtin, preset(name).unwrap())]);
        assert_eq!(warnings, [], "{name}");
    }
}

/// Many rules of one program are held against one another, and it does not take long.
#[test]
fn ten_thousand_rules_are_soon_told() {
    let rules = (0..10_000).map(|number| {
        rule(
            "allow",
            &format!("r{number}"),
            &format!("command = \"git v{number}\""),
        )
    });
    assert_eq!(kinds(&rules.collect::<String>()), [""; 0]);
}
