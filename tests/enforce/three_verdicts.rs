//! A script whose execs meet each verdict, and what must be so behind it, whatever the session ran in.

use execward_tests::{Ground, of_type};
use serde_json::Value;

/// Denies mkdir, asks about touch, and lets all else run.
pub(crate) const RULES: &str = "[[deny]]\nid = \"no-mkdir\"\nprogram = \"mkdir\"\n\
    [[ask]]\nid = \"touching\"\nprogram = \"touch\"\n";

/// Where nobody is asked, it ends with [`CODE`].
pub(crate) const SCRIPT: &str =
    "/bin/echo ran; /bin/mkdir denied; echo $?; /bin/touch asked; echo $?; exit 3";

pub(crate) const CODE: Option<i32> = Some(3);

/// Makes sure of what [`SCRIPT`] did in `room`, and of what is recorded of it.
pub(crate) fn are_met(stdout: &str, room: &Ground, records: &[Value], what: &str) {
    assert_eq!(stdout, "ran\n126\n126\n", "{what}");
    assert!(!room.has("denied") && !room.has("asked"), "{what}");
    for (program, verdict, reason, result) in [
        ("/bin/echo", "allow", "default", Some("verified")),
        ("/bin/mkdir", "deny", "rule", None),
        ("/bin/touch", "deny", "no_approver", None),
    ] {
        let first = |it: &&Value| it.pointer("/proc/argv/0") == Some(&program.into());
        let mut decisions = of_type(records, "exec.decision").filter(first);
        let decided = decisions.next().expect(program);
        let of_it = |key: &str| decided.pointer(key).and_then(Value::as_str);
        let decision = (of_it("/decision/verdict"), of_it("/decision/reason"));
        assert_eq!(decision, (Some(verdict), Some(reason)), "{what}: {decided}");
        let mut outcomes = of_type(records, "exec.outcome");
        let its = outcomes.find(|it| it.get("exec_id") == decided.get("exec_id"));
        let seen = its.and_then(|it| it.pointer("/outcome/result")?.as_str());
        assert_eq!(seen, result, "{what}: {decided}");
    }
    let end = records.last().expect("an end");
    assert_eq!(end.pointer("/type"), Some(&"session.end".into()), "{what}");
    let refused = end.pointer("/count/refused");
    assert_eq!(refused, Some(&2.into()), "{what}: {end}");
}
