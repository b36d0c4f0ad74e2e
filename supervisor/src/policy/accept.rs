//! `execward policy accept`: the changes of policy files are shown, and hold from then on.

use std::io::Write;
use std::path::Path;

use super::InForce;
use crate::audit::{escaped, quoted};
use crate::cli::{AcceptArgs, PolicyArgs, RunArgs};
use crate::control::VerbError;
use crate::past::Past;
use crate::places::Places;

/// Shows what differs in the files from what was accepted of them, and accepts that.
///
/// # Errors
/// If the policy has faults, if the caller is a member of a session, or if a change cannot be shown or
/// remembered: what was not shown is not accepted.
pub(super) fn accept(args: &AcceptArgs, out: &mut impl Write) -> Result<(), VerbError> {
    let places = Places::of(&args.state)?;
    let past = Past::open(places.state())?;
    past.judge_outside()?;
    let meant = PolicyArgs {
        policy: args.files.clone(),
        preset: Vec::new(),
        workspace: args.workspace.clone(),
    };
    let policy = InForce::load(&meant, &places)?.policy;
    let mut count = 0;
    for file in &policy.files {
        let Some(difference) = past.difference(file)? else {
            continue;
        };
        let path = file.path.display().to_string();
        write!(out, "{difference}")?;
        writeln!(out, "accepted {}", escaped(&path))?;
        out.flush()?;
        past.accept(file)?;
        count += 1;
    }
    if count == 0 {
        writeln!(out, "nothing has changed in {}", policy.names())?;
    }
    Ok(())
}

/// The command by which the files of `run` are accepted.
pub(crate) fn command(args: &RunArgs) -> String {
    command_for(&args.policy, args.state.state.as_deref())
}

/// The same for the policy of `args`, with what is remembered in `state`, if that is not the usual.
pub(crate) fn command_for(args: &PolicyArgs, state: Option<&Path>) -> String {
    let mut words = vec!["execward policy accept".to_owned()];
    let mut option = |name: &str, value: Option<&Path>| {
        words.extend(value.map(|value| format!("{name} {}", in_shell(value))));
    };
    option("--state", state);
    option("--workspace", args.workspace.as_deref());
    words.extend(args.policy.iter().map(|path| in_shell(path)));
    words.join(" ")
}

fn in_shell(path: &Path) -> String {
    let text = path.display().to_string();
    shlex::try_quote(&text).map_or_else(|_| quoted(&text), |quoted| quoted.into_owned())
}
