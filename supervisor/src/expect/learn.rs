//! A list of what logs have.

use std::collections::BTreeMap;

use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, value};

use super::list::VERSION;
use super::normal::generalised;
use super::seen::Seen;

/// What nobody reads unasked.
const HEAD: &str = "# Written by `execward audit expect --learn`: the execs of a session, to be read before they are expected.\n\
    # `*` stands for any text, `**` at the end of `argv` for whatever follows, `${cwd}` for where the session was\n\
    # started; `count = N` for N times, no more and no less.\n";

/// The text of a list by which nothing of it is unexpected, in the order of program and arguments; with how often
/// each was executed, if that is to count.
pub(super) fn learned(seen: &Seen, with_counts: bool) -> String {
    let mut execs: BTreeMap<(String, Vec<String>), i64> = BTreeMap::new();
    let mut lacking = 0;
    for exec in &seen.execs {
        let Some(argv) = &exec.argv else {
            lacking += 1;
            continue;
        };
        let general = |word: &Vec<u8>| generalised(word, exec.cwd.as_deref());
        let key = (general(&exec.program), argv.iter().map(general).collect());
        *execs.entry(key).or_default() += 1;
    }
    let mut tables = ArrayOfTables::new();
    for ((program, argv), times) in execs {
        let mut table = Table::new();
        table.insert("program", value(program));
        table.insert("argv", value(Array::from_iter(argv)));
        if with_counts {
            table.insert("count", value(times));
        }
        tables.push(table);
    }
    let mut document = DocumentMut::new();
    document.insert("version", value(VERSION));
    document.insert("exec", Item::ArrayOfTables(tables));
    let lacking = match lacking {
        0 => String::new(),
        number => {
            format!("# Of {number} execs the log has not all arguments: they are not here.\n")
        }
    };
    format!("{HEAD}{lacking}{document}")
}
