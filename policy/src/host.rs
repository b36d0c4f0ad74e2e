//! Hosts: an entry of `host`, and the host that a text of a call names.
//!
//! Read as RFC 3986 has it, and no further: what a client might take for another host than this
//! file does (a backslash, a percent sign, two ports) names none that can be told.

use std::net::{Ipv4Addr, Ipv6Addr};

use url::Url;

/// A host, and its port if the text has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    /// Without brackets and last dot; an address as it is written shortest.
    name: Vec<u8>,
    port: Option<u16>,
}

impl Host {
    /// The name or the address, in lower case.
    pub(crate) fn name(&self) -> String {
        let bytes = self.name.iter();
        bytes
            .map(|byte| char::from(byte.to_ascii_lowercase()))
            .collect()
    }
}

impl Host {
    /// As an entry of `host`; `None` for a name of one label, which may be that of a remote, or an
    /// alias of the client's.
    pub(crate) fn entry(&self) -> Option<String> {
        let name = self.name();
        let port = self.port.map_or(String::new(), |port| format!(":{port}"));
        if name.contains(':') {
            return Some(format!("[{name}]{port}"));
        }
        name.contains('.').then(|| name + &port)
    }
}

/// An entry of `host`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostPattern {
    /// In lower case, without brackets and last dot.
    name: Vec<u8>,
    /// Whether it stands for what lies below the name, and not for the name (`*.name`).
    is_below: bool,
    port: Option<u16>,
}

impl HostPattern {
    /// Reads an entry, with its `!` already taken off.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (is_below, rest) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let host = authority(rest.as_bytes(), None)?;
        Some(Self {
            name: host.name.to_ascii_lowercase(),
            is_below,
            port: host.port,
        })
    }

    /// Whether the entry means `host`. A port that a call does not write is not told.
    pub(crate) fn covers(&self, host: &Host) -> bool {
        let is_name = if self.is_below {
            let at = host.name.len().checked_sub(self.name.len());
            at.and_then(|at| host.name.split_at_checked(at))
                .is_some_and(|(below, name)| {
                    below.len() > 1
                        && below.ends_with(b".")
                        && name.eq_ignore_ascii_case(&self.name)
                })
        } else {
            host.name.eq_ignore_ascii_case(&self.name)
        };
        is_name && self.port.is_none_or(|port| host.port == Some(port))
    }
}

/// The host that `text` names: of a URL, of `user@host`, of `host:path`, or alone.
pub(crate) fn of(text: &[u8]) -> Option<Host> {
    // curl makes several of one, those around an address aside: what it speaks to is not told.
    let is_address = text.windows(4).any(|window| window == b"://[");
    let globs = text.iter().filter(|byte| b"{}[]".contains(byte)).count();
    if globs > if is_address { 2 } else { 0 } {
        return None;
    }
    if let Some((scheme, rest)) = split_scheme(text) {
        if scheme.eq_ignore_ascii_case(b"file") {
            return None;
        }
        return authority(without_user(before_path(rest))?, port_of(scheme));
    }
    if text.starts_with(b"/") || text.starts_with(b".") || text.starts_with(b"-") {
        return None;
    }
    // Up to the path: of a URL without its scheme, or of an scp-like place.
    let end = text.iter().position(|byte| b"/?#".contains(byte));
    let head = without_user(text.get(..end.unwrap_or(text.len()))?)?;
    if let Some(host) = authority(head, None) {
        return Some(host);
    }
    let colon = head.iter().position(|byte| *byte == b':')?;
    authority(head.get(..colon)?, None)
}

/// The hosts that clients may make of `text`: as RFC 3986 has it, which is `None` if that tells none,
/// and as WHATWG's "URL Standard" has it, where that is another. curl(1) takes after both.
pub(crate) fn readings(text: &[u8]) -> impl Iterator<Item = Option<Host>> + use<> {
    beside_standard(of(text), text)
}

/// The same of a URL that is given to a fetcher of its own, for which the first reading alone proves
/// nothing where the standard passes over blanks and makes up slashes.
pub(crate) fn readings_of_url(text: &[u8]) -> impl Iterator<Item = Option<Host>> + use<> {
    let is_told = text.iter().all(u8::is_ascii_graphic)
        && (split_scheme(text).is_some() || !text.contains(&b':'));
    beside_standard(of(text).filter(|_| is_told), text)
}

fn beside_standard(plain: Option<Host>, text: &[u8]) -> impl Iterator<Item = Option<Host>> + use<> {
    let others = [by_url_standard(text), behind_user(text)];
    let is_other = |other: &Host| plain.as_ref() != Some(other);
    let others: Vec<_> = others.into_iter().flatten().filter(is_other).collect();
    std::iter::once(plain).chain(others.into_iter().map(Some))
}

/// The host behind the last `@` before the path, whatever stands before it: as curl(1) reads
/// `http://a.example\@b.example`.
fn behind_user(text: &[u8]) -> Option<Host> {
    let (scheme, rest) = split_scheme(text)?;
    let authority_text = before_path(rest);
    let at = authority_text.iter().rposition(|byte| *byte == b'@')?;
    authority(authority_text.get(at + 1..)?, port_of(scheme))
}

