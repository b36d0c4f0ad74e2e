//! More at once than anybody would start.

#![expect(
    clippy::indexing_slicing,
    reason = "a record without the field is a failed test"
)]

use std::io::Write;

use execward_tests::{Asking, Ground, of_type};
use serde_json::Value;

/// The decisions about calls whose first word is this.
fn decisions<'r>(records: &'r [Value], program: &'r str) -> impl Iterator<Item = &'r Value> {
    of_type(records, "exec.decision").filter(move |record| record["proc"]["argv"][0] == program)
}

#[test]
fn a_storm_of_execs_is_judged_one_by_one() {
    let ground = Ground::full("[[deny]]\nid = \"no-touch\"\nprogram = \"touch\"\n");
    let ran = ground.sh(
        "i=0; while [ $i -lt 300 ]; do /bin/true $i & /usr/bin/touch m$i 2>/dev/null & \
         i=$((i + 1)); done; wait; echo over",
    );
    assert_eq!(ran.stdout, "over\n", "{}", ran.stderr);
    assert_eq!(decisions(&ran.records, "/bin/true").count(), 300);
    let refused: Vec<_> = decisions(&ran.records, "/usr/bin/touch").collect();
    assert_eq!(refused.len(), 300);
    for record in refused {
        assert_eq!(record["decision"]["rule"]["id"], "no-touch");
        assert_eq!(record["effect"]["errno"], "EPERM");
    }
    assert!((0..300).all(|number| !ground.has(&format!("m{number}"))));
    // CMD itself is the one more.
    assert_eq!(ran.results("verified"), 301);
}

/// What needs no answer goes on meanwhile.
#[test]
fn more_questions_than_a_session_holds_are_refused() {
    const HELD: usize = 256;
    let mut asking = Asking::sh(
        "",
        "i=0; while [ $i -lt 280 ]; do /usr/bin/touch m$i 2>/dev/null & p=\"$p $!\"; \
         i=$((i + 1)); done; /bin/echo on; read line; kill $p; wait; /bin/echo over",
    );
    assert_eq!(asking.stdout.next_line().as_deref(), Some("on"));
    assert_eq!(asking.questions(HELD).len(), HELD);
    asking.stdin().write_all(b"\n").expect("CMD's input");
    assert_eq!(asking.stdout.next_line().as_deref(), Some("over"));
    let records = asking.end();
    let refused = decisions(&records, "/usr/bin/touch");
    let (over, held): (Vec<_>, Vec<_>) =
        refused.partition(|record| record["decision"]["reason"] == "overload");
    assert_eq!((over.len(), held.len()), (280 - HELD, HELD));
    assert!(
        over.iter()
            .all(|record| record["effect"]["errno"] == "EAGAIN")
    );
    assert!((0..280).all(|number| !asking.has_run(&format!("m{number}"))));
}
