use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn list(untrusted: &[&str]) -> WatchList {
    let names = untrusted.iter();
    let names = names.map(|name| EnvName::parse(name, &Places::of_tests()).unwrap());
    WatchList::new(names)
}

fn environment(variables: &[&str]) -> Vec<Vec<u8>> {
    let variables = variables.iter();
    variables
        .map(|variable| variable.as_bytes().to_vec())
        .collect()
}

/// The changes, as `how variable`.
fn changes(list: &WatchList, start: &[&str], now: &[&str]) -> Vec<String> {
    let (start, now) = (environment(start), environment(now));
    let changes = list.changes(Some(&start), &now);
    let text = |change: &Change<'_>| format!("{:?} {}", change.how, change.variable.escape_ascii());
    changes.iter().map(text).collect()
}

/// The class of a variable that the session did not begin with, if it is watched.
fn watched(list: &WatchList, variable: &[u8]) -> Option<&'static str> {
    let now = [variable.to_vec()];
    let changes = list.changes(None, &now);
    changes.first().map(|change| change.class)
}

#[test]
fn what_loads_code_or_picks_a_program_is_watched_with_its_class() {
    for (variable, class) in [
        ("LD_PRELOAD=libm.so.6", "loader"),
        ("LD_PRELOAD", "loader"),
        ("GCONV_PATH=.", "loader"),
        ("BASH_ENV=./e", "startup"),
        ("BASH_FUNC_ls%%=() { x", "startup"),
        ("PS4=$(id)", "startup"),
        ("SHELLOPTS=xtrace", "startup"),
        ("HOME=/tmp/e", "search"),
        ("HOME=", "search"),
        ("PATH=.:/usr/bin", "search"),
        ("PATH=/usr/bin:", "search"),
        ("PATH=", "search"),
        ("PATH=/w/../x", "search"),
        ("NODE_OPTIONS=--require ./e.js", "interpreter"),
        (
            "NODE_OPTIONS=--max-old-space-size=1 --import=./e.mjs",
            "interpreter",
        ),
        ("PYTHONPATH=l", "interpreter"),
        ("PYTHONWARNINGS=all:0:antigravity.x:0:0", "interpreter"),
        ("LUA_INIT_5_4=@e", "interpreter"),
        ("JAVA_TOOL_OPTIONS=-javaagent:e.jar", "interpreter"),
        ("GIT_CONFIG_COUNT=1", "vcs"),
        ("GIT_CONFIG_KEY_0=core.fsmonitor", "vcs"),
        ("GIT_EXTERNAL_DIFF=../p", "vcs"),
        ("GIT_SSH_COMMAND=touch m; false", "vcs"),
        ("GIT_SSH_COMMAND=ssh -o ProxyCommand=x", "vcs"),
        ("GIT_EDITOR=touch ../m; true", "vcs"),
        ("GIT_TRACE=/tmp/x", "vcs"),
        ("GIT_DIR=.git:", "vcs"),
        ("GIT_CONFIG_GLOBAL=:", "vcs"),
        ("RSYNC_RSH=./p", "vcs"),
        ("PAGER=sh -c id", "pager"),
        ("GIT_PAGER=./p", "pager"),
        ("LESS=+!touch m", "pager"),
        ("LESSOPEN=|./p %s", "pager"),
        ("SUDO_ASKPASS=./p", "ssh"),
        ("TERMINFO=.", "terminal"),
        ("https_proxy=http://evil:1", "proxy"),
        ("NODE_TLS_REJECT_UNAUTHORIZED=0", "proxy"),
        ("MAKEFILES=e.mk", "build"),
        ("MAKEFLAGS=--eval=x", "build"),
        ("CC=./cc", "build"),
        ("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER=./p", "build"),
        ("RUSTC_WRAPPER=./p", "build"),
        ("RUSTUP_TOOLCHAIN=/tmp/t", "build"),
        ("GOFLAGS=-toolexec=./p", "build"),
        ("npm_config_script_shell=./p", "package"),
        ("PIP_INDEX_URL=http://x", "package"),
        ("RIPGREP_CONFIG_PATH=./c", "configuration"),
        ("ASAN_OPTIONS=log_path=/tmp/x", "configuration"),
    ] {
        let watched = watched(&list(&[]), variable.as_bytes());
        assert_eq!(watched, Some(class), "{variable}");
    }
}

