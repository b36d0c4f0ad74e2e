//! A call of a tool: what a host of tools, such as an MCP client, is about to do by itself.
//!
//! No exec shows it, so the host asks. What it names is told by the host, and judged by the same
//! rules as the operands of a command.

mod argument;

use std::borrow::Cow;
use std::collections::HashMap;

use crate::host::{self, Host};
use crate::operand::{Access, FileOperand, Part, text};
use crate::path::{absolute, collapse, has_parent_step};
use crate::request::Destination;
use crate::tool;

/// Most texts of one call that are looked at; what it names beyond nobody can tell.
const TEXTS_MAX: usize = 4096;

/// One call of a tool, as the host of the tool describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// The tool's name: one of the six that the language knows, or any.
    pub tool: String,
    /// The files that the call names, as the host has them.
    pub paths: Vec<Vec<u8>>,
    /// The URLs that it names.
    pub urls: Vec<Vec<u8>>,
    /// Its other arguments, `KEY=VALUE` each. What is no text is JSON.
    pub arguments: Vec<Vec<u8>>,
    /// Whether what lies below its files is meant too, as of a search; of what is deleted it always is.
    pub is_walked: bool,
    /// The directory from which relative paths are meant, resolved, if it has a path.
    pub cwd: Option<Vec<u8>>,
    /// Where the paths of [`ToolCall::named_paths`] lead. Of one that is not here, nobody can tell.
    pub destinations: HashMap<Vec<u8>, Destination>,
}

/// What stands in a call's URLs and arguments.
#[derive(Default)]
struct Texts<'c> {
    urls: Vec<Cow<'c, [u8]>>,
    /// What is no URL.
    others: Vec<Cow<'c, [u8]>>,
    /// Whether an argument may name what nobody can tell.
    has_untold: bool,
}

/// A text that may be the path of a file, and what the file is to the call.
struct Named<'c> {
    /// Nothing if it cannot be told.
    text: Option<Cow<'c, [u8]>>,
    part: Part,
}

impl Named<'_> {
    /// A file that nobody can tell.
    const UNTOLD: Self = Self {
        text: None,
        part: Part::Plain,
    };
}

impl ToolCall {
    /// A call that names nothing yet.
    #[must_use]
    pub fn new(tool: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            ..Self::default()
        }
    }

    /// The absolute paths of the files that the call names, to be followed; see
    /// [`ToolCall::destinations`].
    #[must_use]
    pub fn named_paths(&self) -> Vec<Vec<u8>> {
        let named = self.named(self.texts()).into_iter();
        let mut paths: Vec<_> = named.filter_map(|named| self.path(&named.text?)).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    /// The text that the call gives to a shell, if its tool is one and it gives any: its argument
    /// `command`.
    #[must_use]
    pub fn shell_text(&self) -> Option<&[u8]> {
        let mut arguments = self.arguments.iter();
        let text = arguments.find_map(|argument| argument.strip_prefix(b"command="));
        text.filter(|_| tool::EXEC.contains(&self.tool.as_str()))
    }

    /// The texts that may be paths.
    fn named<'c>(&'c self, texts: Texts<'c>) -> Vec<Named<'c>> {
        let paths = self.paths.iter();
        let mut named: Vec<Named<'_>> = paths
            .map(|path| Named {
                // A host may take a URL too.
                text: (!text::is_file_url(path)).then_some(Cow::Borrowed(path.as_slice())),
                part: Part::Plain,
            })
            .collect();
        named.extend(texts.has_untold.then_some(Named::UNTOLD));
        named.extend(texts.urls.into_iter().filter_map(|url| {
            let text = match &url {
                Cow::Borrowed(url) => text::local_path(url)?.map(Cow::Borrowed),
                Cow::Owned(url) => text::local_path(url)?.map(|path| path.to_vec().into()),
            };
            let part = Part::Plain;
            Some(Named { text, part })
        }));
        named.extend(texts.others.into_iter().map(|text| Named {
            part: part(&text),
            text: Some(text),
        }));
        named.retain(|named| {
            let can_be = |text: &Cow<'_, [u8]>| !text.is_empty() && text::can_be_path(text);
            named.text.as_ref().is_none_or(can_be)
        });
        if named.len() > TEXTS_MAX {
            named.truncate(TEXTS_MAX);
            named.push(Named::UNTOLD);
        }
        named
    }

    fn texts(&self) -> Texts<'_> {
        let mut texts = Texts::default();
        let urls = self.urls.iter();
        texts
            .urls
            .extend(urls.map(|url| Cow::Borrowed(url.as_slice())));
        for text in argument::texts(&self.arguments, tool::is_known(&self.tool)) {
            match text {
                Some(url) if argument::is_url(&url) => texts.urls.push(url),
                Some(other) => texts.others.push(other),
                None => texts.has_untold = true,
            }
        }
        texts
    }

    /// The absolute path that `text` means; `None` if nobody can tell, as where a host may take `~`
    /// for a home directory.
    fn path(&self, text: &[u8]) -> Option<Vec<u8>> {
        let is_of_home = text.starts_with(b"~");
        absolute(text, self.cwd.as_deref()).filter(|_| !is_of_home)
    }
}

/// A call, seen the way a rule looks at it.
#[derive(Debug)]
pub(crate) struct Seen<'c> {
    pub(crate) call: &'c ToolCall,
    /// The files that it names. One that nobody can tell stands for a path that is not given.
    pub(crate) files: Vec<FileOperand>,
    /// The hosts that it names; `None` for one that cannot be told, or is not given.
    pub(crate) hosts: Vec<Option<Host>>,
}

impl<'c> Seen<'c> {
    pub(crate) fn of(call: &'c ToolCall) -> Self {
        let texts = call.texts();
        let hosts = hosts(call, &texts);
        Self {
            call,
            files: files(call, texts),
            hosts,
        }
    }
}

fn files(call: &ToolCall, texts: Texts<'_>) -> Vec<FileOperand> {
    let accesses = tool::accesses(&call.tool);
    // What is deleted goes with all that lies below it.
    let is_walked = call.is_walked || accesses.contains(&Access::Delete);
    let file = |path, part| FileOperand {
        accesses,
        part,
        is_walked,
        ..FileOperand::at(path, &call.destinations)
    };
    let named = call.named(texts).into_iter();
    let mut files: Vec<_> = named
        .map(|Named { text, part }| {
            let path = text.and_then(|text| call.path(&text));
            let is_up = path.as_deref().is_some_and(has_parent_step);
            let mut file = file(path, part);
            // A host may take `..` for the text that it is, where the file system follows links.
            let leads_elsewhere = |it: &mut Destination| collapse(&it.path) != file.written;
            if is_up && file.destination.as_mut().is_some_and(leads_elsewhere) {
                file.destination = None;
            }
            file
        })
        .collect();
    if files.is_empty() && !accesses.is_empty() {
        files.push(file(None, Part::Plain));
    }
    files
}

/// What an argument is that may be a path or a mere text.
fn part(text: &[u8]) -> Part {
    let leads_away = text.starts_with(b"/") || text.starts_with(b"~");
    match leads_away || has_parent_step(&[b"/", text].concat()) {
        true => Part::Plain,
        false => Part::Guess,
    }
}

fn hosts(call: &ToolCall, texts: &Texts<'_>) -> Vec<Option<Host>> {
    let urls = texts.urls.iter();
    let readings = urls.flat_map(|url| host::readings_of_url(url));
    let mut hosts: Vec<_> = readings.collect();
    if texts.has_untold || hosts.is_empty() && call.tool == tool::FETCH {
        hosts.push(None);
    }
    hosts
}
