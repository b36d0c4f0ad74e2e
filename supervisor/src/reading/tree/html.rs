//! A tree as one page that needs nothing else: no script, no font, no network.
//!
//! The page is printable ASCII. What the log says is escaped twice, once as all that is shown of a log and then for
//! HTML, and never stands in an attribute.

use std::fmt::{self, Write};

use super::super::exec::{Exec, Fate};
use super::drawn::{Drawn, Shown, counts};
use super::fold::Alike;
use super::processes::{Origin, Process};

/// How it looks.
const STYLE: &str = include_str!("page.css");

/// Nothing is loaded, and nothing runs, whatever stands in the page.
const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";

/// How deep it is drawn.
const DEPTH_MAX: usize = 100;

/// Down to there, all is open; below, what has something to look for in it.
const OPEN_DEPTH: usize = 3;

/// `text` with what HTML has a meaning for escaped.
struct Html<'a>(&'a str);

impl fmt::Display for Html<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| match letter {
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '&' => f.write_str("&amp;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&#39;"),
            ' '..='~' => f.write_char(letter),
            other => write!(f, "{}", other.escape_default()),
        })
    }
}

/// The page.
///
/// # Errors
/// None of its own.
pub(super) fn page(drawn: &Drawn<'_>) -> Result<String, fmt::Error> {
    let mut page = String::from(HEAD);
    let out = &mut page;
    let session = drawn.session;
    write!(
        out,
        "<title>execward: {}</title>\n<style>\n{STYLE}</style>\n",
        Html(&session.name)
    )?;
    write!(
        out,
        "</head>\n<body>\n<h1>Session {}</h1>\n<dl>\n",
        Html(&session.name)
    )?;
    let command = session.command.as_deref();
    let command = command.unwrap_or("its beginning is not in the log");
    writeln!(
        out,
        "<dt>command</dt><dd><code>{}</code></dd>",
        Html(command)
    )?;
    if !session.policy.is_empty() {
        let policy = session.policy.join(", ");
        writeln!(out, "<dt>policy</dt><dd>{}</dd>", Html(&policy))?;
    }
    for (at, line) in counts(drawn).iter().enumerate() {
        let name = if at == 0 { "execs" } else { "" };
        writeln!(out, "<dt>{name}</dt><dd>{}</dd>", Html(line))?;
    }
    out.push_str("</dl>\n<p class=\"key\">");
    for fate in [Fate::Ran, Fate::Refused, Fate::Changed, Fate::Failed] {
        let (class, mark) = look(fate);
        write!(out, "<b class=\"{class}\">{mark} {}</b>", fate.word())?;
    }
    out.push_str(
        "a line an exec; what is indented was started by what stands above it; times are seconds since the \
         session began</p>\n<main>\n",
    );
    let roots = drawn.shapes.fold(&session.processes.roots());
    list(out, drawn, &roots, 0)?;
    out.push_str("</main>\n</body>\n</html>\n");
    Ok(page)
}

/// The class and the mark of a fate. The mark tells without its colour, and the word without the mark.
fn look(fate: Fate) -> (&'static str, &'static str) {
    match fate {
        Fate::Ran => ("ran", "&#10003;"),
        Fate::Refused | Fate::Killed => ("refused", "&#10005;"),
        Fate::Changed | Fate::Unverified | Fate::Waits => ("odd", "&#9651;"),
        Fate::Missing
        | Fate::LetGo
        | Fate::Withdrawn
        | Fate::Failed
        | Fate::Vanished
        | Fate::Unknown => ("plain", "&#183;"),
    }
}

fn list(out: &mut String, drawn: &Drawn<'_>, siblings: &[Alike], depth: usize) -> fmt::Result {
    out.push_str("<ul>\n");
    for alike in siblings {
        item(out, drawn, *alike, depth)?;
    }
    out.push_str("</ul>\n");
    Ok(())
}

