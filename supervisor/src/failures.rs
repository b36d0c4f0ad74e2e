//! The page of failures, docs/failures.md: made of the words and numbers that the code has, and held against
//! it by a test. `EXECWARD_BLESS=1 cargo test -p execward failures` writes it anew.

use std::fmt::Write;
use std::time::Duration;

use crate::audit::Reason;
use crate::exec::Difference;
use crate::judge::Judgement;
use crate::readers::{DEADLINE, READERS};
use crate::shell::NotAnalysed;
use crate::watch::{Activity, READ_DEADLINE, SESSION_DEADLINE};
use crate::{front, parking};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/failures.md");

const HEAD: &str = "# What fails, what is answered, how it is shown\n\n\
Made from the code by the tests of `supervisor/src/failures.rs`. Where an exec is concerned every row \
ends in a refusal or an end: none goes on because something failed. Records are lines of the audit log; *line* is the refusal line on the \
standard error of the task; the front speaks on its own.\n\n";

const REASONS: [Reason; 21] = [
    Reason::Rule,
    Reason::Default,
    Reason::Children,
    Reason::SafeBin,
    Reason::Wrapper,
    Reason::UnknownTool,
    Reason::Operator,
    Reason::User,
    Reason::Grant,
    Reason::StoreInvalid,
    Reason::NoApprover,
    Reason::Timeout,
    Reason::Signalled,
    Reason::Withdrawn,
    Reason::ChangedSincePrompt,
    Reason::Overload,
    Reason::Unreadable,
    Reason::Unverifiable,
    Reason::ReadDeadline,
    Reason::TargetMissing,
    Reason::SupError,
];

const DIFFERENCES: [Difference; 8] = [
    Difference::Unexpected,
    Difference::File,
    Difference::Argv,
    Difference::Environment,
    Difference::Name,
    Difference::Loader,
    Difference::Script,
    Difference::Digest,
];

/// What must fail for an exec to be refused on that ground; `None` if that is a decision, no failure.
fn failure(reason: Reason) -> Option<&'static str> {
    Some(match reason {
        Reason::Rule
        | Reason::Default
        | Reason::Children
        | Reason::SafeBin
        | Reason::Wrapper
        | Reason::UnknownTool
        | Reason::Operator
        | Reason::User
        | Reason::Grant
        | Reason::TargetMissing => return None,
        Reason::NoApprover => "a question, and nobody who could be asked",
        Reason::Timeout => "a question, and no answer in the time that the policy gives",
        Reason::Signalled => "a signal that should end the task comes while it waits for an answer",
        Reason::Withdrawn => "the session ends, or the task is gone, before an answer comes",
        Reason::ChangedSincePrompt => {
            "file, arguments, environment or directory differ from what was asked about"
        }
        Reason::Overload => {
            "a process group holds more execs, open questions or bytes of arguments than are left free"
        }
        Reason::Unreadable => "path, arguments, environment or file cannot be read whole",
        Reason::Unverifiable => {
            "the task cannot be traced, or the file may be executed and not read"
        }
        Reason::ReadDeadline => "a file system or a page of memory does not answer",
        Reason::StoreInvalid => {
            "a person's answer is to last, and the file of grants is damaged, locked, or changed by \
             somebody else"
        }
        Reason::SupError => "the gate itself fails, or cannot write the record",
    })
}

fn in_seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f32())
}

/// Failures by which one exec is refused.
fn refusals(page: &mut String) {
    page.push_str(
        "## Of one exec, before it\n\n| failure | answer | record | line |\n|---|---|---|---|\n",
    );
    for reason in REASONS {
        let Some(what) = failure(reason) else {
            continue;
        };
        let judgement = Judgement::refusal(reason, String::new());
        let line = judgement.ground_in_words();
        let line = line
            .strip_prefix("not in the policy, and ")
            .unwrap_or(&line);
        writeln!(
            page,
            "| {what} | {:?} | `exec.decision`, deny, `{}` | {line} |",
            judgement.errno(),
            reason.as_str()
        )
        .unwrap();
    }
    writeln!(
        page,
        "\nWith `ask_fallback` a question that nobody answers may be let go instead: the policy says so. \
         A file system has {} to answer; tasks that wait for a person are looked at every {}.\n",
        in_seconds(DEADLINE),
        in_seconds(parking::LOOK_EVERY)
    )
    .unwrap();
}

/// Failures that show at the exec-stop.
fn differences(page: &mut String) {
    page.push_str(
        "## Of one exec, when its image is loaded\n\nWhat was loaded is not what was allowed. It is judged once more by what is \
         there, nobody is asked, and what is not allowed is killed before its first instruction: SIGKILL, and \
         `exec.outcome` with `killed` (else `changed`) and the difference.\n\n| difference | what differs |\n|---|---|\n",
    );
    for difference in DIFFERENCES {
        let what = match difference {
            Difference::Unexpected => "an image where the exec was to fail",
            Difference::File => "the file",
            Difference::Argv => "the arguments",
            Difference::Environment => "the environment",
            Difference::Name => "the name that it was called by",
            Difference::Loader => "the ELF interpreter is none of the system's",
            Difference::Script => "the script, or where its name leads",
            Difference::Digest => "the content of a file whose digest a rule names",
        };
        writeln!(page, "| `{}` | {what} |", difference.as_str()).unwrap();
    }
    page.push_str(
        "\nAn image that cannot be read, that no exec was let go for, or whose record cannot be written is killed \
         without a second look.\n\n",
    );
}

