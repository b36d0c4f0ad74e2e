//! Commands whose grammar is known: twins, clusters, abbreviations, what is dangerous.

use super::*;

/// Whether the one rule holds for each call: for an allow, whether it permits.
fn assert_holds(rule: &str, calls: &[(&str, bool)]) {
    let ruleset = policy(rule);
    let is_allow = rule.starts_with("[[allow]]");
    for (call, holds) in calls {
        let decision = decide(&ruleset, &format!("/usr/bin/{call}"));
        let does = match is_allow {
            true => decision == Decision::Allow,
            false => decision == Decision::Deny,
        };
        assert_eq!(does, *holds, "{rule}: {call}");
    }
}

#[test]
fn an_allow_of_a_command_covers_its_ordinary_flags() {
    assert_holds(
        "[[allow]]\nid = 'a'\ncommand = ['git log', 'git diff', 'git commit']",
        &[
            ("git log --oneline -3", true),
            ("git -C sub --no-pager log -p", true),
            ("git commit -m push", true),
            ("git log --output=x", false),
            ("git log --outp x", false),
            ("git diff --ext-diff", false),
            ("git diff --nonsense", true),
            ("git -c core.pager=x log", false),
            ("git --exec-path=/tmp log", false),
            ("git --nonsense log", false),
            ("git log -- --output=x", true),
        ],
    );
    assert_holds(
        "[[allow]]\nid = 'a'\ncommand = 'sort'",
        &[
            ("sort -rnk2 f", true),
            ("sort -k 2 f", true),
            ("sort -o f f", false),
            ("sort -nof f", false),
            ("sort --out=f f", false),
            ("sort -@o f", false),
            ("sort -@n f", true),
            ("sort --compress-prog=x f", false),
            ("sort f -- -o", true),
        ],
    );
}

#[test]
fn a_dangerous_flag_is_covered_where_it_is_named_and_by_no_star() {
    for (entries, holds) in [
        ("'-o'", true),
        ("'--output'", true),
        ("'*'", false),
        ("'!-n'", false),
    ] {
        let rule = format!("[[allow]]\nid = 'a'\ncommand = 'sort'\nflags = ['*', {entries}]");
        assert_holds(&rule, &[("sort -o f f", holds), ("sort -u f", true)]);
    }
    assert_holds(
        "[[allow]]\nid = 'a'\ncommand = 'sort -o'",
        &[("sort --output=f f", true), ("sort f", false)],
    );
    assert_holds(
        "[[allow]]\nid = 'a'\ncommand = 'docker run --rm'\nflags = ['-i', '-t', '-e', '--name']",
        &[
            (
                "docker run --rm -it registry.corp.example/ci make test",
                true,
            ),
            ("docker run --rm --name x --env A=b ci make -j", true),
            ("docker run --rm -v /:/h registry.corp.example/ci", false),
            ("docker run registry.corp.example/ci", false),
            ("docker run --rm=false ci", false),
            ("docker run --rm=true ci", true),
        ],
    );
}

#[test]
fn a_deny_knows_every_spelling_of_a_flag() {
    assert_holds(
        "[[deny]]\nid = 'd'\ncommand = ['git push', 'git commit --amend', 'git reset --hard']",
        &[
            ("git -C sub push", true),
            ("git -c a=b --no-pager push", true),
            ("git --nonsense push", true),
            ("git reset HEAD~1 --hard", true),
            ("git commit --amen", true),
            ("git commit -m push", false),
            ("git commit -m x -- --amend", false),
            ("git reset f", false),
            ("git stash push", false),
        ],
    );
    assert_holds(
        "[[deny]]\nid = 'd'\ncommand = 'rm -rf'",
        &[
            ("rm -fr x", true),
            ("rm -r x -f", true),
            ("rm --recursive --force x", true),
            ("rm --rec --forc x", true),
            ("rm -R -f x", true),
            ("rm -r x", false),
            ("rm -- -rf", false),
        ],
    );
}

#[test]
fn a_deny_by_flags_knows_twins_and_what_means_the_same() {
    let rule = "[[deny]]\nid = 'd'\ncommand = 'git push'\n\
        flags = ['--force', '--force-with-lease', '--delete', '--mirror']";
    assert_holds(
        rule,
        &[
            ("git push -qf", true),
            ("git push --forc", true),
            ("git push origin +HEAD:x", true),
            ("git push origin :x", true),
            ("git push -d origin x", true),
            ("git push --force-with-lease=x", true),
            ("git push origin HEAD:x", false),
            ("git push -o force", false),
        ],
    );
}

