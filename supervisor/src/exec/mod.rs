//! One exec: what was asked for, which file that is, what was loaded.

mod attempt;
mod capture;
mod digest;
mod expectation;
mod file;
mod filesystem;
mod header;
mod image;
mod loaded;
mod loaders;
mod lookup;

pub(crate) use attempt::{AttemptError, ExecAttempt};
pub(crate) use capture::{CaptureError, ExecArgs};
pub(crate) use digest::of_content as content_digest;
pub(crate) use expectation::{Difference, Expectation};
pub(crate) use file::{FileFacts, FileId, Kind, KnownElves};
pub(crate) use filesystem::{Filesystem, Filesystems};
pub(crate) use image::{Image, ImageFacts, Target};
pub(crate) use loaded::{LoadedError, LoadedImage, Loader};
pub(crate) use loaders::SystemLoaders;
pub(crate) use lookup::{Destinations, Lookup, LookupError, Patience, SessionRoot, Standing, View};
