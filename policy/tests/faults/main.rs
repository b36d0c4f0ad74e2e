//! Every fault of a policy is found, and found where it is.

mod keys;
mod layers;
mod rules;
mod shown;
mod text;

use execward_policy::{Diagnostics, Layer, NoIncludes, Places, Ruleset, Source};

fn places() -> Places {
    Places {
        home: "/home/u".into(),
        workspace: "/w".into(),
        tmp: "/tmp".into(),
    }
}

fn load(sources: &[(&str, &[u8], Layer)]) -> Diagnostics {
    let sources: Vec<Source<'_>> = sources
        .iter()
        .map(|(name, text, layer)| Source {
            name,
            text,
            layer: *layer,
        })
        .collect();
    Ruleset::load(&sources, &places(), &NoIncludes).expect_err("the policy has a fault")
}

/// The faults of one user's policy, a line each.
fn faults(text: &str) -> Vec<String> {
    let faults = load(&[("p.toml", text.as_bytes(), Layer::User)]);
    faults.to_string().lines().map(str::to_owned).collect()
}

/// Asserts that `line`, as the fourth of a sound policy with one deny, is the one fault.
#[track_caller]
fn assert_fault_in_rule(line: &str, column: usize, message: &str) {
    let text = format!(
        "version = 1\nmode.security = \"full\"\n[[deny]]\n{line}\nid = \"d\"\nreason = \"r\""
    );
    let is_alone = ["program", "command", "flags", "cwd", "via", "sha256"];
    let text = if is_alone.iter().any(|key| line.starts_with(key)) {
        text
    } else {
        text + "\nprogram = \"x\""
    };
    assert_eq!(
        faults(&text),
        [format!("p.toml:4:{column}: {message}")],
        "{line}"
    );
}

/// Asserts that `text` has one fault, on `line` and `column`.
#[track_caller]
fn assert_fault(text: &str, line: usize, column: usize, message: &str) {
    assert_eq!(
        faults(text),
        [format!("p.toml:{line}:{column}: {message}")],
        "{text}"
    );
}
