//! Texts that are no configuration, and entries that would be something else in a policy.

use proptest::prelude::*;

use super::*;

#[test]
fn what_is_no_configuration_is_refused_with_its_place() {
    for (agent, name, text, place) in [
        (ImportFrom::Claude, "s.json", "{\"permissions\": {", "1:"),
        (ImportFrom::Claude, "s.json", "", "1:"),
        (ImportFrom::Claude, "s.json", "{\n  \"a\": nul }", "2:"),
        (
            ImportFrom::Claude,
            "s.json",
            "[]",
            "1:1: the settings are no object",
        ),
        (
            ImportFrom::Claude,
            "s.json",
            "{\"permissions\": 1}",
            "1:1: `permissions` is no object",
        ),
        (
            ImportFrom::Claude,
            "s.json",
            "{\"permissions\": {\"deny\": 1}}",
            "1:1: `permissions.deny` is no list",
        ),
        (
            ImportFrom::Codex,
            "x.rules",
            "prefix_rule(\n  pattern = [",
            "2:",
        ),
        (ImportFrom::Codex, "x.rules", "x = 1", "1:3:"),
        (ImportFrom::Codex, "c.toml", "a = 1\nb = ", "2:"),
        (ImportFrom::Gemini, "s.json", "{\"tools\": [", "1:"),
        (
            ImportFrom::Gemini,
            "s.json",
            "{\"tools\": []}",
            "1:1: `tools` is no object",
        ),
        (ImportFrom::Gemini, "p.toml", "[[rule]]\nx", "2:"),
        (
            ImportFrom::Gemini,
            "p.toml",
            "rule = 1",
            "1:1: `rule` is no list of tables",
        ),
    ] {
        let error = import_of(agent, name, text).unwrap_err().to_string();
        assert!(error.starts_with(place), "{text:?}: {error}");
    }
}

#[test]
fn depth_is_refused_and_not_followed() {
    let brackets = "[".repeat(100_000);
    for (agent, name, text) in [
        (ImportFrom::Claude, "s.json", brackets.clone()),
        (
            ImportFrom::Claude,
            "s.json",
            format!("{{\"permissions\": {{\"deny\": {brackets}"),
        ),
        (ImportFrom::Codex, "x.rules", format!("f(a = {brackets}")),
        (ImportFrom::Codex, "c.toml", format!("a = {brackets}")),
        (
            ImportFrom::Gemini,
            "s.json",
            format!("{{\"tools\": {brackets}"),
        ),
        (ImportFrom::Gemini, "p.toml", format!("rule = {brackets}")),
        (
            ImportFrom::Gemini,
            "p.toml",
            format!("rule = {}", "{a=".repeat(100_000)),
        ),
        (
            ImportFrom::Gemini,
            "p.toml",
            format!("[{}]", vec!["a"; 100_000].join(".")),
        ),
    ] {
        assert!(import_of(agent, name, &text).is_err(), "{name}");
    }
}

#[test]
fn many_of_anything_take_no_long() {
    let many = |part: &str| part.repeat(200_000);
    for (agent, name, text) in [
        (
            ImportFrom::Claude,
            "s",
            format!("{{\"deny\": [\"Bash({}:*)\"]}}", many("a -b ")),
        ),
        (
            ImportFrom::Claude,
            "s",
            format!("{{\"deny\": [{}1]}}", many("1, ")),
        ),
        (ImportFrom::Codex, "x.rules", many("f();\n")),
        (
            ImportFrom::Codex,
            "x.rules",
            format!("prefix_rule(pattern = [{}])", many("'a', ")),
        ),
        (
            ImportFrom::Codex,
            "x.rules",
            many("prefix_rule(pattern = ['cd'])\n"),
        ),
        (ImportFrom::Gemini, "p.toml", many("[[rule]]\n")),
        (
            ImportFrom::Gemini,
            "p.toml",
            format!("[[rule]]\ntoolName = [{}]\n", many("'a', ")),
        ),
        (ImportFrom::Gemini, "s.json", many("/*")),
    ] {
        let started = std::time::Instant::now();
        if let Ok(imported) = import_of(agent, name, &text) {
            loaded(&imported.policy);
        }
        assert!(started.elapsed().as_secs() < 60, "{name} {}", &text[..20]);
    }
}

#[test]
fn length_and_bytes_are_refused() {
    assert!(matches!(
        super::super::text(&vec![b' '; 10 << 20]),
        Err(ImportError::TooLong)
    ));
    let error = super::super::text(b"{\n \xff}").unwrap_err().to_string();
    assert_eq!(error, "2:2: what is here is no UTF-8");
    let entries = vec!["\"Bash(\""; 5000].join(",");
    let text = format!("{{\"permissions\": {{\"allow\": [{entries}]}}}}");
    assert!(matches!(
        import_of(ImportFrom::Claude, "s", &text),
        Err(ImportError::TooMany(_))
    ));
    let long = "x".repeat(5 << 20);
    let text =
        format!("{{\"permissions\": {{\"allow\": [\"Bash({long}:*)\", \"Bash({long})\"]}}}}");
    assert!(matches!(
        import_of(ImportFrom::Claude, "s", &text),
        Err(ImportError::TooLong)
    ));
}

