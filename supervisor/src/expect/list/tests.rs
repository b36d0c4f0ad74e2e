use super::*;

fn exec(program: &str, argv: &[&str]) -> Exec {
    Exec {
        id: "8f1004".to_owned(),
        program: program.into(),
        argv: Some(argv.iter().map(|word| word.as_bytes().to_vec()).collect()),
        cwd: Some(b"/w".to_vec()),
        interpreter: None,
        fate: String::new(),
        oddity: None,
    }
}

#[test]
fn an_entry_is_of_its_whole_vector() {
    let of = |keys: &str| {
        let text = format!("version = 1\n[[exec]]\nprogram = \"/usr/bin/cc\"\n{keys}\n");
        List::parse("l", &text).unwrap().execs.remove(0)
    };
    for (keys, argv, is_of) in [
        ("argv = [\"cc\"]", &["cc"][..], true),
        ("argv = [\"cc\"]", &["cc", "a"], false),
        ("argv = [\"cc\", \"*\"]", &["cc"], false),
        ("argv = [\"cc\", \"*\"]", &["cc", "a", "b"], false),
        ("argv = [\"cc\", \"**\"]", &["cc"], true),
        ("argv = [\"cc\", \"**\"]", &["cc", "a", "b"], true),
        ("argv = [\"**\"]", &[], true),
        ("argv = [\"cc\", \"**\", \"b\"]", &["cc", "/a", "b"], true),
        ("argv = [\"cc\"]", &["/usr/bin/cc"], true),
        ("argv = [\"cc\"]", &["other"], false),
        ("argv = [\"cc\", \"${cwd}/*.c\"]", &["cc", "/w/a.c"], true),
        ("argv = [\"cc\", \"${cwd}/*.c\"]", &["cc", "/v/a.c"], false),
        ("argv = []", &["cc"], false),
    ] {
        assert_eq!(
            of(keys).matches(&exec("/usr/bin/cc", argv)),
            is_of,
            "{keys} {argv:?}"
        );
        assert!(!of(keys).matches(&exec("/usr/bin/gcc", argv)), "{keys}");
    }
    let cut = Exec {
        argv: None,
        ..exec("/usr/bin/cc", &[])
    };
    let any = of("argv = [\"**\"]");
    assert!(!any.matches(&cut));
    // By its path it is that; what was loaded is something else.
    let other = Exec {
        oddity: Some("other".to_owned()),
        ..exec("/usr/bin/cc", &["cc"])
    };
    assert!(!any.matches(&other));
    let run_by = |interpreter: &str| Exec {
        interpreter: Some(interpreter.into()),
        ..exec("/usr/bin/cc", &["cc"])
    };
    let by_dash = of("argv = [\"**\"]\ninterpreter = \"/usr/bin/dash\"");
    assert!(by_dash.matches(&run_by("/usr/bin/dash")));
    assert!(!by_dash.matches(&run_by("/usr/bin/python3")));
    assert!(
        !any.matches(&run_by("/usr/bin/dash")) && !by_dash.matches(&exec("/usr/bin/cc", &["cc"]))
    );
}

#[test]
fn all_faults_are_said_each_with_its_place() {
    let text = "version = 2\nexecs = 1\n\n[[exec]]\nprogram = \"${a}\"\nargv = [\"a\", 1]\ncount = -1\n\
        \n[[exec]]\nargv = \"b\"\nnote = 1\n";
    let faults = List::parse("l.toml", text).unwrap_err();
    let faults: Vec<_> = faults.lines().collect();
    let places = [
        "l.toml:1:11: this execward reads version 1",
        "l.toml:2:1: unknown key; there are `version` and `[[exec]]`",
        "l.toml:5:11: only `${cwd}` is known here",
        "l.toml:6:14: this is to be a string",
        "l.toml:7:9: `count` is a number that is not negative",
        "l.toml:9:1: an exec has its `program`",
        "l.toml:10:8: `argv` is a list, the program's name first",
        "l.toml:11:1: unknown key; an exec has `program`, `argv`, `interpreter` and `count`",
    ];
    assert_eq!(faults, places);
    let syntax = List::parse("l", "version = 1\n[[exec]]\nprogram = \nargv = [\n").unwrap_err();
    assert_eq!(syntax.lines().count(), 2, "{syntax}");
    assert!(syntax.starts_with("l:3:"), "{syntax}");
    let missing = List::parse("l", "").unwrap_err();
    assert_eq!(missing, "l:1:1: `version = 1` is missing");
}
