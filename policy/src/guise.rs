//! What a call may be though its file is called otherwise: `git-push`, `python3 -m pip`,
//! `busybox wget`, `ld.so /usr/bin/id`.

use crate::image::Image;

/// A command by another name. Only a deny or an ask looks at it.
#[derive(Debug, Clone)]
pub(crate) struct Guise<'i> {
    pub(crate) name: &'i [u8],
    /// The path of its file, where the call has it.
    pub(crate) path: Option<&'i [u8]>,
    /// Whether it is one of the commands in a multi-call file, which has no path of its own.
    pub(crate) is_applet: bool,
    /// The first word of the command, where the file's name holds it too.
    pub(crate) word: Option<&'i [u8]>,
    /// How many arguments belong to the guise.
    pub(crate) skipped: usize,
    pub(crate) image: &'i Image<'i>,
}

impl<'i> Guise<'i> {
    /// Whether the file's name holds the command's first word too.
    pub(crate) fn is_joined(&self) -> bool {
        self.word.is_some()
    }

    /// The command's arguments.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &'i [u8]> + Clone + use<'i> {
        let rest = self.image.arguments().skip(self.skipped);
        self.word.into_iter().chain(rest)
    }
}
