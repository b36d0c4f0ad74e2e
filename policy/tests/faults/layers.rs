//! Whose a file is, what it includes, and what that forbids.

use std::collections::HashMap;

use execward_policy::{Included, Includes, Layer, NoIncludes, Ruleset, Source};

use crate::{assert_fault, faults, load, places};

/// Files by name.
struct Files(HashMap<&'static str, &'static str>);

impl Includes for Files {
    fn read(&self, _includer: &str, path: &str) -> Result<Included, String> {
        let text = self.0.get(path).ok_or("no such file")?;
        Ok(Included {
            name: path.to_owned(),
            text: text.as_bytes().to_vec(),
        })
    }
}

fn including(
    text: &str,
    files: impl IntoIterator<Item = (&'static str, &'static str)>,
) -> Result<Ruleset, Vec<String>> {
    let source = Source {
        name: "p.toml",
        text: text.as_bytes(),
        layer: Layer::User,
    };
    Ruleset::load(&[source], &places(), &Files(files.into_iter().collect()))
        .map_err(|faults| faults.to_string().lines().map(str::to_owned).collect())
}

#[test]
fn an_agents_file_states_rules_and_nothing_that_they_rest_on() {
    assert_eq!(
        faults(
            "version = 1\nlayer = 'agent'\ninclude = ['preset:dev']\ntrusted_dirs = ['/x']\n\
             [[allow]]\nid = 'a'\nprogram = '/x/y'\nchildren = ['/x/z']"
        ),
        [
            "p.toml:3:12: a file of the layer `agent` may not have a preset",
            "p.toml:4:1: a file of the layer `agent` may not have `trusted_dirs`",
            "p.toml:8:1: a file of the layer `agent` may not have `children`",
        ]
    );
}

#[test]
fn what_hears_of_questions_outside_is_the_users_to_name() {
    let notify = "notify = ['/usr/bin/notify-send', 'asked']";
    for layer in ["agent", "floor"] {
        assert_fault(
            &format!("version = 1\nlayer = '{layer}'\n{notify}"),
            3,
            1,
            &format!("a file of the layer `{layer}` may not have `notify`"),
        );
    }
    let escalate = "mode = { security = 'full', escalate_to = '/run/up' }";
    assert_fault(
        &format!("version = 1\nlayer = 'agent'\n{escalate}"),
        3,
        43,
        "a file of the layer `agent` may not have `escalate_to`",
    );
    for (layer, text) in [("user", notify), ("user", escalate), ("floor", escalate)] {
        let text = format!("version = 1\nlayer = '{layer}'\n{text}");
        let source = Source {
            name: "p",
            text: text.as_bytes(),
            layer: Layer::User,
        };
        let loaded = Ruleset::load(&[source], &places(), &NoIncludes);
        assert!(loaded.is_ok(), "{layer} {text}");
    }
    let message = "the program of `notify` begins with `/`";
    assert_fault("version = 1\nnotify = ['notify-send']", 2, 11, message);
    let message = "the path of a higher supervisor's socket begins with `/`";
    assert_fault("version = 1\nmode.escalate_to = 'up'", 2, 20, message);
}

#[test]
fn a_floor_permits_nothing() {
    assert_fault(
        "version = 1\nlayer = 'floor'\n[[allow]]\nid = 'a'\nprogram = '/x/y'",
        3,
        1,
        "a file of the layer `floor` may not have `[[allow]]`",
    );
    assert_fault(
        "version = 1\nlayer = 'floor'\ntrusted_dirs = ['/x']",
        3,
        1,
        "a file of the layer `floor` may not have `trusted_dirs`",
    );
}

#[test]
fn a_file_cannot_change_whose_it_is() {
    let text = b"version = 1\nlayer = 'user'";
    let found = load(&[("/etc/execward/floor.toml", text, Layer::Floor)]);
    assert_eq!(
        found.to_string(),
        "/etc/execward/floor.toml:2:9: this file is of the layer `floor`, and `user` does not change that"
    );
    let found = including(
        "version = 1\ninclude = ['f']",
        [("f", "version = 1\nlayer = 'floor'")],
    );
    assert_eq!(
        found.unwrap_err(),
        ["f:2:9: this file is of the layer `user`, and `floor` does not change that"]
    );
}

#[test]
fn an_include_counts_once_and_below_its_includer() {
    let ruleset = including(
        "version = 1\ninclude = ['a', 'b', 'preset:dev']\nmode.ask = 'off'",
        [
            (
                "a",
                "version = 1\ninclude = ['b']\nmode = { ask = 'always', security = 'full' }",
            ),
            ("b", "version = 1\n[[deny]]\nid = 'd'\nprogram = 'x'"),
        ],
    )
    .unwrap();
    assert_eq!(ruleset.mode().ask.as_str(), "off");
    assert_eq!(ruleset.mode().security.as_str(), "full");
    assert_eq!(
        ruleset.rules().filter(|rule| rule.source() == "b").count(),
        1
    );
    assert!(ruleset.rules().any(|rule| rule.layer() == Layer::Builtin));
}

#[test]
fn an_include_that_cannot_be_read_is_a_fault_where_it_is_named() {
    let found = including(
        "version = 1\ninclude = ['gone', 'preset:dve', 'a']",
        [
            ("a", "version = 1\ninclude = ['b']"),
            ("b", "version = 1\ninclude = ['a']"),
        ],
    );
    assert_eq!(
        found.unwrap_err(),
        [
            "p.toml:2:12: cannot include `gone`: no such file",
            "p.toml:2:20: there is no preset `dve`",
            "b:2:12: `a` includes itself: p.toml → a → b",
        ]
    );
}

#[test]
fn includes_go_eight_deep() {
    let chain = [
        ("1", "version = 1\ninclude = ['2']"),
        ("2", "version = 1\ninclude = ['3']"),
        ("3", "version = 1\ninclude = ['4']"),
        ("4", "version = 1\ninclude = ['5']"),
        ("5", "version = 1\ninclude = ['6']"),
        ("6", "version = 1\ninclude = ['7']"),
        ("7", "version = 1\ninclude = ['8']"),
        ("8", "version = 1"),
        ("9", "version = 1"),
    ];
    assert!(including("version = 1\ninclude = ['1']", chain).is_ok());
    let mut deeper = chain;
    deeper[7].1 = "version = 1\ninclude = ['9']";
    assert_eq!(
        including("version = 1\ninclude = ['1']", deeper).unwrap_err(),
        ["8:2:12: includes go deeper than 8 files"]
    );
}
