//! A list of what logs have.

use std::collections::BTreeMap;

use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, value};

use super::list::VERSION;
use super::normal::generalised;
use super::seen::{Exec, Seen, name};

/// What stands above a list.
const HEAD: &str = "# Written by `execward audit expect --learn`: the execs of a session, to be read before they are expected.\n\
    # `*` is any text but `/`, `?` one character (or a byte that is no text), `**` any text, and at the end of `argv`\n\
    # whatever follows; `\\` before one has it be itself. `${cwd}` is where the session was started. `interpreter` is of\n\
    # scripts alone. `count = N`: N times, no more and no less.\n";

/// Program and arguments of an exec without what differs from run to run; none of what the log has not.
pub(super) fn normal(exec: &Exec) -> (String, Vec<String>) {
    let general = |word: &[u8]| generalised(word, exec.cwd.as_deref());
    let mut argv = exec.argv.iter().flatten();
    let first = argv.next().map(|first| general(name(first)));
    let rest = argv.map(|word| general(word));
    (
        general(&exec.program),
        first.into_iter().chain(rest).collect(),
    )
}

/// The text of a list by which nothing of it is unexpected, in the order of program and arguments; with how often
/// each was executed, if that is to count.
pub(super) fn learned(seen: &Seen, with_counts: bool) -> String {
    let mut execs: BTreeMap<_, i64> = BTreeMap::new();
    let mut left_out = String::new();
    for exec in &seen.execs {
        if exec.argv.is_none() || exec.oddity.is_some() {
            left_out += &format!(
                "# Not here, since no list can expect it: {}\n",
                exec.in_words()
            );
            continue;
        }
        let interpreter = exec.interpreter.as_ref();
        let interpreter = interpreter.map(|it| generalised(it, exec.cwd.as_deref()));
        *execs.entry((normal(exec), interpreter)).or_default() += 1;
    }
    let mut tables = ArrayOfTables::new();
    for (((program, argv), interpreter), times) in execs {
        let mut table = Table::new();
        table.insert("program", value(program));
        table.insert("argv", value(Array::from_iter(argv)));
        if let Some(interpreter) = interpreter {
            table.insert("interpreter", value(interpreter));
        }
        if with_counts {
            table.insert("count", value(times));
        }
        tables.push(table);
    }
    let mut document = DocumentMut::new();
    document.insert("version", value(VERSION));
    document.insert("exec", Item::ArrayOfTables(tables));
    format!("{HEAD}{left_out}{document}")
}
