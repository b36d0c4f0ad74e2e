//! Who asks for the figures gets them, one after the other: a collector comes every few seconds.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::answer::{REQUEST_MAX, answer, is_whole};
use crate::said::say;

/// How long one connection may take: a slow one keeps others waiting no longer.
const TIME_MAX: Duration = Duration::from_secs(2);

/// The text that is shown. The thread that answers shares nothing else with the one that counts.
#[derive(Clone, Debug)]
pub(super) struct Shown(Arc<Mutex<String>>);

impl Shown {
    /// Shows `text` at `address`, from a thread of its own.
    ///
    /// # Errors
    /// If the address is taken, or not this machine's.
    pub(super) fn at(address: SocketAddr, text: String) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        say(&format!(
            "metrics are at http://{}/metrics",
            listener.local_addr()?
        ));
        let shown = Self(Arc::new(Mutex::new(text)));
        let own = shown.clone();
        thread::Builder::new().spawn(move || own.answer(&listener))?;
        Ok(shown)
    }

    /// Shows another text.
    pub(super) fn show(&self, text: String) {
        // Whoever panicked with it left a whole text.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    fn text(&self) -> String {
        let text = self.0.lock();
        text.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn answer(&self, listener: &TcpListener) {
        for connection in listener.incoming() {
            let answered = connection.and_then(|connection| self.answer_one(connection));
            if let Err(error) = answered {
                // Theirs, or there are no more descriptors for a while.
                if error.raw_os_error() == Some(libc::EMFILE) {
                    thread::sleep(TIME_MAX);
                }
            }
        }
    }

    fn answer_one(&self, mut connection: TcpStream) -> io::Result<()> {
        let end = Instant::now() + TIME_MAX;
        let mut request = Vec::new();
        let mut piece = [0; 1024];
        while !is_whole(&request) {
            // No time at all would be for ever.
            let left = end.saturating_duration_since(Instant::now());
            connection.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
            let read = connection.read(&mut piece)?;
            request.extend_from_slice(piece.get(..read).unwrap_or_default());
            if read == 0 || request.len() > REQUEST_MAX || left.is_zero() {
                return Ok(());
            }
        }
        connection.set_write_timeout(Some(TIME_MAX))?;
        let answer = answer(&request, &self.text());
        connection.write_all(answer.as_bytes())
    }
}
