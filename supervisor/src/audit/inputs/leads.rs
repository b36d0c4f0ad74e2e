//! Where the paths led that a call names.

use execward_policy::{Destination, ExecRequest, FileKind};
use serde::{Deserialize, Serialize};

use super::{POINTER, digest};
use crate::audit::text::{ExactBytes, RawBytes, Text};

/// Most bytes, as they are written, of the paths that a call names and where they lead; if there are
/// more, none is kept. A linker's are about that long.
const LEADS_MAX_BYTES: usize = 12 << 10;

/// What one of them needs beside its paths.
const LEAD_BYTES: usize = r#"{"from":"","to":"","kind":"regular","proven":true},"#.len();

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LeadNote<'a> {
    #[serde(borrow)]
    from: Text<'a>,
    /// Absent if that is itself.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    to: Option<Text<'a>>,
    kind: KindNote,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    proven: bool,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    sha256: Option<Text<'a>>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KindNote {
    Regular,
    Directory,
    Other,
    Missing,
}

/// How long a path is as ASCII in a line.
fn written_bytes(path: &[u8]) -> usize {
    const ESCAPED_BYTES: usize = "\\u0000".len();
    let bytes = path.iter();
    bytes
        .map(|byte| {
            if (b' '..=b'~').contains(byte) {
                1
            } else {
                ESCAPED_BYTES
            }
        })
        .sum()
}

/// Those of a call, but for what may be one of its `secrets`, taken for a path.
pub(super) fn of(
    request: &ExecRequest,
    secrets: &[Vec<u8>],
    exact: &mut ExactBytes,
) -> Vec<LeadNote<'static>> {
    let has = |text: &[u8], part: &[u8]| text.windows(part.len().max(1)).any(|it| it == part);
    // A piece of a secret may be taken for a path, too.
    let is_secret = |path: &[u8]| {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        let mut secrets = secrets.iter();
        secrets.any(|secret| has(path, secret) || name.len() > 2 && has(secret, name))
    };
    let mut leads: Vec<_> = request.destinations.iter().collect();
    leads.retain(|(from, to)| !is_secret(from) && !is_secret(&to.path));
    let bytes = leads.iter().map(|(from, to)| {
        let other = Some(&to.path).filter(|path| path != from);
        LEAD_BYTES + written_bytes(from) + other.map_or(0, |path| written_bytes(path))
    });
    if bytes.sum::<usize>() > LEADS_MAX_BYTES {
        return Vec::new();
    }
    leads.sort_unstable_by_key(|(from, _)| *from);
    let leads = leads.into_iter().enumerate().map(|(place, (from, to))| {
        let at = format!("{POINTER}/leads/{place}");
        LeadNote {
            from: Text::of(from, || format!("{at}/from"), exact),
            to: (to.path != *from).then(|| Text::of(&to.path, || format!("{at}/to"), exact)),
            kind: match to.kind {
                FileKind::Regular => KindNote::Regular,
                FileKind::Directory => KindNote::Directory,
                FileKind::Other => KindNote::Other,
                FileKind::Missing => KindNote::Missing,
            },
            proven: to.is_proven,
            sha256: to.sha256.as_ref().map(|digest| digest.to_string().into()),
        }
    });
    leads.collect()
}

impl LeadNote<'_> {
    pub(super) fn destination(&self, place: usize, raw: &RawBytes) -> (Vec<u8>, Destination) {
        let of = |key: &str, text: &Text<'_>| {
            text.bytes(|| format!("{POINTER}/leads/{place}/{key}"), raw)
        };
        let from = of("from", &self.from);
        let destination = Destination {
            path: self
                .to
                .as_ref()
                .map_or_else(|| from.clone(), |to| of("to", to)),
            kind: match self.kind {
                KindNote::Regular => FileKind::Regular,
                KindNote::Directory => FileKind::Directory,
                KindNote::Other => FileKind::Other,
                KindNote::Missing => FileKind::Missing,
            },
            is_proven: self.proven,
            sha256: digest(self.sha256.as_ref()),
        };
        (from, destination)
    }
}
