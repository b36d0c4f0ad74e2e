//! What a file holds: `sha256`, of a program and of a script.

use super::*;
use crate::digest::Digest;
use crate::request::Destination;

/// The digest of what a file was when its rule was written, and of what it is not.
const PINNED: Digest = Digest([0x11; 32]);
const OTHER: Digest = Digest([0; 32]);

/// The rule alone, with the digest.
fn pinning(action: &str, keys: &str) -> Ruleset {
    alone(action, &format!("{keys}\nsha256 = '{PINNED}'"))
}

fn decision(ruleset: &Ruleset, request: &ExecRequest) -> Decision {
    ruleset.decide(request, Timestamp::UNIX_EPOCH).decision()
}

/// Where the script of a call leads, and what it holds.
fn leading(path: &str, sha256: Option<Digest>) -> [(Vec<u8>, Destination); 1] {
    let destination = Destination {
        sha256,
        ..Destination::as_written(path.as_bytes())
    };
    [(b"/w/a.py".to_vec(), destination)]
}

#[test]
fn beside_a_script_a_digest_is_that_of_the_script() {
    let keys = "program = 'python3'\nscript = '/w/*'";
    let [allow, deny] = ["allow", "deny"].map(|action| pinning(action, keys));
    let mut request = call(ProgramFile::at("/usr/bin/python3"), &["python3", "/w/a.py"]);
    for (sha256, path, allowed, denied, wants) in [
        (Some(PINNED), "/w/a.py", true, true, false),
        (Some(OTHER), "/w/a.py", false, false, false),
        (None, "/w/a.py", false, true, true),
        (Some(PINNED), "/v/a.py", false, true, false),
        (Some(OTHER), "/v/a.py", false, false, false),
    ] {
        request.destinations = leading(path, sha256).into();
        for own in [None, Some(PINNED), Some(OTHER)] {
            request.program.sha256 = own;
            let is_allowed = decision(&allow, &request) == Decision::Allow;
            let is_denied = decision(&deny, &request) == Decision::Deny;
            assert_eq!(
                (is_allowed, is_denied),
                (allowed, denied),
                "{sha256:?} {path}"
            );
            let is_wanted = allow.wants_digests(&request, Timestamp::UNIX_EPOCH);
            assert_eq!(is_wanted, wants, "{sha256:?} {path}");
        }
    }
    assert_eq!(allow.scripts(&request), [b"/w/a.py"]);
}

/// Editing files in place, perl and ruby run the first; with code as text they edit it.
#[test]
fn the_script_is_found_behind_options() {
    for (line, scripts) in [
        ("perl /w/a /w/b", &["/w/a"][..]),
        ("perl -i.bak -w /w/a /w/b", &["/w/a"]),
        ("ruby -i /w/a", &["/w/a"]),
        ("perl -i -pe s /w/a", &[]),
        ("ruby -i -e s /w/a", &[]),
    ] {
        let argv: Vec<&str> = line.split(' ').collect();
        let program = ProgramFile::at(format!("/usr/bin/{}", argv[0]));
        let found = policy("").scripts(&call(program, &argv));
        let scripts: Vec<_> = scripts.iter().map(|it| it.as_bytes().to_vec()).collect();
        assert_eq!(found, scripts, "{line}");
    }
}

#[test]
fn no_script_is_read_for_a_rule_of_another_key() {
    let request = ExecRequest {
        destinations: leading("/w/a.py", None).into(),
        ..call(ProgramFile::at("/usr/bin/python3"), &["python3", "/w/a.py"])
    };
    let ruleset = policy("[[allow]]\nid = 'a'\nprogram = 'python3'\nscript = '/w/*'");
    assert!(!ruleset.wants_digests(&request, Timestamp::UNIX_EPOCH));
    // It fails by what is already known.
    let ruleset = pinning("allow", "program = 'python3'\nscript = '/v/*'");
    assert!(!ruleset.wants_digests(&request, Timestamp::UNIX_EPOCH));
}

#[test]
fn the_digest_of_a_script_that_is_started_itself_is_that_of_its_file() {
    let ruleset = pinning("allow", "program = '/w/x.sh'\nscript = '/w/x.sh'");
    let mut request = script("/w/x.sh", "/bin/sh", None);
    for (sha256, expected, wants) in [
        (None, Decision::Deny, true),
        (Some(PINNED), Decision::Allow, false),
        (Some(OTHER), Decision::Deny, false),
    ] {
        request.program.sha256 = sha256;
        assert_eq!(decision(&ruleset, &request), expected);
        let is_wanted = ruleset.wants_digests(&request, Timestamp::UNIX_EPOCH);
        assert_eq!(is_wanted, wants);
    }
}

#[test]
fn a_digest_is_looked_for_when_the_payload_of_a_wrapper_is_started() {
    for keys in ["", "script = '/w/*'"] {
        let ruleset = pinning("deny", keys);
        let mut request = call(
            ProgramFile::at("/usr/bin/env"),
            &["env", "python3", "/w/a.py"],
        );
        request.program.sha256 = Some(OTHER);
        request.destinations = leading("/w/a.py", None).into();
        assert_eq!(decision(&ruleset, &request), Decision::Allow, "{keys}");
    }
}