#[test]
fn flags_before_and_behind_the_verb_differ() {
    assert_holds(
        "[[deny]]\nid = 'd'\ncommand = 'git log -p'",
        &[
            ("git log -p", true),
            ("git log --patch", true),
            ("git -p log", false),
        ],
    );
    assert_holds(
        "[[deny]]\nid = 'd'\ncommand = 'git -p log'",
        &[("git log -p", false), ("git --paginate log", true)],
    );
    assert_holds(
        "[[deny]]\nid = 'd'\ncommand = 'kubectl get * --namespace=staging'",
        &[
            ("kubectl get pods -n staging", true),
            ("kubectl -n staging get pods", true),
            ("kubectl -nstaging get pods", true),
            ("kubectl get pods -n production", false),
        ],
    );
}

#[test]
fn a_flag_that_is_taken_back_is_not_there() {
    assert_holds(
        "[[allow]]\nid = 'a'\ncommand = 'npm ci --ignore-scripts'",
        &[
            ("npm ci --ignore-scripts", true),
            ("npm ci --ignore-scripts=false", false),
            ("npm ci --ignore-scripts --no-ignore-scripts", false),
        ],
    );
    assert_holds(
        "[[allow]]\nid = 'a'\ncommand = ['bash -n', 'node --check']",
        &[
            ("bash -n x", true),
            ("bash -c code -n", false),
            ("node --check x.js", true),
            ("node x.js --check", false),
        ],
    );
}

#[test]
fn a_selector_flag_is_a_word() {
    assert_holds(
        "[[allow]]\nid = 'a'\ncommand = 'python3 -m pytest'",
        &[
            ("python3 -m pytest -q", true),
            ("python3 -mpytest", true),
            ("python3 -m pip install x", false),
            ("python3 pytest", false),
            ("python3 -c pytest", false),
            ("python3 pytest -m", false),
        ],
    );
}

/// Versions, and the several parsers of one command, differ in what takes a value.
#[test]
fn a_value_that_looks_like_a_dangerous_option_is_not_permitted() {
    assert_holds(
        "[[allow]]\nid = 'a'\ncommand = ['ssh', 'sort', 'wget', 'git log', 'git archive', 'git commit']",
        &[
            ("ssh -P -oProxyCommand=x h", false),
            ("ssh -PoProxyCommand=x h", false),
            ("ssh -p -oProxyCommand=x h", false),
            ("ssh -p 22 h", true),
            ("sort -y -oOUT a", false),
            ("sort -k -oOUT a", false),
            ("wget --backups -oOUT u", false),
            ("git log --min-parents --output=x", false),
            ("git log --author -x", true),
            ("git archive --prefix --output=x HEAD", false),
            ("git commit -m --amend", true),
            ("git -C --exec-path=x log", false),
        ],
    );
}

#[test]
fn a_shell_takes_values_behind_its_cluster_and_npm_words_behind_its_switches() {
    assert_holds(
        "[[deny]]\nid = 'd'\ncommand = ['bash -c', 'npm publish']",
        &[
            ("bash -oc pipefail code", true),
            ("bash -Oc extglob code", true),
            ("bash -o pipefail x", false),
            ("npm --json false publish", true),
            ("npm --audit true publish", true),
            ("npm --json publish", true),
            ("npm view publish", false),
        ],
    );
}

#[test]
fn ordinary_flags_of_the_verb_may_stand_between_its_words() {
    let ruleset = policy("[[allow]]\nid = 'a'\ncommand = 'git fetch origin'");
    assert_eq!(
        decide(&ruleset, "/usr/bin/git fetch -q origin"),
        Decision::Allow
    );
    assert_eq!(
        decide(&ruleset, "/usr/bin/git -C x fetch -q origin"),
        Decision::Allow
    );
    for line in [
        "-p fetch origin",
        "fetch --upload-pack=x origin",
        "fetch --unheard origin",
    ] {
        assert_eq!(
            decide(&ruleset, &format!("/usr/bin/git {line}")),
            Decision::Ask,
            "{line}"
        );
    }
}
