//! What each form of path pattern matches, and agreement with a naive reference.

use proptest::prelude::*;

use super::*;

fn places() -> Places {
    Places {
        home: b"/home/u".to_vec(),
        workspace: b"/w/[a]*\xff".to_vec(),
        tmp: b"/tmp".to_vec(),
    }
}

fn pattern(text: &str) -> PathPattern {
    PathPattern::parse(text, &places(), Case::Exact)
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn fault(text: &str) -> PatternError {
    match PathPattern::parse(text, &places(), Case::Exact) {
        Ok(_) => panic!("{text} is accepted"),
        Err(error) => error,
    }
}

/// Asserts that `text` matches every path of `yes` and none of `no`.
fn assert_matches(text: &str, yes: &[&str], no: &[&str]) {
    let pattern = pattern(text);
    for path in yes {
        assert!(pattern.matches(path.as_bytes()), "{text} misses {path}");
    }
    for path in no {
        assert!(!pattern.matches(path.as_bytes()), "{text} hits {path}");
    }
}

#[test]
fn a_literal_path_is_that_path() {
    assert_matches(
        "/usr/bin/git",
        &["/usr/bin/git"],
        &["/usr/bin/gi", "/usr/bin/gitk", "/usr/bin/git/x", "/usr/bin"],
    );
}

#[test]
fn star_and_question_mark_stop_at_slashes_and_match_dots() {
    assert_matches(
        "/opt/*/run",
        &["/opt/a/run", "/opt/.a/run"],
        &["/opt/run", "/opt/a/b/run"],
    );
    assert_matches(
        "/opt/a?b",
        &["/opt/a.b", "/opt/axb"],
        &["/opt/a/b", "/opt/ab", "/opt/axxb"],
    );
    assert_matches(
        "/opt/*",
        &["/opt/a", "/opt/.a", "/opt/a\nb"],
        &["/opt", "/opt/a/b"],
    );
}

#[test]
fn double_star_crosses_slashes() {
    assert_matches(
        "/opt/**/run",
        &["/opt/run", "/opt/a/run", "/opt/a/b/run"],
        &["/opt/run/x", "/opt/arun"],
    );
    assert_matches(
        "/opt/v*/**",
        &["/opt/v1/x", "/opt/v1/x/y"],
        &["/opt/v1", "/opt/x/v1"],
    );
}

#[test]
fn double_star_at_the_end_is_strictly_below() {
    assert_matches("/opt/**", &["/opt/a", "/opt/a/b"], &["/opt", "/optional"]);
    assert_matches("/**", &["/a", "/a/b"], &["/"]);
}

#[test]
fn a_trailing_slash_is_the_directory_and_all_below() {
    assert_matches(
        "/opt/",
        &["/opt", "/opt/a", "/opt/a/b"],
        &["/optional", "/op"],
    );
    assert_matches(
        "/opt/v*/",
        &["/opt/v1", "/opt/v1/a/b"],
        &["/opt", "/opt/x/v1"],
    );
}

#[test]
fn the_root_with_its_slash_is_the_root_alone() {
    assert_matches("/", &["/"], &["/a", "/a/b"]);
}

#[test]
fn a_name_anywhere_is_found_at_every_depth() {
    assert_matches(
        "**/git",
        &["/git", "/usr/bin/git"],
        &["/usr/bin/gitk", "/git/x", "/usr/xgit"],
    );
}

#[test]
fn brackets_braces_and_commas_are_literal() {
    assert_matches("/a/[id]*", &["/a/[id]", "/a/[id]x"], &["/a/i", "/a/d"]);
    assert_matches("/a/{x,y}?", &["/a/{x,y}1"], &["/a/x1"]);
    assert_matches("/a/[!b]", &["/a/[!b]"], &["/a/c"]);
    assert_matches("/v*/{a,b}/", &["/v1/{a,b}", "/v1/{a,b}/c"], &["/v1/a"]);
}

#[test]
fn escaped_wildcards_are_literal() {
    assert_matches(r"/a/\**", &["/a/*", "/a/*x"], &["/a/x"]);
    assert_matches(r"/a/\?", &["/a/?"], &["/a/b"]);
    assert_matches(r"/a/\\*", &[r"/a/\", r"/a/\x"], &["/a/x"]);
}

#[test]
fn matching_is_case_sensitive() {
    assert_matches("/opt/G*", &["/opt/Git"], &["/opt/git"]);
}

#[test]
fn places_are_literal_text_of_any_bytes() {
    assert_matches(
        "~/.cargo/bin/*",
        &["/home/u/.cargo/bin/cargo"],
        &["/home/v/.cargo/bin/cargo"],
    );
    assert_matches("${home}/x", &["/home/u/x"], &[]);
    let pattern = pattern("${workspace}/bin/*");
    assert!(pattern.matches(b"/w/[a]*\xff/bin/x"));
    assert!(!pattern.matches(b"/w/a*\xff/bin/x"));
    assert!(!pattern.matches(b"/w/[a]zz\xff/bin/x"));
}

#[test]
fn a_tilde_inside_a_path_is_literal() {
    assert_matches("/a/b~", &["/a/b~"], &["/a/b"]);
    assert_matches("/a/~/b", &["/a/~/b"], &[]);
}

#[test]
fn raw_bytes_are_literal() {
    let pattern = pattern(r"/a/\xff");
    assert!(pattern.matches(b"/a/\xff"));
    assert!(!pattern.matches(b"/a/\xfe"));
}

#[test]
fn every_malformed_pattern_is_refused() {
    for (text, error) in [
        ("", PatternError::Relative),
        ("bin/git", PatternError::Relative),
        ("**", PatternError::Relative),
        ("${home}x", PatternError::Joined),
        ("${hom}/x", PatternError::UnknownPlace("hom".to_owned())),
        ("~root/x", PatternError::OtherHome),
        ("/a//b", PatternError::Component),
        ("/a/./b", PatternError::Component),
        ("/a/../b", PatternError::Component),
        ("//", PatternError::Component),
        ("/a/**b", PatternError::Crossing),
        ("/a/***/b", PatternError::Crossing),
        (r"/a/*\xff", PatternError::RawByte),
        ("/a/$b", PatternError::Escape(EscapeError::Dollar)),
        ("/a/${home}", PatternError::Escape(EscapeError::Dollar)),
        ("${home", PatternError::Escape(EscapeError::Dollar)),
    ] {
        assert_eq!(fault(text), error, "{text}");
    }
    assert_eq!(
        fault(&format!("/*{}", "a".repeat(5000))),
        PatternError::TooLong
    );
}

#[test]
fn a_place_without_an_absolute_path_cannot_be_used() {
    for home in ["", "relative", "/"] {
        let places = Places {
            home: home.into(),
            ..places()
        };
        let error = PathPattern::parse("~/x", &places, Case::Exact).err();
        assert_eq!(error, Some(PatternError::UnsetPlace("home")), "{home:?}");
    }
}

#[test]
fn only_a_leading_double_star_means_anywhere() {
    assert!(pattern("**/git").is_anywhere());
    assert!(pattern("/**/git").is_anywhere());
    assert!(!pattern("/opt/**/git").is_anywhere());
    assert!(!pattern("/**").is_anywhere());
}

#[test]
fn the_file_name_is_known_where_it_has_no_wildcard() {
    for (text, name) in [
        ("/usr/bin/git", Some("git")),
        ("/opt/*/git", Some("git")),
        ("**/git", Some("git")),
        ("/opt/g*", None),
        ("/opt/*/git/", None),
        ("/opt/", None),
        ("/opt/**", None),
    ] {
        assert_eq!(pattern(text).file_name(), name.map(str::as_bytes), "{text}");
    }
}

/// The language's own definition of a match, without head, tail or globset.
fn naive(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        (["**"], _) => !path.is_empty(),
        (["**", rest @ ..], _) => (0..=path.len()).any(|skip| naive(rest, &path[skip..])),
        ([first, rest @ ..], [name, names @ ..]) => {
            naive_name(first.as_bytes(), name.as_bytes()) && naive(rest, names)
        }
        ([], _) | (_, []) => false,
    }
}

fn naive_name(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=name.len()).any(|skip| naive_name(rest, &name[skip..])),
        ([b'?', rest @ ..], [_, names @ ..]) => naive_name(rest, names),
        ([first, rest @ ..], [byte, names @ ..]) => first == byte && naive_name(rest, names),
        ([], _) | (_, []) => false,
    }
}

