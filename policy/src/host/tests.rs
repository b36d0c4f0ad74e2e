use super::*;

fn shown(text: &str) -> Option<String> {
    of(text.as_bytes()).map(|host| {
        let name = String::from_utf8(host.name).unwrap();
        host.port
            .map_or(name.clone(), |port| format!("{name}:{port}"))
    })
}

#[test]
fn the_host_of_a_text_is_that_of_its_url_or_place() {
    for (text, host) in [
        ("https://a.example/x", Some("a.example:443")),
        ("https://a.example", Some("a.example:443")),
        ("http://a.example:8080/x", Some("a.example:8080")),
        (
            "https://good.example@evil.example/",
            Some("evil.example:443"),
        ),
        (
            "https://u:p@evil.example/good.example",
            Some("evil.example:443"),
        ),
        (
            "https://good.example.evil.example/",
            Some("good.example.evil.example:443"),
        ),
        (
            "https://evil.example?https://good.example",
            Some("evil.example:443"),
        ),
        (
            "https://evil.example#@good.example",
            Some("evil.example:443"),
        ),
        (r"https://evil.example\@good.example", None),
        ("https://a@b@good.example", None),
        (r"https://good.example\.evil.example", None),
        ("https://%65vil.example/", None),
        ("https://{a,b}.example/", None),
        ("https:///evil.example", None),
        ("https://[::1]:80/", Some("::1:80")),
        ("https://[::1", None),
        ("http://2130706433/", Some("127.0.0.1:80")),
        ("http://0x7f.1", Some("127.0.0.1:80")),
        ("0xA9FEA9FE", Some("169.254.169.254")),
        ("0251.0376.43518", Some("169.254.169.254")),
        ("http://[::ffff:a9fe:a9fe]/", Some("169.254.169.254:80")),
        ("http://[0:0::0:1]/", Some("::1:80")),
        ("http://[1.2.3.4]/", None),
        ("1.2.3.4.5", Some("1.2.3.4.5")),
        ("256.1.1.1", Some("256.1.1.1")),
        ("4294967296", Some("4294967296")),
        ("1.2.3.08", Some("1.2.3.08")),
        ("0x", Some("0.0.0.0")),
        ("https://a:b:c/", None),
        ("pypi.org/simple", Some("pypi.org")),
        ("host", Some("host")),
        ("host:22", Some("host:22")),
        ("host:path/x", Some("host")),
        ("git@host:group/x.git", Some("host")),
        ("u@host", Some("host")),
        ("host.", Some("host")),
        ("/srv/x", None),
        ("../x", None),
        ("-x", None),
        ("", None),
        ("$HOST", None),
    ] {
        assert_eq!(shown(text).as_deref(), host, "{text}");
    }
}

/// The hosts of both readings; `-` for one that cannot be told.
fn read(text: &str) -> String {
    let shown = readings_of_url(text.as_bytes()).map(|host| {
        host.map_or("-".to_owned(), |host| {
            let name = String::from_utf8(host.name).unwrap();
            host.port
                .map_or(name.clone(), |port| format!("{name}:{port}"))
        })
    });
    shown.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_url_is_read_in_every_way_that_a_fetcher_may() {
    for (text, hosts) in [
        ("https://a.example/x", "a.example:443"),
        ("a.example/x", "a.example"),
        ("https:a.example", "- a.example"),
        ("http:/a.example", "- a.example"),
        ("http:\\\\a.example", "- a.example"),
        (" https://a.example", "- a.example"),
        ("https://a.exa\tmple", "- a.example:443"),
        ("http://a%2eexample/", "- a.example:80"),
        ("http://\u{ff45}vil\u{3002}example", "- evil.example:80"),
        ("//169.254.169.254", "- 169.254.169.254"),
        ("http:169.254.169.254", "- 169.254.169.254"),
        ("http://%31%36%39.254.169.254/", "- 169.254.169.254:80"),
        (
            r"http://a.example\@b.example",
            "- a.example:80 b.example:80",
        ),
        ("a.example:8443", "- a.example:8443"),
        ("wss://a.example", "a.example:443"),
        ("ssh://a.example", "a.example:22"),
        ("file:///etc/shadow", "-"),
        ("data:x", "-"),
        ("javascript:x", "-"),
        ("http://[64:ff9b::a9fe:a9fe]/", "169.254.169.254:80"),
        ("http://[::169.254.169.254]/", "169.254.169.254:80"),
    ] {
        assert_eq!(read(text), hosts, "{text}");
    }
}

#[test]
fn an_entry_means_a_name_or_what_lies_below_it() {
    for (entry, text, is_meant) in [
        ("pypi.org", "https://pypi.org/simple", true),
        ("PyPI.org", "https://pypi.ORG/simple", true),
        ("pypi.org", "https://www.pypi.org/", false),
        ("*.pypi.org", "https://www.pypi.org/", true),
        ("*.pypi.org", "https://pypi.org/", false),
        ("*.pypi.org", "https://evilpypi.org/", false),
        ("pypi.org:443", "https://pypi.org/", true),
        ("pypi.org:443", "http://pypi.org/", false),
        ("pypi.org:443", "pypi.org", false),
        ("pypi.org", "https://pypi.org:8443/", true),
        ("127.0.0.1", "http://127.0.0.1/", true),
        ("[::1]:80", "http://[::1]/", true),
    ] {
        let entry = HostPattern::parse(entry).unwrap();
        let host = of(text.as_bytes()).unwrap();
        assert_eq!(entry.covers(&host), is_meant, "{entry:?} {text}");
    }
}