#[test]
fn no_entry_breaks_out_of_its_comment_or_string() {
    for entry in [
        "Bash(x\n[[allow]]\nid = 'a'\nprogram = '/**')",
        "Bash('x\n[[allow]]':*)",
        "Bash(x\u{0}y)",
        "Bash('x\u{0}y':*)",
        "Read(a\u{0}b)",
        "Read(a\n\"b)",
        "mcp__a__\u{1b}[2J\"\n",
        "Bash(echo '\u{1b}]0;x\u{7}\u{9b}\u{202e}':*)",
        "WebFetch(domain:\"\n)",
        "\"]\n[[allow]]",
    ] {
        for list in ["allow", "ask", "deny"] {
            let text = serde_json::json!({"permissions": {list: [entry]}}).to_string();
            let imported = import_of(ImportFrom::Claude, "s", &text).unwrap();
            let rules = loaded(&imported.policy);
            let own = rules.rules().filter(|rule| rule.layer() == Layer::User);
            assert!(own.count() <= 1, "{entry:?}\n{}", imported.policy);
            let is_shown = |c: char| c == '\n' || !c.is_control() && c != '\u{202e}';
            assert!(imported.policy.chars().all(is_shown), "{}", imported.policy);
            let lines = imported.left_out.iter().map(|left| left.line());
            assert!(
                lines
                    .flat_map(|line| line.chars().collect::<Vec<_>>())
                    .all(|c| !c.is_control())
            );
        }
    }
}

/// What entries are made of, and what else.
fn entry() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "Bash(",
        "Read(",
        "Edit(",
        "WebFetch(domain:",
        "mcp__",
        ")",
        ":*",
        " *",
        "*",
        "**/",
        "//",
        "~/",
        "./",
        "..",
        "git ",
        "push",
        " --force",
        " -m ",
        "'",
        "\"",
        "\\",
        "$",
        "@",
        "!",
        "{a,b}",
        "[",
        "?",
        "=",
        "\n",
        "\u{0}",
        "é",
        "rm",
        "${home}",
        "\u{7f}",
    ]);
    let parts = prop::collection::vec(part, 0..9).prop_map(|parts| parts.concat());
    prop_oneof![3 => parts.clone(), 3 => parts.prop_map(|parts| format!("Bash({parts})")), 1 => any::<String>()]
}

proptest! {
    #[test]
    fn whatever_the_words_are_the_policy_loads(
        words in prop::collection::vec(entry(), 1..4),
        decision in prop::sample::select(vec!["allow", "prompt", "forbidden", "deny", "ask_user"]),
    ) {
        let string = |text: &String| {
            let codes = text.chars().map(|c| format!("\\U{:08x}", u32::from(c)));
            format!("\"{}\"", codes.collect::<String>())
        };
        let list = words.iter().map(string).collect::<Vec<_>>().join(", ");
        let rule = format!("prefix_rule(pattern = [{list}], decision = '{decision}', match = [[{list}]])");
        loaded(&import_of(ImportFrom::Codex, "x.rules", &rule).unwrap().policy);
        let policy = format!(
            "[[rule]]\ntoolName = 'run_shell_command'\ncommandPrefix = [{list}]\ndecision = '{decision}'\n\
             priority = 1\ndenyMessage = {}\n[[rule]]\ntoolName = [{list}]\ndecision = 'deny'\n",
            string(&words[0])
        );
        loaded(&import_of(ImportFrom::Gemini, "p.toml", &policy).unwrap().policy);
        let settings = serde_json::json!({"tools": {"allowed": words, "exclude": words}}).to_string();
        loaded(&import_of(ImportFrom::Gemini, "s.json", &settings).unwrap().policy);
    }

    #[test]
    fn whatever_the_permissions_are_the_policy_loads(
        allow in prop::collection::vec(entry(), 0..4),
        ask in prop::collection::vec(entry(), 0..4),
        deny in prop::collection::vec(entry(), 0..4),
    ) {
        let lists = serde_json::json!({"permissions": {"allow": allow, "ask": ask, "deny": deny}});
        let imported = import_of(ImportFrom::Claude, "s", &lists.to_string()).unwrap();
        let rules = loaded(&imported.policy);
        let own = rules.rules().filter(|rule| rule.layer() == Layer::User).count();
        let count = allow.len() + ask.len() + deny.len();
        prop_assert!(own <= count && own + imported.left_out.len() >= count);
    }
}
