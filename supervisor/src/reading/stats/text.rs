//! The figures for people: aligned, and printable ASCII alone.

use std::collections::BTreeMap;
use std::fmt;

use super::report::{Latency, Program, Questions, Report, Rule, Unhit};
use crate::audit::escaped;

/// Longest path that is shown in a column; more of it moves the others.
const PATH_COLUMNS: usize = 44;

/// How many rules are shown, those with the most hits first. `--json` has all.
const RULES_SHOWN: usize = 20;

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.head(f)?;
        self.latency(f)?;
        self.programs(f)?;
        self.rules(f)?;
        questions(f, &self.questions)?;
        let gaps = match self.gaps.count {
            0 => "none".to_owned(),
            count => format!("{count}, where {} records are missing", self.gaps.records),
        };
        line(f, "gaps", &gaps)?;
        let missing = format!("{} execs of files that are not there", self.target_missing);
        line(f, "missing", &missing)?;
        let tools = match self.tool_calls.count {
            0 => "no calls".to_owned(),
            count => format!("{count} calls: {}", words(&self.tool_calls.verdicts)),
        };
        line(f, "tools", &tools)
    }
}

impl Report<'_> {
    fn head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        line(f, "log", &escaped(&self.log))?;
        let span = self.span.map_or(String::new(), |span| {
            format!(
                " in {:.3} s, {:.3} to {:.3}",
                span.seconds, span.first, span.last
            )
        });
        line(f, "records", &format!("{}{span}", self.records))?;
        line(f, "sessions", &self.session_count.to_string())?;
        for session in self.sessions.iter().filter(|_| self.session_count > 1) {
            let name = escaped(&session.name);
            let (decisions, refused) = (session.decisions, session.refused);
            let questions = session.questions;
            let counts = format!("{decisions} decisions, {refused} refused, {questions} questions");
            line(f, "", &format!("{name}: {counts}"))?;
        }
        let rate = self.rate.map_or(String::new(), |rate| {
            let mean = rate
                .mean
                .map_or(String::new(), |mean| format!(" {mean:.1} a second,"));
            let (busiest, at) = (rate.busiest, rate.busiest_at);
            format!(":{mean} {busiest} in the busiest second, {at}")
        });
        line(f, "decisions", &format!("{}{rate}", self.decisions))?;
        line(f, "verdicts", &words(&self.verdicts))?;
        line(f, "effects", &words(&self.effects))?;
        line(f, "outcomes", &words(&self.outcomes))?;
        line(f, "refused for", &words(&self.refusals_by_reason))
    }

    fn latency(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nmicroseconds of execs that nobody was asked about")?;
        writeln!(
            f,
            "  {:<12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8} {:>8}",
            "", "execs", "p50", "p95", "p99", "p99.9", "max", ">1ms", ">10ms", ">100ms"
        )?;
        for (what, latency) in &self.latency_us {
            let Latency {
                percentiles: of,
                over_1_ms,
                over_10_ms,
                over_100_ms,
            } = latency;
            let shares = [over_1_ms, over_10_ms, over_100_ms].map(|share| share * 100.0);
            let [one, ten, hundred] = shares;
            writeln!(
                f,
                "  {:<12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {one:>7.2}% {ten:>7.2}% {hundred:>7.2}%",
                escaped(what),
                of.count,
                of.p50,
                of.p95,
                of.p99,
                of.p99_9,
                of.max
            )?;
        }
        Ok(())
    }

    fn programs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heading = format!("programs, {} in all", self.program_count);
        let columns = PATH_COLUMNS;
        writeln!(f, "\n{heading:<columns$}   {:>9} {:>9}", "execs", "refused")?;
        for program in &self.programs {
            let Program {
                path,
                count,
                refused,
            } = program;
            writeln!(f, "  {:<columns$} {count:>9} {refused:>9}", escaped(path))?;
        }
        if self.other_programs > 0 {
            let others = "of programs that are not told apart";
            writeln!(f, "  {others:<columns$} {:>9}", self.other_programs)?;
        }
        Ok(())
    }

    fn rules(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = PATH_COLUMNS;
        for (name, rules) in [("rules", &self.rules), ("grants", &self.grants)] {
            if rules.is_empty() {
                continue;
            }
            writeln!(f, "\n{name:<columns$}   {:>9}", "hits")?;
            for rule in rules.iter().take(RULES_SHOWN) {
                let Rule {
                    id,
                    src,
                    hits,
                    verdicts,
                } = rule;
                let named = format!("{} ({})", escaped(id), escaped(src));
                writeln!(f, "  {named:<columns$} {hits:>9}  {}", words(verdicts))?;
            }
            if let Some(more) = rules.len().checked_sub(RULES_SHOWN).filter(|it| *it > 0) {
                writeln!(f, "  and {more} more, which --json has")?;
            }
        }
        match &self.rules_never_hit {
            None => writeln!(
                f,
                "\nrules never hit: name the policy with --policy FILE or --preset NAME to know\n"
            ),
            Some(rules) => {
                writeln!(f, "\nrules never hit, {}", rules.len())?;
                for Unhit { id, action, src } in rules {
                    writeln!(f, "  {action} {} ({})", escaped(id), escaped(src))?;
                }
                writeln!(f)
            }
        }
    }
}

fn questions(f: &mut fmt::Formatter<'_>, questions: &Questions) -> fmt::Result {
    let Questions {
        count,
        open,
        per_session,
        wait_ms,
        answers,
    } = questions;
    line(
        f,
        "questions",
        &format!("{count}, {per_session:.1} a session; {open} without a decision here"),
    )?;
    if *count == 0 {
        return Ok(());
    }
    let answers = [
        ("allowed", answers.allowed),
        ("denied", answers.denied),
        ("expired", answers.expired),
        ("withdrawn", answers.withdrawn),
        ("nobody to ask", answers.nobody),
        ("other", answers.other),
    ];
    let answers = answers.into_iter().filter(|(_, count)| *count > 0);
    let answers: Vec<_> = answers
        .map(|(what, count)| format!("{what} {count}"))
        .collect();
    line(f, "", &answers.join(", "))?;
    if wait_ms.count == 0 {
        return Ok(());
    }
    let (p50, p95, max) = (wait_ms.p50, wait_ms.p95, wait_ms.max);
    let waited = wait_ms.count;
    let waits = format!("{waited} waited: p50 {p50} ms, p95 {p95} ms, max {max} ms");
    line(f, "", &waits)
}

fn line(f: &mut fmt::Formatter<'_>, name: &str, text: &str) -> fmt::Result {
    let line = format!("{name:<12} {text}");
    writeln!(f, "{}", line.trim_end())
}

/// Those with the most first.
fn words(counts: &BTreeMap<String, u64>) -> String {
    let mut counts: Vec<_> = counts.iter().collect();
    counts.sort_by_key(|(word, count)| (std::cmp::Reverse(**count), *word));
    let counts = counts.into_iter();
    let words: Vec<_> = counts
        .map(|(word, count)| format!("{} {count}", escaped(word)))
        .collect();
    match words.is_empty() {
        true => "none".to_owned(),
        false => words.join(", "),
    }
}
