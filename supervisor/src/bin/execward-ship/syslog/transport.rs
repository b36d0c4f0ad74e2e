//! How messages reach a syslog daemon.

use std::io::{self, Write};
use std::net::{TcpStream, ToSocketAddrs, UdpSocket};
use std::os::unix::net::UnixDatagram;

use super::Target;
use super::address::Scheme;
use crate::ship::PATIENCE;

/// A socket that goes to the daemon.
#[derive(Debug)]
pub(super) enum Transport {
    Local(UnixDatagram),
    Stream(TcpStream),
    Datagrams(UdpSocket),
}

impl Transport {
    /// Connects.
    ///
    /// # Errors
    /// If nobody is there.
    pub(super) fn open(target: &Target) -> io::Result<Self> {
        let address = match target {
            Target::Socket(path) => {
                let socket = UnixDatagram::unbound()?;
                socket.connect(path)?;
                socket.set_write_timeout(Some(PATIENCE))?;
                return Ok(Self::Local(socket));
            }
            Target::Address(address) => address,
        };
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for resolved in address.host.to_socket_addrs()? {
            let opened = match address.scheme {
                Scheme::Tcp => TcpStream::connect_timeout(&resolved, PATIENCE).map(Self::Stream),
                Scheme::Udp => {
                    let own = if resolved.is_ipv4() {
                        "0.0.0.0:0"
                    } else {
                        "[::]:0"
                    };
                    let bound = UdpSocket::bind(own);
                    bound.and_then(|it| it.connect(resolved).map(|()| Self::Datagrams(it)))
                }
            };
            match opened {
                Ok(transport) => {
                    transport.be_patient()?;
                    return Ok(transport);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn be_patient(&self) -> io::Result<()> {
        match self {
            Self::Local(socket) => socket.set_write_timeout(Some(PATIENCE)),
            Self::Stream(stream) => stream.set_write_timeout(Some(PATIENCE)),
            Self::Datagrams(socket) => socket.set_write_timeout(Some(PATIENCE)),
        }
    }

    /// Whether the other end is there, as far as this one can see: it closes a stream when it ends, and says
    /// nothing before.
    pub(super) fn is_usable(&self) -> bool {
        let Self::Stream(stream) = self else {
            return true;
        };
        let is_silent = |error: io::Error| error.kind() == io::ErrorKind::WouldBlock;
        let looked = stream.set_nonblocking(true).and_then(|()| {
            let heard = stream
                .peek(&mut [0])
                .map_or_else(is_silent, |read| read > 0);
            stream.set_nonblocking(false).map(|()| heard)
        });
        looked.unwrap_or(false)
    }

    /// Sends messages.
    ///
    /// # Errors
    /// How many are sent, and why not all. Of a stream that breaks none is: what became of those that were written
    /// nobody knows.
    pub(super) fn send(
        &mut self,
        messages: impl Iterator<Item = String>,
    ) -> Result<(), (usize, io::Error)> {
        if let Self::Stream(stream) = self {
            let frames: String = messages
                .map(|message| format!("{} {message}", message.len()))
                .collect();
            stream
                .write_all(frames.as_bytes())
                .map_err(|error| (0, error))?;
            return match self.is_usable() {
                true => Ok(()),
                false => Err((0, io::ErrorKind::ConnectionReset.into())),
            };
        }
        for (sent, message) in messages.enumerate() {
            self.send_one(message.as_bytes())
                .map_err(|error| (sent, error))?;
        }
        Ok(())
    }

    fn send_one(&mut self, message: &[u8]) -> io::Result<()> {
        match self {
            Self::Local(socket) => socket.send(message).map(drop),
            Self::Datagrams(socket) => socket.send(message).map(drop),
            Self::Stream(stream) => stream.write_all(message),
        }
    }
}
