//! The processes of a gate that are no members of its session: front, keeper, parser.

use std::io;

use super::finding::Finding;
use super::session::{Session, kind, pid};
use crate::shell::keeper;
use crate::tracee::{Procfs, TaskDir, Tid};

/// Whether the process that keeps the parser of texts is outside the session's filter. `None` if it
/// is gone: then texts are not read, and each exec is judged all the same.
///
/// # Errors
/// If the session's log or proc cannot be read.
pub(super) fn finding(session: &mut Session<'_>) -> io::Result<Option<Finding>> {
    let start = session.record(|record| kind(record) == "session.start")?;
    let gate = start.and_then(|start| pid(&start, "/sup/pid"));
    let Some(gate) = gate.map(Tid::new) else {
        return Ok(None);
    };
    let proc = Procfs::open().map_err(io::Error::other)?;
    let own = proc.task(Tid::own())?.filters().map_err(io::Error::other)?;
    let children = proc.processes()?.into_iter();
    let children = children.filter_map(|tid| proc.task(tid).ok());
    let is_keeper = |task: &TaskDir| {
        let is_child = task.status().is_ok_and(|status| status.ppid == gate);
        let line = task.read("cmdline").unwrap_or_default();
        is_child && line.split(|byte| *byte == 0).nth(1) == Some(keeper::ARGUMENT.as_bytes())
    };
    let keeper = children.filter(is_keeper).find_map(|it| it.filters().ok());
    Ok(keeper.map(|filters| match filters == own {
        true => Finding::ok("helpers", "the gate's own processes are outside the filter"),
        false => Finding::weak(
            "helpers",
            format!(
                "the process that keeps the parser is under {filters} filters, this one under {own}"
            ),
            "texts of shells may not be read ahead; report this",
        ),
    }))
}
