//! The kernel's side of a question: the listener, and the notifications that it hands out.

mod listener;
mod notification;
mod sys;

pub(crate) use listener::Listener;
pub(crate) use notification::{Answered, Notification, Reply, SyscallData};
