use super::*;
use crate::request::ProgramFile;
use crate::source::NoIncludes;
use crate::verdict::Decision;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;
const POLICY: &str = "version = 1\nmode.security = \"allowlist\"\n[[allow]]\nid = \"own\"\n\
    command = \"git log\"\n";
const NOTE: &str = "{ scope = \"prefix\", covers = \"c\", by = \"b\", session = \"s\", exec = \"1\", \
    at = 2026-11-29T00:00:00Z }";

fn source(text: &str) -> Source<'_> {
    Source {
        name: "grants.toml",
        text: text.as_bytes(),
        layer: Layer::User,
    }
}

fn policy(text: &str) -> Ruleset {
    Ruleset::load(&[source(text)], &Places::of_tests(), &NoIncludes).unwrap()
}

fn granting(policy: &Ruleset, text: &str) -> Result<Ruleset, Diagnostics> {
    policy.with_grants(&[source(text)], &Places::of_tests(), &NoIncludes)
}

fn call(line: &str) -> ExecRequest {
    let argv: Vec<Vec<u8>> = line.split(' ').map(Into::into).collect();
    let path = format!("/usr/bin/{}", line.split(' ').next().unwrap());
    ExecRequest {
        cwd: Some(b"/w".to_vec()),
        ..ExecRequest::new(ProgramFile::at(path), argv)
    }
}

fn decide(rules: &Ruleset, line: &str, now: Timestamp) -> Decision {
    rules.decide(&call(line), now).decision()
}

#[test]
fn grants_allow_and_deny_beside_the_policy_until_they_expire() {
    let text = format!(
        "version = 1\n[[allow]]\nid = \"g1\"\ncommand = \"git push\"\nexpires = 1970-01-01T01:00:00Z\n\
         [[deny]]\nid = \"g2\"\ncommand = \"git fetch\"\n[grants]\ng1 = {NOTE}\ng2 = {NOTE}\n"
    );
    let rules = granting(&policy(POLICY), &text).unwrap();
    assert_eq!(decide(&rules, "git push", NOW), Decision::Allow);
    assert_eq!(decide(&rules, "git fetch", NOW), Decision::Deny);
    assert_eq!(decide(&rules, "git log", NOW), Decision::Allow);
    let later = "1970-01-01T01:00:00Z".parse().unwrap();
    assert_eq!(decide(&rules, "git push", later), Decision::Ask);
    assert_eq!(decide(&policy(POLICY), "git push", NOW), Decision::Ask);
}

#[test]
fn a_policy_that_distrusts_its_operator_takes_denies_alone() {
    let text = "version = 1\n[[allow]]\nid = \"g1\"\ncommand = \"git push\"\n[[deny]]\nid = \"g2\"\n\
        command = \"git log\"\n";
    let strict = policy(&format!("include = [\"preset:strict\"]\n{POLICY}"));
    let rules = granting(&strict, text).unwrap();
    assert_ne!(decide(&rules, "git push", NOW), Decision::Allow);
    assert_eq!(decide(&rules, "git log", NOW), Decision::Deny);
}

#[test]
fn a_file_of_grants_has_nothing_else_and_all_faults_come_at_once() {
    let text = "version = 1\nmode.security = \"full\"\n[[ask]]\nid = \"a\"\ncommand = \"git\"\n\
        [[allow]]\nid = \"own\"\ncommand = \"git push\"\n[grants.own]\nscope = \"all\"\n";
    let faults = granting(&policy(POLICY), text).unwrap_err().to_string();
    for fault in [
        "may not have `mode`",
        "may not have `ask`",
        "a rule of the policy has the id `own`",
        "unknown value `all`",
        "covers",
    ] {
        assert!(faults.contains(fault), "{fault}: {faults}");
    }
    let text = format!("{POLICY}[grants]\nown = {NOTE}\n");
    let faults = Ruleset::load(&[source(&text)], &Places::of_tests(), &NoIncludes);
    let faults = faults.unwrap_err().to_string();
    assert!(faults.contains("`grants` is no key"), "{faults}");
}

#[test]
fn any_call_can_be_refused_for_good() {
    for (line, scopes) in [
        ("git push --force origin", "exact prefix program"),
        ("sh -c id", "exact"),
        ("env git push", "exact"),
    ] {
        let rules = policy(POLICY);
        let refusals = rules.refusals(&call(line), "g", NOW);
        let offered: Vec<_> = refusals.iter().map(|it| it.scope.as_str()).collect();
        assert_eq!(offered.join(" "), scopes, "{line}");
        for refusal in refusals {
            let text = format!("version = 1\n{}", refusal.rule);
            let rules = granting(&rules, &text).unwrap();
            assert_eq!(decide(&rules, line, NOW), Decision::Deny, "{text}");
            let covers_git = refusal.scope == crate::Scope::Program;
            let expected = if covers_git {
                Decision::Deny
            } else {
                Decision::Allow
            };
            assert_eq!(decide(&rules, "git log", NOW), expected);
        }
    }
}

#[test]
fn what_a_person_allows_with_all_that_it_starts_lifts_what_no_rule_is_about() {
    let rules = "[[ask]]\nid = \"asked\"\ncommand = \"git push\"\n[[deny]]\nid = \"no\"\nprogram = \"touch\"\n";
    let rules = policy(&format!("{POLICY}{rules}"));
    let granted = granting(&rules, &format!("version = 1\n{}", subtree_rule("g1"))).unwrap();
    assert!(granted.wants_lineage() && !rules.wants_lineage());
    let below = |line: &str, allowed_by: Option<&str>| {
        let key = |id: &str| crate::RuleKey {
            layer: Layer::User,
            id: id.to_owned(),
        };
        let mut request = call(line);
        request
            .lineage
            .ancestors
            .push(std::sync::Arc::new(crate::Ancestor {
                files: vec![ProgramFile::at(b"/usr/bin/make")],
                allowed_by: allowed_by.map(key),
            }));
        granted.decide(&request, NOW).decision()
    };
    for (line, expected) in [
        ("cc -c x.c", Decision::Allow),
        ("sh -c cc", Decision::Allow),
        ("sh -ec cc", Decision::Allow),
        ("bash build.sh", Decision::Allow),
        ("python3 gen.py", Decision::Allow),
        ("node build.js", Decision::Allow),
        ("git status", Decision::Allow),
        ("python3 -c code", Decision::Ask),
        ("python3", Decision::Ask),
        ("node -e code", Decision::Ask),
        ("perl -e code", Decision::Ask),
        ("sh", Decision::Ask),
        ("bash -s x", Decision::Ask),
        ("curl https://x.example", Decision::Ask),
        ("git push", Decision::Ask),
        ("touch x", Decision::Deny),
    ] {
        assert_eq!(below(line, Some("g1")), expected, "{line}");
        // The rule is about no call by itself, nor about those below another process.
        let own = if expected == Decision::Deny {
            Decision::Deny
        } else {
            Decision::Ask
        };
        assert_eq!(below(line, None), own, "{line}");
        assert_eq!(below(line, Some("own")), own, "{line}");
    }
}
