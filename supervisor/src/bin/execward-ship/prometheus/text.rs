//! Figures in Prometheus' text format 0.0.4.
//! <https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>

use std::fmt::{self, Write};

use crate::counters::{ByOne, ByTwo, Counters, Spread};

/// The figures as text.
pub(super) fn text(counters: &Counters) -> String {
    let mut text = String::new();
    // A string takes whatever is written.
    write_all(&mut text, counters).ok();
    text
}

fn write_all(out: &mut String, of: &Counters) -> fmt::Result {
    by_two(out, "decisions", "Execs decided.", &of.decisions)?;
    by_two(out, "answers", "Those asked about.", &of.answers)?;
    for (name, help, label, all) in [
        (
            "outcomes",
            "Ends of execs let go on.",
            "result",
            &of.outcomes,
        ),
        (
            "tool_decisions",
            "Tool calls decided.",
            "verdict",
            &of.tools,
        ),
        ("gaps", "Times records are missing.", "where", &of.gaps),
        ("missing_records", "How many.", "where", &of.missing_records),
    ] {
        by_one(out, name, help, label, all)?;
    }
    for (name, help, value) in [
        ("questions", "Execs held for an answer.", of.questions),
        ("missing_targets", "Execs of no file.", of.missing_targets),
        ("evicted_files", "Files of the log removed.", of.evicted),
        ("sessions_started", "Sessions begun.", of.sessions_started),
        ("sessions_ended", "Sessions ended.", of.sessions_ended),
    ] {
        head(out, &format!("{name}_total"), help, "counter")?;
        writeln!(out, "execward_{name}_total {value}")?;
    }
    let help = "Time to decide without a question.";
    spread(out, "decision_duration", help, &of.decision_time)?;
    let help = "Time that questions waited.";
    spread(out, "question_wait", help, &of.question_wait)?;
    last(out, of)
}

fn last(out: &mut String, counters: &Counters) -> fmt::Result {
    let Some(last) = counters.last else {
        return Ok(());
    };
    head(
        out,
        "last_seq",
        "seq of the last record in its chain.",
        "gauge",
    )?;
    writeln!(out, "execward_last_seq {}", last.seq)?;
    let written = u64::try_from(last.written).unwrap_or(0);
    let times = [
        (
            "last_record_timestamp",
            "When the last record was written.",
            written,
        ),
        ("lag", "How long after that it was counted.", last.lag),
    ];
    for (name, help, time) in times {
        head(out, &format!("{name}_seconds"), help, "gauge")?;
        writeln!(out, "execward_{name}_seconds {}", seconds(time))?;
    }
    Ok(())
}

fn head(out: &mut String, name: &str, help: &str, kind: &str) -> fmt::Result {
    writeln!(
        out,
        "# HELP execward_{name} {help}\n# TYPE execward_{name} {kind}"
    )
}

fn by_one(out: &mut String, name: &str, help: &str, label: &str, all: &ByOne) -> fmt::Result {
    head(out, &format!("{name}_total"), help, "counter")?;
    for (value, count) in all {
        writeln!(
            out,
            "execward_{name}_total{{{label}=\"{}\"}} {count}",
            escaped(value)
        )?;
    }
    Ok(())
}

fn by_two(out: &mut String, name: &str, help: &str, all: &ByTwo) -> fmt::Result {
    head(out, &format!("{name}_total"), help, "counter")?;
    for (verdict, reasons) in all {
        let verdict = escaped(verdict);
        for (reason, count) in reasons {
            let reason = escaped(reason);
            writeln!(
                out,
                "execward_{name}_total{{verdict=\"{verdict}\",reason=\"{reason}\"}} {count}"
            )?;
        }
    }
    Ok(())
}

fn spread(out: &mut String, name: &str, help: &str, times: &Spread) -> fmt::Result {
    head(out, &format!("{name}_seconds"), help, "histogram")?;
    for (bound, count) in &times.within {
        let bound = seconds(*bound);
        writeln!(
            out,
            "execward_{name}_seconds_bucket{{le=\"{bound}\"}} {count}"
        )?;
    }
    let Spread { count, sum, .. } = times;
    writeln!(out, "execward_{name}_seconds_bucket{{le=\"+Inf\"}} {count}")?;
    writeln!(out, "execward_{name}_seconds_sum {}", seconds(*sum))?;
    writeln!(out, "execward_{name}_seconds_count {count}")
}

/// Microseconds as seconds.
fn seconds(microseconds: u64) -> String {
    let (whole, part) = (microseconds / 1_000_000, microseconds % 1_000_000);
    let text = format!("{whole}.{part:06}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A label's value. A position file may have been written by somebody else.
fn escaped(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    value.replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::record::Record;

    #[test]
    fn figures_read_as_prometheus_reads_them() {
        let mut counters = Counters::default();
        let now: Timestamp = "2026-11-30T00:22:51.500857Z".parse().unwrap();
        counters.add(&Record::hostile(), now);
        let asked = json!({"type": "exec.decision", "approval": {"wait_ms": 7500},
                           "decision": {"verdict": "allow", "reason": "user"}});
        counters.add(&Record::test(9, &asked), now);
        counters.add(&Record::hostile().hole_before(0), now);
        let text = text(&counters);
        for line in [
            "# TYPE execward_decisions_total counter",
            "execward_decisions_total{verdict=\"deny\",reason=\"rule\"} 1",
            "execward_answers_total{verdict=\"allow\",reason=\"user\"} 1",
            "execward_questions_total 0",
            "execward_gaps_total{where=\"shipping\"} 1",
            "execward_missing_records_total{where=\"shipping\"} 3",
            "# TYPE execward_decision_duration_seconds histogram",
            "execward_decision_duration_seconds_bucket{le=\"0.001\"} 0",
            "execward_decision_duration_seconds_bucket{le=\"0.0025\"} 1",
            "execward_decision_duration_seconds_bucket{le=\"+Inf\"} 1",
            "execward_decision_duration_seconds_sum 0.001152",
            "execward_question_wait_seconds_bucket{le=\"5\"} 0",
            "execward_question_wait_seconds_bucket{le=\"10\"} 1",
            "execward_question_wait_seconds_count 1",
            "execward_last_seq 9",
            "execward_last_record_timestamp_seconds 1795998171.000857",
            "execward_lag_seconds 0.5",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} in\n{text}");
        }
        assert!(!text.contains("/tmp"), "{text}");
    }

    #[test]
    fn a_label_cannot_end_its_line() {
        assert_eq!(escaped("a\"\\\n"), "a\\\"\\\\\\n");
    }
}