#[test]
fn a_value_beside_a_harmless_one_is_watched() {
    for (variable, class) in [
        (
            "LD_PRELOAD=/usr/libexec/coreutils/libstdbuf.so:x.so",
            "loader",
        ),
        ("LD_PRELOAD=libstdbuf.so", "loader"),
        ("GIT_EXEC_PATH=/tmp/git-core", "vcs"),
        ("GIT_INDEX_FILE=/home/u/.bashrc", "vcs"),
        ("SSL_CERT_FILE=/tmp/ca.pem", "proxy"),
        ("RUSTUP_TOOLCHAIN_SOURCES=x", "build"),
        ("GROFF_TMAC_PATH=.", "configuration"),
    ] {
        let watched = watched(&list(&[]), variable.as_bytes());
        assert_eq!(watched, Some(class), "{variable}");
    }
}

/// What agents and their tools set every day, and what is no variable.
const HARMLESS: &[&str] = &[
    "CI=1",
    "NO_COLOR=1",
    "TERM=dumb",
    "TZ=UTC",
    "LC_ALL=C",
    "LANG=C.UTF-8",
    "NODE_ENV=production",
    "NODE_OPTIONS=--max-old-space-size=512",
    "NODE_OPTIONS=--max-old-space-size=512 --no-warnings",
    "NODE_OPTIONS=",
    "LD_PRELOAD=",
    "LD_PRELOAD=/usr/libexec/coreutils/libstdbuf.so",
    "PYTHONUNBUFFERED=1",
    "PYTHONDONTWRITEBYTECODE=1",
    "PYTHONWARNINGS=ignore::DeprecationWarning,default",
    "PYTHONPATHS=x",
    "VIRTUAL_ENV=/w/.venv",
    "PATH=/w/.venv/bin:/usr/local/bin:/usr/bin",
    "RUST_BACKTRACE=1",
    "RUST_LOG=debug",
    "CARGO_TERM_COLOR=always",
    "CARGO_TARGET_DIR=/tmp/t",
    "CARGO_PKG_NAME=x",
    "CARGO_INCREMENTAL=0",
    "RUSTC_WRAPPER=",
    "RUSTFLAGS=-D warnings -C debuginfo=0",
    "RUSTUP_TOOLCHAIN=nightly-2025-01-01",
    "RUSTUP_TOOLCHAIN_SOURCE=default",
    "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt",
    "DEBIAN_FRONTEND=noninteractive",
    "PAGER=cat",
    "PAGER=less -FRX",
    "GIT_PAGER=cat",
    "GIT_EDITOR=true",
    "GIT_EDITOR=:",
    "EDITOR=code --wait",
    "LESS=FRX",
    "BROWSER=none",
    "GIT_TERMINAL_PROMPT=0",
    "GIT_AUTHOR_NAME=a",
    "GIT_COMMITTER_DATE=2020-01-01",
    "GIT_OPTIONAL_LOCKS=0",
    "GIT_SSH_COMMAND=ssh -o BatchMode=yes",
    "GIT_ASKPASS=true",
    "GIT_CONFIG_NOSYSTEM=1",
    "GIT_CONFIG_GLOBAL=/dev/null",
    "GIT_TRACE=1",
    "GIT_DIR=.git",
    "GIT_EXEC_PATH=/usr/lib/git-core",
    "GIT_INDEX_FILE=.git/index.lock",
    "GIT_INTERNAL_GETTEXT_SH_SCHEME=fallthrough",
    "NO_PROXY=localhost,127.0.0.1,::1",
    "MAKEFLAGS= -j8 --jobserver-auth=3,4",
    "MAKEFLAGS=kw",
    "CC=clang",
    "npm_config_yes=true",
    "PIP_BUILD_TRACKER=/tmp/pip-build-tracker-x",
    "PIP_DISABLE_PIP_VERSION_CHECK=1",
    "GROFF_NO_SGR=1",
    "ASAN_OPTIONS=detect_leaks=0:abort_on_error=1",
    "AWS_PROFILE=x",
    "TF_VAR_region=x",
    "_=/usr/bin/env",
    "SHLVL=2",
    "",
    "=",
    "=LD_PRELOAD",
    "no equals sign",
];

