//! Claude Code's settings.

use execward_policy::Decision::{Allow, Ask, Deny};

use super::*;

const SETTINGS: &str = include_str!("../examples/claude-settings.json");
const POLICY: &str = include_str!("../examples/claude-settings.toml");

fn of(lists: &str) -> Imported {
    let text = format!("{{\"permissions\": {lists}}}");
    import_of(ImportFrom::Claude, "settings.json", &text).unwrap()
}

/// The keys of the rule that an entry comes to, or why it comes to none.
fn rule_of(list: &str, entry: &str) -> String {
    let entry = serde_json::to_string(entry).unwrap();
    let imported = of(&format!("{{\"{list}\": [{entry}]}}"));
    let rule = imported
        .policy
        .split_once(&format!("\"claude.{list}-1\"\n"));
    match rule {
        Some((_, keys)) => keys.trim_end().replace('\n', "; "),
        None => format!("- {}", imported.left_out[0].why),
    }
}

#[test]
fn the_settings_become_the_policy() {
    let imported = import_of(ImportFrom::Claude, "settings.json", SETTINGS).unwrap();
    assert_eq!(imported.policy, POLICY);
    let wider = imported.left_out.iter().filter(|left| left.is_wider);
    assert_eq!(
        wider.map(|left| left.what.as_str()).collect::<Vec<_>>(),
        ["Bash(* | sh)"]
    );
}

#[test]
fn the_policy_answers_as_the_settings_do() {
    let rules = loaded(POLICY);
    check(
        &rules,
        &[
            ("npm run lint", Allow),
            ("npm run lint --fix", Ask),
            ("npm run test", Allow),
            ("npm run test --watch", Allow),
            ("npm run testing", Ask),
            ("git diff HEAD", Allow),
            ("git log --oneline", Allow),
            ("git log --output=x", Ask),
            ("git commit -m x", Allow),
            ("git commit x", Ask),
            ("git push origin", Ask),
            ("git -C sub push", Ask),
            ("python x.py", Ask),
            ("curl https://docs.rs", Deny),
            ("rm -r -f x", Deny),
            ("rm x", Ask),
            ("cat .env", Deny),
            ("cat .env.local", Deny),
            ("cp secrets/a b", Deny),
            ("cat src/a", Allow),
            ("tool file_write path=src/a", Allow),
            ("tool file_write path=package.json", Ask),
            ("tool file_write path=/etc/x", Ask),
            ("tool file_read path=/home/u/.zshrc", Allow),
            ("tool file_read path=.env", Deny),
            ("tool web_fetch url=https://docs.rs/x", Allow),
            ("tool web_fetch url=https://pastebin.example/x", Deny),
            ("tool mcp__github__get_issue", Allow),
        ],
    );
}

