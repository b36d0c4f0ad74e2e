//! Other names of verbs.

use super::*;

/// What `rule`, as an allow and as a deny, decides about `line`.
fn both(rule: &str, line: &str) -> (Decision, Decision) {
    let allow = policy(&format!("[[allow]]\nid = 'a'\ncommand = '{rule}'"));
    let deny =
        format!("version = 1\nmode.security = 'full'\n[[deny]]\nid = 'd'\ncommand = '{rule}'");
    let deny = load(&[(&deny, Layer::User)]);
    (decide(&allow, line), decide(&deny, line))
}

#[test]
fn a_verb_is_meant_by_each_of_its_names() {
    for (names, rest) in [
        (&["npm install", "npm i", "npm add"][..], " x"),
        (
            &["npm uninstall", "npm rm", "npm r", "npm un", "npm unlink"],
            " x",
        ),
        (
            &[
                "npm test",
                "npm t",
                "npm tst",
                "npm run test",
                "npm run-script test",
            ],
            "",
        ),
        (&["npm run lint", "npm run-script lint", "npm rum lint"], ""),
        (&["npm exec x", "npm x x"], ""),
        (&["cargo test", "cargo t"], ""),
        (&["cargo build", "cargo b"], " --release"),
        (&["docker run", "docker container run"], " image"),
        (
            &["docker ps", "docker container ls", "docker container list"],
            " -a",
        ),
        (
            &["docker rmi", "docker image rm", "docker image remove"],
            " x",
        ),
        (&["docker build", "docker image build"], " ."),
        (&["git add", "git stage"], " x"),
        (&["git remote remove", "git remote rm"], " x"),
        (&["helm uninstall", "helm del"], " x"),
        (&["brew uninstall", "brew rm"], " x"),
        (&["pnpm remove", "pnpm rm", "pnpm un"], " x"),
        (&["ip address", "ip addr", "ip a"], ""),
    ] {
        for rule in names {
            for name in names {
                let line = format!("/usr/bin/{name}{rest}");
                let expected = (Decision::Allow, Decision::Deny);
                assert_eq!(both(rule, &line), expected, "{rule}: {line}");
            }
        }
    }
}

#[test]
fn one_verb_is_not_meant_by_the_name_of_another() {
    for (rule, line) in [
        ("npm install", "/usr/bin/npm uninstall x"),
        ("npm i", "/usr/bin/npm init"),
        ("docker run", "/usr/bin/docker container rm x"),
        ("docker container run", "/usr/bin/docker image run x"),
        ("git remote rm", "/usr/bin/git rm x"),
        ("cargo b", "/usr/bin/cargo bench"),
    ] {
        assert_eq!(
            both(rule, line),
            (Decision::Ask, Decision::Allow),
            "{rule}: {line}"
        );
    }
}

#[test]
fn flags_are_those_of_the_verb_whatever_it_is_called() {
    let ruleset = policy(
        "[[allow]]\nid = 'a'\ncommand = 'docker container run --rm'\nflags = '-i'\n\
         [[deny]]\nid = 'd'\ncommand = 'git stage -f'",
    );
    for (line, decision) in [
        ("/usr/bin/docker run --rm -i x", Decision::Allow),
        ("/usr/bin/docker container run -i --rm x", Decision::Allow),
        ("/usr/bin/docker run -i x", Decision::Ask),
        ("/usr/bin/docker run --rm -v /:/h x", Decision::Ask),
        ("/usr/bin/git add --force x", Decision::Deny),
        ("/usr/bin/git add x", Decision::Ask),
    ] {
        assert_eq!(decide(&ruleset, line), decision, "{line}");
    }
}

#[test]
fn a_family_has_its_members_under_their_short_names_in_doubt() {
    let (allow, deny) = (Decision::Allow, Decision::Deny);
    for (rule, line, expected) in [
        (
            "docker container",
            "/usr/bin/docker run x",
            (Decision::Ask, deny),
        ),
        (
            "docker container",
            "/usr/bin/docker container rm x",
            (Decision::Ask, deny),
        ),
        (
            "docker container",
            "/usr/bin/docker pull x",
            (Decision::Ask, allow),
        ),
        (
            "docker container *",
            "/usr/bin/docker container run x",
            (allow, deny),
        ),
        ("npm ins*", "/usr/bin/npm i x", (allow, deny)),
        ("npm run", "/usr/bin/npm test", (Decision::Ask, deny)),
    ] {
        assert_eq!(both(rule, line), expected, "{rule}: {line}");
    }
}

#[test]
fn a_verb_that_is_cut_short_or_left_out_is_a_doubt() {
    for (rule, line) in [
        ("npm publish", "/usr/bin/npm publi"),
        ("npm install", "/usr/bin/npm --unknown i x"),
        ("npm uninstall", "/usr/bin/npm remov x"),
        ("tmux kill-server", "/usr/bin/tmux kill-ser"),
        ("pnpm run build", "/usr/bin/pnpm build"),
        ("pnpm build", "/usr/bin/pnpm run build"),
        ("yarn run", "/usr/bin/yarn build"),
    ] {
        assert_eq!(
            both(rule, line),
            (Decision::Ask, Decision::Deny),
            "{rule}: {line}"
        );
    }
    for (rule, line) in [
        ("npm install", "/usr/bin/npm install-test"),
        ("yarn run", "/usr/bin/yarn add x"),
        ("pnpm run build", "/usr/bin/pnpm install build"),
    ] {
        assert_eq!(both(rule, line).1, Decision::Allow, "{rule}: {line}");
    }
}

#[test]
fn an_allow_lifts_an_ask_that_says_the_same_in_more_words() {
    let ruleset = load(&[
        (
            "version = 1\nmode.security = 'allowlist'\n[[allow]]\nid = 'a'\ncommand = 'docker run'",
            Layer::User,
        ),
        (
            "version = 1\nlayer = 'agent'\n[[ask]]\nid = 'q'\ncommand = 'docker container run'",
            Layer::Agent,
        ),
    ]);
    assert_eq!(
        decide(&ruleset, "/usr/bin/docker container run x"),
        Decision::Allow
    );
}
