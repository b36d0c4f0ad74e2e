//! Where a syslog daemon is on a network.

use std::fmt;
use std::str::FromStr;

/// How messages travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// A stream: each with its length before it (RFC 6587, 3.4.1).
    Tcp,
    /// A datagram each (RFC 5426).
    Udp,
}

/// A host, and how to reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) scheme: Scheme,
    /// `HOST:PORT`.
    pub(crate) host: String,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "write `tcp://HOST:PORT` or `udp://HOST:PORT`; for TLS, a daemon on this machine can relay";
        let (scheme, host) = text.split_once("://").ok_or(FORM)?;
        let scheme = match scheme {
            "tcp" => Scheme::Tcp,
            "udp" => Scheme::Udp,
            _ => return Err(FORM.to_owned()),
        };
        let port = host.rsplit_once(':').filter(|(name, _)| !name.is_empty());
        let is_sound = port.is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let host = host.to_owned();
        match is_sound && host.bytes().all(|byte| byte.is_ascii_graphic()) {
            true => Ok(Self { scheme, host }),
            false => Err(FORM.to_owned()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Tcp => "tcp",
            Scheme::Udp => "udp",
        };
        write!(f, "{scheme}://{}", self.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_a_host_and_a_port() {
        for sound in ["tcp://log.example:601", "udp://[::1]:514"] {
            assert_eq!(sound.parse::<Address>().unwrap().to_string(), sound);
        }
        for other in [
            "log:601",
            "tcp://log",
            "tls://a:1",
            "tcp://:1",
            "tcp://a:x",
            "udp://a b:1",
        ] {
            assert!(other.parse::<Address>().is_err(), "{other}");
        }
    }
}
