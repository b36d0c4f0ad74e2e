//! A case run twice: without the gate, where its payload must work, and under it.

use execward_tests::{Ran, of_type};
use serde_json::Value;

use crate::case::{Case, Expect};
use crate::case_policies::CasePolicies;
use crate::outcome::Outcome;
use crate::scene::Scene;

/// What becomes of the case under the gate.
pub(crate) fn under_the_gate(case: &Case, policies: &CasePolicies) -> Outcome {
    let command = case.command.as_deref().expect("what is run");
    if let Some(reason) = case.unlike_here() {
        return Outcome::LeftOut(reason);
    }
    let twin = Scene::lay_out(case, policies);
    let (status, ..) = twin.unsupervised("command", command);
    let works = match &case.marker {
        Some(marker) => twin.has(marker),
        None => case.expect != Expect::Allow || status.success(),
    };
    if !works {
        return Outcome::LeftOut("does not work here without a gate either".to_owned());
    }
    let scene = Scene::lay_out(case, policies);
    let ran = scene.supervised(command);
    match is_right(case, &scene, &ran) {
        Ok(()) => Outcome::AsExpected,
        Err(what) => Outcome::Otherwise(format!("{what}: {}", ran.stderr.trim())),
    }
}

fn is_right(case: &Case, scene: &Scene, ran: &Ran) -> Result<(), &'static str> {
    let decided = Decided::of(case, scene, ran);
    match (&case.marker, case.expect) {
        (Some(marker), _) if scene.has(marker) => Err("the payload ran"),
        (Some(_), _) => Ok(()),
        (None, Expect::Allow) if !ran.status.success() => Err("it does not work"),
        (None, Expect::Allow) if decided.judged_refused > 0 => Err("it is refused"),
        (None, Expect::Allow) => Ok(()),
        (None, Expect::Ask | Expect::Deny) if decided.judged_allowed > 0 => Err("it is allowed"),
        (None, Expect::Ask | Expect::Deny) if decided.refused == 0 => Err("nothing is refused"),
        (None, Expect::Ask | Expect::Deny) => Ok(()),
    }
}

/// What the log says, which counts where no file tells whether the payload ran.
#[derive(Debug, Default)]
struct Decided {
    refused: usize,
    /// Execs with the arguments of those that the case is about.
    judged_allowed: usize,
    judged_refused: usize,
}

impl Decided {
    fn of(case: &Case, scene: &Scene, ran: &Ran) -> Self {
        let argv = |exec: &Vec<String>| -> Vec<Vec<u8>> {
            let words = exec.iter().skip(1);
            words
                .map(|word| case.bytes_of(word, scene.workspace()))
                .collect()
        };
        let judged: Vec<_> = case.judged().iter().map(argv).collect();
        let mut decided = Self::default();
        for record in of_type(&ran.records, "exec.decision") {
            let words = record
                .pointer("/proc/argv")
                .and_then(Value::as_array)
                .into_iter()
                .flatten();
            let words = words.map(|word| word.as_str().unwrap_or_default().as_bytes());
            let is_judged = judged.iter().any(|argv| words.clone().eq(argv));
            let is_allowed = record
                .pointer("/decision/verdict")
                .is_some_and(|verdict| verdict == "allow");
            decided.refused += usize::from(!is_allowed);
            decided.judged_allowed += usize::from(is_judged && is_allowed);
            decided.judged_refused += usize::from(is_judged && !is_allowed);
        }
        decided
    }
}