/// A row of the last table.
fn row(page: &mut String, what: &str, answer: &str, shown: &str) {
    writeln!(page, "| {what} | {answer} | {shown} |").unwrap();
}

/// Failures of what keeps a session.
fn sessions(page: &mut String) {
    let after = in_seconds(front::SILENCE);
    page.push_str("## Of the session\n\n| failure | answer | how it is shown |\n|---|---|---|\n");
    row(
        page,
        "the gate is killed, panics or ends",
        "no exec of the session succeeds any more (ENOSYS); its processes are killed; 125",
        "the front: `the gate is gone (…)`; the log has no `session.end`",
    );
    row(
        page,
        "the gate is stopped, or gets no processor",
        "execs wait",
        &format!("the front, after {after}: `{}`", front::SILENT),
    );
    row(
        page,
        "the front is killed",
        "CMD is killed; what it leaves behind stays gated, and with `--kill-at-exit` is killed too",
        "`session.end`, once none of it is left",
    );
    row(
        page,
        "front and gate are killed at once",
        "no exec of the session succeeds any more (ENOSYS); its processes go on without, and with \
         `--pid-namespace` are killed",
        "the log has no `session.end`",
    );
}

/// Failures of its log, and of what else it reads.
fn log(page: &mut String) {
    let after = in_seconds(front::SILENCE);
    row(
        page,
        "the log's disk is full",
        "what would go on by a rule is refused (EPERM); refusals and people's answers take what was set aside for them",
        "line: its record cannot be written; `audit.gap` with the exact count, once there is room again",
    );
    row(
        page,
        "a record cannot be written, or not whole",
        "its exec is refused (EPERM), an image that is loaded already is killed",
        "the same",
    );
    row(
        page,
        "an earlier session died inside a record, or the power was cut",
        "what is not whole, and all behind it, is set apart in `FILE.torn`",
        "`session.start`, `log.recovered`: so many bytes",
    );
    row(
        page,
        "the log's disk does not answer",
        "execs wait; SIGTERM or SIGKILL of the front ends what runs (125)",
        &format!(
            "the front, after {after}: `{}`",
            front::in_words(Activity::Recording)
        ),
    );
    row(
        page,
        "the log cannot go on in its next file (another session writes to it, its name is another file's, its \
         file system exchanges no names)",
        "it goes on in the one that is full, and it is tried again each minute",
        "`execward status`, if it is not another session: a problem; the gate's own log",
    );
    row(
        page,
        "a checkpoint cannot be written or signed",
        "execs go on as their own records can be written; it is tried again each minute",
        "`execward status`: a problem; `audit verify`: signed to an earlier record",
    );
    row(
        page,
        "the policy cannot be kept beside the log",
        "execs go on; later nobody can decide them again by it",
        "`kept` is absent from `session.start` or `policy.loaded`; the gate's own log",
    );
    row(
        page,
        "a policy that is loaded has a fault",
        "the one before stays in force, whole",
        "the client, with file, line and column; `policy.rejected`",
    );
}

/// Failures of what surrounds it.
fn surroundings(page: &mut String) {
    row(
        page,
        &format!(
            "a task's memory does not answer for {}",
            in_seconds(READ_DEADLINE)
        ),
        "the task is killed (only while the gate's thread sleeps in that read)",
        "`exec.decision`, deny, `read_deadline`",
    );
    row(
        page,
        &format!("it still does not, {} later", in_seconds(SESSION_DEADLINE)),
        "the session's processes are killed: any of them may serve that memory",
        "`session.end`; the gate's own log",
    );
    row(
        page,
        &format!("{READERS} look-ups in file systems that do not answer, all past their deadline"),
        "the session is ended",
        "`session.end`; the gate's own log",
    );
    row(
        page,
        "the parser of shell texts is gone or silent",
        "the text goes unread: each of its commands is judged when it comes, files that it redirects to are not",
        &format!("`shell.not_analysed`: {}", NotAnalysed::Silent),
    );
    row(
        page,
        "nobody reads the refusal lines, or the log",
        "lines are dropped, decisions are not delayed",
        "the record has what the line had",
    );
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    refusals(&mut page);
    differences(&mut page);
    sessions(&mut page);
    log(&mut page);
    surroundings(&mut page);
    page
}

#[test]
fn the_page_is_that_of_the_code() {
    if std::env::var_os("EXECWARD_BLESS").is_some() {
        std::fs::write(PAGE, page()).unwrap();
    }
    let written = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(
        written == page(),
        "docs/failures.md is not that of the code"
    );
}
