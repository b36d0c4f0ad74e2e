//! Where a collector is.

use std::fmt;
use std::str::FromStr;

use ureq::http::Uri;

/// `http://HOST:PORT`, with a path or without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint(String);

impl Default for Endpoint {
    /// A collector on this machine, at the port of OTLP/HTTP.
    fn default() -> Self {
        Self("http://127.0.0.1:4318".to_owned())
    }
}

impl Endpoint {
    /// Where it takes logs.
    pub(super) fn logs(&self) -> String {
        format!("{}/v1/logs", self.0)
    }
}

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str =
            "write `http://HOST:PORT`; TLS is for a collector on this machine, which relays";
        let base = text.trim_end_matches('/');
        let uri: Uri = base.parse().map_err(|_| FORM)?;
        let is_sound = uri.scheme_str() == Some("http") && uri.authority().is_some();
        // What follows would not be the path's end.
        match is_sound && uri.query().is_none() && !base.contains('#') {
            true => Ok(Self(base.to_owned())),
            false => Err(FORM.to_owned()),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_the_start_of_a_url() {
        let logs = |text: &str| text.parse::<Endpoint>().map(|it| it.logs());
        assert_eq!(logs("http://a:4318/").unwrap(), "http://a:4318/v1/logs");
        assert_eq!(logs("http://a/x").unwrap(), "http://a/x/v1/logs");
        for other in ["https://a", "a:4318", "http://a?b", "http://", "http://a#b"] {
            assert!(logs(other).is_err(), "{other}");
        }
    }
}