fn item(out: &mut String, drawn: &Drawn<'_>, alike: Alike, depth: usize) -> fmt::Result {
    let processes = &drawn.session.processes;
    let Some(process) = processes.get(alike.first) else {
        return Ok(());
    };
    let note = note(drawn, process, alike);
    let (first, steps) = drawn.steps(process);
    let is_folding = steps.len() > 0;
    out.push_str("<li>");
    if is_folding {
        let is_open = depth < OPEN_DEPTH || drawn.shapes.is_marked(alike.first);
        let open = if is_open { " open" } else { "" };
        write!(out, "<details{open}><summary>")?;
    }
    row(out, drawn, process, first, &note)?;
    if is_folding {
        out.push_str("</summary>\n");
        below(out, drawn, process, steps, depth)?;
        out.push_str("</details>");
    }
    out.push_str("</li>\n");
    Ok(())
}

/// What a process did after its first line, children in lists and execs between them.
fn below<'a>(
    out: &mut String,
    drawn: &Drawn<'_>,
    process: &Process,
    steps: impl Iterator<Item = Shown<'a>>,
    depth: usize,
) -> fmt::Result {
    let mut siblings = Vec::new();
    for shown in steps {
        match shown {
            Shown::Child(child) => siblings.push(child),
            Shown::Exec(exec) => {
                children(out, drawn, &mut siblings, depth)?;
                let same = "<span class=\"note\">the same process</span> ";
                row(out, drawn, process, Some(exec), same)?;
            }
        }
    }
    children(out, drawn, &mut siblings, depth)
}

fn children(
    out: &mut String,
    drawn: &Drawn<'_>,
    siblings: &mut Vec<Alike>,
    depth: usize,
) -> fmt::Result {
    match std::mem::take(siblings) {
        none if none.is_empty() => Ok(()),
        _ if depth >= DEPTH_MAX => {
            out.push_str("<div class=\"note\">more is below, which --json has</div>");
            Ok(())
        }
        siblings => list(out, drawn, &siblings, depth + 1),
    }
}

/// How many look like it, and what of its origin is not to be seen from where it stands, as HTML.
fn note(drawn: &Drawn<'_>, process: &Process, alike: Alike) -> String {
    let mut note = String::new();
    if alike.times > 1 {
        let until = drawn.until(alike);
        note = format!(
            "<span class=\"times\">&#215; {}</span>{until} ",
            alike.times
        );
    }
    match process.origin {
        Origin::Command | Origin::Parent(_) => {}
        Origin::Adopted => {
            note +=
                "<span class=\"note\">adopted: its parent had ended, and is not in the log</span>";
        }
        Origin::Unknown => note += "<span class=\"note\">its parent is not in the log</span>",
    }
    note
}

/// A line; `note` is HTML.
fn row(
    out: &mut String,
    drawn: &Drawn<'_>,
    process: &Process,
    exec: Option<&Exec>,
    note: &str,
) -> fmt::Result {
    let pid = process.pid;
    let Some(exec) = exec else {
        return write!(
            out,
            "<span class=\"row plain\"><span class=\"word\">&#183;</span><span class=\"note\">process {pid}, {} \
             {note}</span></span>",
            match process.has_executed() {
                true => "before it executed anything",
                false => "which executed nothing itself",
            }
        );
    };
    let (class, mark) = look(exec.fate);
    write!(
        out,
        "<span class=\"row {class}\"><span class=\"word\">{mark} {}</span><span><span class=\"call\">{}</span>",
        exec.fate.word(),
        Html(&exec.call)
    )?;
    let why = exec.why();
    if !why.is_empty() {
        write!(out, " <span class=\"why\">{}</span>", Html(&why))?;
    }
    write!(out, " {note}</span>")?;
    let id = Html(&exec.id);
    write!(
        out,
        "<span class=\"id\">{id} <span class=\"note\">{pid}</span></span>"
    )?;
    let at = exec.at.unwrap_or(0.0);
    let share = if drawn.session.seconds > 0.0 {
        at / drawn.session.seconds * 99.0
    } else {
        0.0
    };
    write!(
        out,
        "<span class=\"when\">{at:.3}<span class=\"bar\"><i style=\"left:{share:.1}%\"></i></span></span></span>"
    )
}