/// The host of a URL of the web, with its scheme or without.
fn by_url_standard(text: &[u8]) -> Option<Host> {
    let text = str::from_utf8(text).ok()?;
    let of_web = |url: &Url| matches!(url.scheme(), "http" | "https" | "ws" | "wss" | "ftp");
    let has_scheme = split_scheme(text.as_bytes()).is_some();
    let url = match Url::parse(text) {
        Ok(url) if of_web(&url) => url,
        Ok(url) if has_scheme || url.scheme() == "file" => return None,
        // Whatever the scheme, a port that is written is told: none has ftp's.
        _ => {
            let is_path =
                text.starts_with(['.', '-']) || text.starts_with('/') && !text.starts_with("//");
            if is_path || has_scheme {
                return None;
            }
            let rest = text.trim_start_matches(|c: char| c <= ' ' || c == '/' || c == '\\');
            Url::parse(&format!("ftp://{rest}")).ok()?
        }
    };
    let default = port_of(url.scheme().as_bytes()).filter(|_| has_scheme);
    let host = authority(url.host_str()?.as_bytes(), None)?;
    Some(Host {
        port: url.port().or(default),
        ..host
    })
}

/// What stands before the path, the query and the fragment.
fn before_path(text: &[u8]) -> &[u8] {
    let mut parts = text.split(|byte| b"/?#".contains(byte));
    parts.next().unwrap_or(text)
}

/// A scheme and what follows its `://`.
fn split_scheme(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = text.windows(3).position(|window| window == b"://")?;
    let (scheme, rest) = text.split_at_checked(at)?;
    let is_scheme_byte = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let is_scheme =
        scheme.first().is_some_and(u8::is_ascii_alphabetic) && scheme.iter().all(is_scheme_byte);
    is_scheme.then_some((scheme, rest.get(3..)?))
}

/// What follows `user@`. Clients differ about two of them, and about a backslash.
fn without_user(authority: &[u8]) -> Option<&[u8]> {
    let mut parts = authority.splitn(2, |byte| *byte == b'@');
    let (user, host) = match (parts.next()?, parts.next()) {
        (host, None) => (b"".as_slice(), host),
        (user, Some(host)) => (user, host),
    };
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && *byte != b'\\';
    user.iter().all(is_plain).then_some(host)
}

/// `host` or `host:port`.
fn authority(text: &[u8], default: Option<u16>) -> Option<Host> {
    let (name, rest) = match text.strip_prefix(b"[") {
        Some(bracketed) => {
            let end = bracketed.iter().position(|byte| *byte == b']')?;
            (bracketed.get(..end)?, bracketed.get(end + 1..)?)
        }
        None => {
            let end = text.iter().position(|byte| *byte == b':');
            text.split_at_checked(end.unwrap_or(text.len()))?
        }
    };
    let port = match rest.strip_prefix(b":") {
        Some(b"") | None => default,
        Some(digits) => Some(str::from_utf8(digits).ok()?.parse().ok()?),
    };
    if !rest.is_empty() && !rest.starts_with(b":") {
        return None;
    }
    let name = name.strip_suffix(b".").unwrap_or(name);
    let is_address = text.starts_with(b"[");
    let is_name_byte = |byte: &u8| {
        byte.is_ascii_alphanumeric() || b"-_.".contains(byte) || is_address && *byte == b':'
    };
    let is_name = !name.is_empty() && name.iter().all(is_name_byte);
    let text = str::from_utf8(name).ok().filter(|_| is_name)?;
    let name = match is_address {
        true => shortest(text.parse().ok()?),
        false => number_address(text).map_or_else(|| text.to_owned(), |it| it.to_string()),
    };
    let name = name.into_bytes();
    Some(Host { name, port })
}

/// An address of version 6 as it is written shortest; one that stands for version 4 as that: mapped,
/// compatible (RFC 4291), or behind NAT64 (RFC 6052).
fn shortest(address: Ipv6Addr) -> String {
    let last = || {
        let [.., high, low] = address.segments();
        Ipv4Addr::from(u32::from(high) << 16 | u32::from(low))
    };
    let embedded = match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => Some(last()),
        // `::` and `::1` are addresses of their own.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0, ..] => Some(last()),
        _ => None,
    };
    embedded.map_or_else(|| address.to_string(), |embedded| embedded.to_string())
}

/// The address of version 4 that a name is in one of its many spellings: decimal, octal and
/// hexadecimal parts, the last of which fills what is left. inet_aton(3).
fn number_address(name: &str) -> Option<Ipv4Addr> {
    let number = |part: &str| {
        let (digits, radix) = match part.strip_prefix("0x").or_else(|| part.strip_prefix("0X")) {
            Some(digits) => (digits, 16),
            None if part.len() > 1 && part.starts_with('0') => (part, 8),
            None => (part, 10),
        };
        match digits {
            "" if radix == 16 => Some(0),
            digits if digits.starts_with('+') => None,
            digits => u32::from_str_radix(digits, radix).ok(),
        }
    };
    let parts: Option<Vec<u32>> = name.split('.').map(number).collect();
    let (last, first) = parts.as_deref()?.split_last()?;
    let bits = 32 - 8 * u32::try_from(first.len()).ok()?.min(4);
    let is_within = u64::from(*last) < 1 << bits && first.iter().all(|part| *part < 256);
    let shifted = first.iter().zip([24, 16, 8]).map(|(part, by)| part << by);
    (is_within && first.len() < 4).then(|| Ipv4Addr::from(shifted.sum::<u32>() | last))
}

/// The ports of the schemes that clients know by heart.
fn port_of(scheme: &[u8]) -> Option<u16> {
    let ports: [(&str, u16); 9] = [
        ("https", 443),
        ("http", 80),
        ("wss", 443),
        ("ws", 80),
        ("ssh", 22),
        ("git", 9418),
        ("ftp", 21),
        ("sftp", 22),
        ("rsync", 873),
    ];
    let mut ports = ports.into_iter();
    ports
        .find(|(name, _)| scheme.eq_ignore_ascii_case(name.as_bytes()))
        .map(|(_, port)| port)
}

#[cfg(test)]
mod tests;