proptest! {
    #[test]
    fn agrees_with_the_naive_reference(
        pattern_components in prop::collection::vec("\\*\\*|[ab*?]{1,2}|[ab\\[\\],{}.-]{1,3}", 1..5),
        path_components in prop::collection::vec("[ab\\[\\],{}.-]{1,3}", 1..5),
    ) {
        let components: Vec<&str> = pattern_components.iter().map(String::as_str).collect();
        let names: Vec<&str> = path_components.iter().map(String::as_str).collect();
        prop_assume!(!components.iter().chain(&names).any(|name| matches!(*name, "." | "..")));
        let text = format!("/{}", components.join("/"));
        let path = format!("/{}", names.join("/"));
        prop_assert_eq!(
            pattern(&text).matches(path.as_bytes()),
            naive(&components, &names),
            "{} on {}", text, path
        );
    }
}

#[test]
fn letters_of_either_case_are_one_where_case_is_ignored() {
    for (text, path, is_match) in [
        ("/Opt/Tool", "/oPT/tOOL", true),
        ("/Opt/Tool", "/opt/tools", false),
        ("~/.SSH/", "/HOME/u/.ssh/id", true),
        ("/opt/**", "/OPT/a/b", true),
        ("/opt/**", "/OPTS/a", false),
        ("/opt/A*/x[y]", "/OPT/abc/X[Y]", true),
        ("/opt/A*/x[y]", "/OPT/abc/x{y}", false),
        ("/opt/*/", "/OPT/a/b", true),
        ("**/Id_*", "/x/ID_rsa", true),
        ("/opt/*é", "/OPT/xé", true),
        ("/opt/*é", "/OPT/xÉ", false),
        ("/opt/é", "/opt/É", false),
    ] {
        let folded = PathPattern::parse(text, &places(), Case::Folded).unwrap();
        assert_eq!(folded.matches(path.as_bytes()), is_match, "{text} {path}");
        assert!(!pattern(text).matches(path.as_bytes()), "{text} {path}");
    }
}

#[test]
fn what_lies_below_is_found_where_case_is_ignored() {
    let below = |text: &str, path: &str| {
        let pattern = PathPattern::parse(text, &places(), Case::Folded).unwrap();
        pattern.may_match_below(path.as_bytes())
    };
    assert!(below("/Opt/a/key", "/oPT"));
    assert!(below("/Opt/*/key", "/OPT"));
    assert!(below("/Opt/*/key", "/OPT/A"));
    assert!(!below("/Opt/*/key", "/OPT/A/B"));
    assert!(!below("/Opt/a/key", "/op"));
}

#[test]
fn a_resolved_head_is_compared_in_the_same_way() {
    let mut pattern = PathPattern::parse("/bin/Tool", &places(), Case::Folded).unwrap();
    pattern.resolve_head(&|directory| (directory == b"/bin").then(|| b"/usr/bin".to_vec()));
    assert!(pattern.matches(b"/USR/bin/tool") && pattern.matches(b"/Bin/TOOL"));
    assert!(pattern.is_file_name(b"tOOL") && !pattern.is_file_name(b"tools"));
}