#[test]
fn what_agents_set_every_day_is_not() {
    for variable in HARMLESS {
        assert_eq!(watched(&list(&[]), variable.as_bytes()), None, "{variable}");
    }
}

#[test]
fn a_policy_adds_names_and_takes_some_out() {
    let list = list(&["MY_*", "PAGER", "!LD_LIBRARY_PATH", "!GIT_*", "!MY_OWN"]);
    for (variable, class) in [
        ("MY_THING=", Some("untrusted")),
        ("MY_OWN=x", None),
        // Whoever names one means all its values.
        ("PAGER=cat", Some("untrusted")),
        ("LD_LIBRARY_PATH=/x", None),
        ("LD_PRELOAD=/x", Some("loader")),
        ("GIT_SSH_COMMAND=x", None),
        ("GIT_PAGER=./x", None),
    ] {
        assert_eq!(watched(&list, variable.as_bytes()), class, "{variable}");
    }
}

#[test]
fn without_a_start_everything_is_new() {
    let now = environment(&["A=1", "LD_PRELOAD=x", "PAGER=cat"]);
    let list = list(&[]);
    let changes = list.changes(None, &now);
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].how, How::New);
    assert_eq!(changes[0].name(), b"LD_PRELOAD");
    assert_eq!(changes[0].class, "loader");
}

#[test]
fn only_what_differs_from_the_start_counts() {
    let list = list(&[]);
    let start = ["PWD=/w", "LD_PRELOAD=s", "HOME=/h", "_=/bin/sh"];
    for (now, expected) in [
        (
            vec!["PWD=/x", "LD_PRELOAD=s", "HOME=/h", "_=/bin/ls"],
            vec![],
        ),
        (vec!["LD_PRELOAD=s", "A=1", "HOME=/h"], vec![]),
        (vec!["HOME=/h", "LD_PRELOAD=s"], vec![]),
        (
            vec!["PWD=/w", "LD_PRELOAD=t", "HOME=/h", "_=/bin/sh"],
            vec!["Changed LD_PRELOAD=t"],
        ),
        (vec!["LD_PRELOAD=", "HOME=/h"], vec![]),
        (
            vec!["HOME=/h", "LD_AUDIT=a", "LD_PRELOAD=t"],
            vec!["New LD_AUDIT=a", "Changed LD_PRELOAD=t"],
        ),
    ] {
        assert_eq!(changes(&list, &start, &now), expected, "{now:?}");
    }
}

#[test]
fn what_protects_counts_when_it_is_gone() {
    let list = list(&["MINE"]);
    let start = [
        "HTTPS_PROXY=http://p",
        "GIT_CONFIG_NOSYSTEM=1",
        "PYTHONSAFEPATH=1",
        "LD_LIBRARY_PATH=/l",
        "PATH=/usr/bin",
        "MINE=1",
    ];
    let gone = [
        "Removed GIT_CONFIG_NOSYSTEM=1",
        "Removed HTTPS_PROXY=http://p",
        "Removed MINE=1",
        "Removed PYTHONSAFEPATH=1",
    ];
    assert_eq!(changes(&list, &start, &[]), gone);
    let emptied = ["HTTPS_PROXY=", "PYTHONSAFEPATH=", "LD_LIBRARY_PATH="];
    let expected = ["Changed HTTPS_PROXY=", "Changed PYTHONSAFEPATH="];
    assert_eq!(changes(&list, &start, &emptied)[..2], expected);
    assert_eq!(watched(&list, b"PYTHONSAFEPATH=1"), None);
}