#[test]
fn an_allow_is_never_more_than_the_entry() {
    for (entry, keys) in [
        ("Bash(git:*)", "command = \"git *\""),
        ("Bash(git log *)", "command = \"git log *\""),
        ("Bash(git log*)", "command = [\"git log*\", \"git log *\"]"),
        ("Bash(aws * describe-*)", "command = \"aws * describe-*\""),
        (
            "Bash(git * main)",
            "command = \"git * main\"; args = \"!*\"; flags = \"!*\"",
        ),
        (
            "Bash(npm run build)",
            "argv = [\"npm\", \"run\", \"build\"]",
        ),
        (
            "Bash(git commit -m 'a \"b\" \\\\')",
            r#"argv = ["git", "commit", "-m", "a \"b\" \\\\\\\\"]"#,
        ),
        (
            "Bash(./scripts/*)",
            "command = \"${workspace}/scripts/* *\"",
        ),
        ("Bash(./a.sh x:*)", "command = \"${workspace}/a.sh x *\""),
        (
            "Bash(python3 -m pytest:*)",
            "command = \"python3 -m pytest *\"",
        ),
        (
            "Bash(npm run a$b)",
            "- it needs a shell (`$`), and a rule sees one program at a time",
        ),
        (
            "Bash(npm run 'a$b@':*)",
            r#"command = "npm run a\\$b\\@ *""#,
        ),
        ("Bash(npm run 'a;b':*)", r#"command = "npm run a\\x3bb *""#),
        (
            "Bash",
            "- it allows every command, and an allow here says which",
        ),
        (
            "Bash(*)",
            "- it allows every command, and an allow here says which",
        ),
        (
            "Bash(:*)",
            "- it allows every command, and an allow here says which",
        ),
        (
            "Bash(* --version)",
            "- it allows every command, and an allow here says which",
        ),
        (
            "Bash(python3.12:*)",
            "- `python3.12` is of `@interpreters`: with any arguments it runs anything",
        ),
        (
            "Bash(/bin/bash -c:*)",
            "- `bash` is of `@shells`: with any arguments it runs anything",
        ),
        (
            "Bash(npx *)",
            "- it runs whatever package or command comes next",
        ),
        (
            "Bash(npm exec:*)",
            "- it runs whatever package or command comes next",
        ),
        (
            "Bash(X=1 npm test)",
            "- it sets the variable `X`, which no rule says",
        ),
        (
            "Bash(git -C x log:*)",
            "- a word follows an option; that it is its value no `command` says",
        ),
        (
            "Bash(no-such --dry-run:*)",
            "- of this command's options nothing is known, nor whose an option is",
        ),
        (
            "Bash(git * main *)",
            "- it has several `*`, and the last wants a word to stand for",
        ),
        (
            "Bash(cd src)",
            "- the shell does this by itself, and nothing judges it",
        ),
        (
            "Bash(cat ~/x)",
            "- the shell expands `~`, and `argv` does not",
        ),
        ("Bash(a", "- its bracket is left open"),
        (
            "Write(src/**)",
            "- of files, Claude Code looks at rules of Edit and Read alone",
        ),
        (
            "Edit(src/**)",
            "tool = [\"file_write\", \"file_read\"]; path = \"${workspace}/src/\"",
        ),
        ("Read", "tool = \"file_read\""),
        ("Read(*)", "tool = \"file_read\"; path = \"${workspace}/\""),
        ("Read()", "- there is nothing in its brackets"),
        (
            "WebFetch(domain:*.docs.rs)",
            "tool = \"web_fetch\"; host = \"*.docs.rs\"",
        ),
        ("mcp__a__get_*", "tool = \"mcp__a__get_*\""),
        ("mcp__*", "- an allow of tools names their server"),
        ("*", "- an allow of tools names their server"),
        ("Agent(Explore)", "- what `Agent` takes there is not known"),
        ("WebSearch", "tool = \"WebSearch\""),
        ("", "- it names no tool"),
    ] {
        assert_eq!(rule_of("allow", entry), keys, "{entry}");
    }
}

#[test]
fn a_deny_is_never_less_than_the_entry_or_listed() {
    for (entry, keys) in [
        ("Bash(git push)", "argv = [\"git\", \"push\"]"),
        ("Bash(git push:*)", "command = \"git push\""),
        ("Bash(git push*)", "command = \"git push*\""),
        ("Bash(rm*)", "program = \"**/rm*\""),
        (
            "Bash(git * --force)",
            "command = [\"git --force\", \"git * --force\"]",
        ),
        ("Bash(* --no-verify)", "flags = \"--no-verify\""),
        ("Bash(git commit -m wip *)", "command = \"git commit -m\""),
        ("Bash(./deploy.sh *)", "command = \"**/deploy.sh\""),
        ("Bash(cat ~/.ssh/id)", "command = \"cat ${home}/.ssh/id\""),
        ("Bash", "tool = \"bash_execute\""),
        ("Read(.env)", "path = [\"**/.env\", \"**/.env/**\"]"),
        (
            "Write(x)",
            "tool = [\"file_write\", \"file_delete\"]; path = [\"**/x\", \"**/x/**\"]",
        ),
        ("mcp__fs", "tool = \"mcp__fs__*\""),
        (
            "Bash(* install)",
            "- no key says a word of any command, wherever it stands",
        ),
        (
            "Bash(cd *)",
            "- the shell does this by itself, and no exec shows it",
        ),
    ] {
        assert_eq!(rule_of("deny", entry), keys, "{entry}");
    }
    // What `tar` takes for options, the rule would take for a word.
    let why = "- the rule that comes of it does not hold for it";
    assert_eq!(rule_of("deny", "Bash(tar xf:*)"), why);
    for partly in [
        "Bash(docker * -f)",
        "Bash(git *--force*)",
        "Bash(git * main)",
        "Bash(*curl*)",
        "Bash(kill *)",
        "Read(.env)",
    ] {
        let imported = of(&format!("{{\"deny\": [\"{partly}\"]}}"));
        assert!(imported.left_out[0].is_wider, "{partly}");
        assert!(imported.policy.contains("\"claude.deny-1\""), "{partly}");
    }
}

#[test]
fn a_deny_holds_for_what_the_text_covers() {
    for (entry, line) in [
        ("git * --force", "git push --force"),
        ("git * --force", "git push origin x --force"),
        ("git * --force", "git -p push --force"),
        ("git * --hard:*", "git reset --hard HEAD"),
        ("git *--force*", "git push --force-with-lease"),
        ("docker * --privileged *", "docker run --privileged x"),
        (
            "docker container * --privileged *",
            "docker container run --privileged x",
        ),
        ("docker run -v /:*", "docker run -v / x"),
        ("npm * -g", "npm install -g"),
        ("npm * -g", "npm install x -g"),
        ("git -C /x push:*", "git -C /x push"),
        (
            "git --no-pager log --output:*",
            "git --no-pager log --output x",
        ),
        ("rm * -rf", "rm x -rf"),
        ("rm * -rf *", "rm -v -rf x"),
        ("kubectl -n prod delete:*", "kubectl -n prod delete pod x"),
        (
            "kubectl * --context=prod*",
            "kubectl get pods --context=prod-1",
        ),
        ("find * -delete", "find . -name x -delete"),
        ("find . -name x -delete", "find . -name x -delete"),
        ("java -jar a.jar:*", "java -jar a.jar b"),
        ("foo * --bar", "foo a b --bar"),
        ("foo * --bar", "foo -a --bar"),
        ("curl -X POST:*", "curl -X POST https://a.example"),
        ("curl * -o *", "curl https://a.example -o x"),
        ("curl * --output*", "curl https://a.example --output=x"),
        ("chmod 777:*", "chmod 777 x"),
        ("chmod -R 777:*", "chmod -R 777 x"),
        ("dd if=*", "dd if=/dev/zero of=x"),
        ("python -m http.server:*", "python -m http.server 80"),
        ("ssh * rm:*", "ssh host rm x"),
        ("sudo:*", "sudo -n ls"),
        ("aws * delete-*", "aws s3api delete-bucket x"),
    ] {
        let imported = of(&format!("{{\"deny\": [\"Bash({entry})\"]}}"));
        check(&loaded(&imported.policy), &[(line, Deny)]);
    }
}

#[test]
fn modes_and_old_lists() {
    let silent = of(r#"{"defaultMode": "dontAsk", "allow": ["Bash(ls:*)"]}"#);
    check(
        &loaded(&silent.policy),
        &[
            ("ls x", Allow),
            ("cat x", Deny),
            ("tool file_list path=/", Deny),
        ],
    );
    let old = import_of(
        ImportFrom::Claude,
        "s",
        r#"{"allowedTools": ["Bash(ls:*)"], "deny": ["Bash(ls /:*)"]}"#,
    );
    check(
        &loaded(&old.unwrap().policy),
        &[("ls x", Allow), ("ls /", Deny)],
    );
    for (mode, is_wider) in [("plan", true), ("bypassPermissions", false), ("new", true)] {
        let imported = of(&format!("{{\"defaultMode\": \"{mode}\"}}"));
        assert_eq!(imported.left_out[0].is_wider, is_wider, "{mode}");
    }
}

#[test]
fn a_users_own_settings_are_about_their_directory() {
    let text = r#"{"permissions": {"allow": ["Edit(/agents/**)"]}}"#;
    let imported = imported(
        ImportFrom::Claude,
        "settings.json".as_ref(),
        text,
        Scope::User,
    )
    .unwrap();
    assert!(imported.policy.contains("\"~/.claude/agents/\""));
}
