//! What is not known shows in the verdict only where a rule looks at it.

use jiff::Timestamp;

use super::*;
use crate::places::Places;
use crate::request::ProgramFile;
use crate::source::{Layer, NoIncludes, Source};
use crate::verdict::Decision;

const ENV: Gaps = Gaps { env: true, ..NONE };
const PATHS: Gaps = Gaps {
    paths: true,
    ..NONE
};
const LINEAGE: Gaps = Gaps {
    lineage: true,
    ..NONE
};
const DIGESTS: Gaps = Gaps {
    digests: true,
    ..NONE
};
const STREAMS: Gaps = Gaps {
    streams: true,
    ..NONE
};
const VARIABLES: Gaps = Gaps {
    variables: true,
    ..NONE
};
const NONE: Gaps = Gaps {
    env: false,
    variables: false,
    paths: false,
    digests: false,
    streams: false,
    lineage: false,
};

fn policy(rules: &str) -> Ruleset {
    let text = format!("version = 1\nmode.security = \"allowlist\"\n{rules}");
    let source = Source {
        name: "p.toml",
        text: text.as_bytes(),
        layer: Layer::User,
    };
    Ruleset::load(&[source], &Places::of_tests(), &NoIncludes)
        .unwrap_or_else(|faults| panic!("{faults}"))
}

fn decide(rules: &str, gaps: Gaps, argv: &[&str]) -> [Decision; 2] {
    let path = format!("/usr/bin/{}", argv[0]);
    let argv = argv.iter().map(|word| word.as_bytes().to_vec()).collect();
    let request = ExecRequest {
        cwd: Some(b"/w".to_vec()),
        ..ExecRequest::new(ProgramFile::at(path), argv)
    };
    let doubt = Doubt::of(&policy(rules), gaps);
    let decide =
        |(rules, request): (&Ruleset, _)| rules.decide(&request, Timestamp::UNIX_EPOCH).decision();
    doubt.sides(&request).map(decide)
}

#[test]
fn a_gap_counts_where_a_rule_looks_at_it_and_nowhere_else() {
    use Decision::{Allow, Ask, Deny};
    let ls = "[[allow]]\nid = 'ls'\nprogram = 'ls'\n";
    for (rules, gaps, expected) in [
        ("", NONE, [Ask, Ask]),
        ("", ENV, [Ask, Ask]),
        ("[[deny]]\nid = 'd'\nprogram = 'ls'", ENV, [Deny, Deny]),
        // No allow passes over what nobody knows of.
        (ls, ENV, [Ask, Allow]),
        (
            "[[allow]]\nid = 'a'\nprogram = 'ls'\nenv = '*'",
            ENV,
            [Ask, Allow],
        ),
        ("[[deny]]\nid = 'd'\nenv = 'X'", VARIABLES, [Deny, Ask]),
        (ls, VARIABLES, [Allow, Allow]),
        ("[[deny]]\nid = 'd'\nenv = 'X'", ENV, [Deny, Ask]),
        (
            "[[deny]]\nid = 'd'\nprogram = 'cp'\nenv = 'X'",
            ENV,
            [Ask, Ask],
        ),
        (ls, PATHS, [Allow, Allow]),
        ("[[deny]]\nid = 'd'\npath = '/etc/'", PATHS, [Deny, Ask]),
        (
            "[[allow]]\nid = 'a'\nprogram = 'ls'\npath = '/w/'",
            PATHS,
            [Ask, Allow],
        ),
        (
            "[[allow]]\nid = 'a'\nprogram = 'ls'\nvia = 'sh'",
            LINEAGE,
            [Ask, Allow],
        ),
        (
            "[[deny]]\nid = 'd'\nprogram = 'ls'\nvia = 'sh'",
            LINEAGE,
            [Deny, Ask],
        ),
        (
            "[[allow]]\nid = 'a'\nprogram = 'sh'\nchildren = '/usr/bin/*'",
            LINEAGE,
            [Ask, Allow],
        ),
        (
            "[[allow]]\nid = 'a'\nprogram = 'sh'\nchildren = '/usr/lib/*'",
            LINEAGE,
            [Ask, Ask],
        ),
        (ls, LINEAGE, [Allow, Allow]),
    ] {
        assert_eq!(
            decide(rules, gaps, &["ls", "x"]),
            expected,
            "{rules} {gaps:?}"
        );
    }
    let pinned = format!(
        "[[allow]]\nid = 'a'\nprogram = '/usr/bin/ls'\nsha256 = '{}'",
        "0".repeat(64)
    );
    assert_eq!(decide(&pinned, DIGESTS, &["ls"]), [Ask, Allow]);
}

#[test]
fn a_filter_and_a_wrapper_are_as_much_in_doubt_as_any() {
    use Decision::{Allow, Ask};
    for (argv, gaps, expected) in [
        (&["head", "-n", "1"][..], NONE, [Allow, Allow]),
        (&["head", "-n", "1"], STREAMS, [Ask, Allow]),
        (&["head", "-n", "1"], ENV, [Ask, Allow]),
        (&["nice", "ls"], ENV, [Ask, Allow]),
        (&["nice", "ls"], STREAMS, [Allow, Allow]),
    ] {
        assert_eq!(decide("", gaps, argv), expected, "{argv:?} {gaps:?}");
    }
}

#[test]
fn variables_that_are_kept_by_name_say_what_the_environment_said() {
    let rules = policy(
        "[[allow]]\nid = 'a'\nprogram = 'ls'\nenv = 'CARGO_HOME'\n\
         [[ask]]\nid = 'q'\nprogram = 'cp'\nenv = 'MAKELEVEL'\n\
         [[deny]]\nid = 'd'\nprogram = 'rm'\nenv = 'AWS_PROFILE=prod*'",
    );
    let list = |texts: &[&str]| texts.iter().map(|text| (*text).into()).collect();
    for (start, env) in [
        (&[][..], &[][..]),
        (&["PATH=/bin"], &["PATH=/bin", "MAKELEVEL=1"]),
        (&["LD_PRELOAD=a"], &["LD_PRELOAD=b"]),
        (&[], &["LD_PRELOAD=b", "CARGO_HOME=/x"]),
        (&[], &["NODE_OPTIONS=--max-old-space-size=512"]),
        (&["HTTPS_PROXY=x"], &[]),
    ] {
        for name in ["ls", "cp", "rm"] {
            let mut request = ExecRequest {
                env: Some(list(env)),
                start_env: Some(list(start)),
                ..ExecRequest::new(
                    ProgramFile::at(format!("/usr/bin/{name}")),
                    vec![name.into()],
                )
            };
            let decide =
                |request: &ExecRequest| rules.decide(request, Timestamp::UNIX_EPOCH).decision();
            let then = decide(&request);
            let variables = rules.variables(&request);
            variables.put_into(&mut request);
            assert_eq!(decide(&request), then, "{start:?} {env:?} {name}");
            assert!(!rules.wants_values(&variables));
        }
    }
    let request = ExecRequest {
        env: Some(list(&["AWS_PROFILE=production"])),
        ..ExecRequest::new(ProgramFile::at("/usr/bin/rm"), vec!["rm".into()])
    };
    assert!(rules.wants_values(&rules.variables(&request)));
}