#[test]
fn a_name_that_stands_twice_counts_whichever_is_taken() {
    let list = list(&[]);
    let start = ["LD_PRELOAD=a", "LD_PRELOAD=b"];
    assert_eq!(changes(&list, &start, &start), [""; 0]);
    for now in [
        ["LD_PRELOAD=b", "LD_PRELOAD=a"],
        ["LD_PRELOAD=a", "LD_PRELOAD=c"],
        ["LD_PRELOAD=c", "LD_PRELOAD=b"],
    ] {
        let expected = now.map(|entry| format!("Changed {entry}"));
        assert_eq!(changes(&list, &start, &now), expected);
    }
    let first = ["LD_PRELOAD=a"];
    assert_eq!(changes(&list, &start, &first), ["Changed LD_PRELOAD=a"]);
}

#[test]
fn a_hundred_thousand_variables_are_compared() {
    let many = |tail: &str| {
        let names = (0..100_000).map(|at| format!("LD_{at}={tail}").into_bytes());
        names.collect::<Vec<_>>()
    };
    let (start, mut now) = (many("1"), many("2"));
    now.reverse();
    assert_eq!(list(&[]).changes(Some(&start), &now).len(), 100_000);
}

/// The definition, without regard to its cost.
fn defined<'e>(list: &WatchList, start: &'e [Vec<u8>], now: &'e [Vec<u8>]) -> Vec<Change<'e>> {
    let of = |entries: &'e [Vec<u8>], name: &[u8]| -> Vec<&'e [u8]> {
        let entries = entries.iter().map(Vec::as_slice);
        entries.filter(|entry| name_of(entry) == name).collect()
    };
    let mut changes = Vec::new();
    for entry in now {
        let name = name_of(entry);
        let (was, is) = (of(start, name), of(now, name));
        let Some(watch) = list.watch(name).filter(|_| was != is) else {
            continue;
        };
        let how = if was.is_empty() {
            How::New
        } else {
            How::Changed
        };
        let is_new_only_kept = was.is_empty() && !watch.is_set_by(entry);
        if !watch.is_harmless(entry) && !is_new_only_kept {
            let class = watch.class();
            changes.push(Change {
                variable: entry,
                class,
                how,
            });
        }
    }
    let mut gone: Vec<&[u8]> = start.iter().map(|entry| name_of(entry)).collect();
    gone.sort_unstable();
    gone.dedup();
    for name in gone {
        let watch = list.watch(name).filter(|watch| watch.is_kept());
        if let Some(watch) = watch.filter(|_| of(now, name).is_empty()) {
            changes.push(Change {
                variable: of(start, name)[0],
                class: watch.class(),
                how: How::Removed,
            });
        }
    }
    changes
}

const ENTRIES: [&str; 16] = [
    "LD_PRELOAD=a",
    "LD_PRELOAD=b",
    "LD_PRELOAD=",
    "LD_PRELOAD",
    "HTTPS_PROXY=a",
    "HTTPS_PROXY=",
    "PAGER=cat",
    "PAGER=x",
    "PYTHONSAFEPATH=1",
    "PYTHONSAFEPATH=",
    "MINE=1",
    "MINE=2",
    "PWD=/a",
    "PWD=/b",
    "=",
    "",
];

proptest! {
    #[test]
    fn changes_are_as_defined(
        start in prop::collection::vec(select(&ENTRIES[..]), 0..8),
        now in prop::collection::vec(select(&ENTRIES[..]), 0..8),
    ) {
        let list = list(&["MINE"]);
        let (start, now) = (environment(&start), environment(&now));
        prop_assert_eq!(list.changes(Some(&start), &now), defined(&list, &start, &now));
    }

    #[test]
    fn a_variable_alone_is_new_exactly_if_it_is_watched(
        variable in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..40),
            "(LD_|GIT_|PATH=|NODE_OPTIONS=|CC=|MAKEFLAGS=)[ -~]{0,20}".prop_map(String::into_bytes),
        ],
    ) {
        let list = list(&[]);
        let now = [variable];
        let changes = list.changes(None, &now);
        let classes: Vec<_> = changes.iter().map(|change| change.class).collect();
        let watched: Vec<_> = watched(&list, &now[0]).into_iter().collect();
        prop_assert_eq!(classes, watched);
    }
}
