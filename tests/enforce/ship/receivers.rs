//! Those who take records, as far as a test needs them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use execward_tests::DEADLINE;
use serde_json::Value;

/// A record by what it is known by.
pub(crate) type Place = (String, u64);

/// Where a record stands.
pub(crate) fn place(record: &Value) -> Place {
    let chain = record.get("chain").and_then(Value::as_str);
    let seq = record.get("seq").and_then(Value::as_u64);
    (chain.expect("a chain").to_owned(), seq.expect("a seq"))
}

/// A socket of datagrams, as journald and syslog daemons have one.
#[derive(Debug)]
pub(crate) struct Datagrams(UnixDatagram);

impl Datagrams {
    pub(crate) fn at(path: &Path) -> Self {
        let socket = UnixDatagram::bind(path).expect("a socket");
        socket
            .set_read_timeout(Some(*DEADLINE))
            .expect("a deadline");
        Self(socket)
    }

    /// The next one.
    pub(crate) fn next(&self) -> String {
        let mut datagram = vec![0; 1024 * 1024];
        let read = self.0.recv(&mut datagram).expect("a datagram in time");
        datagram.truncate(read);
        String::from_utf8(datagram).expect("text")
    }

    /// The record of journald's next entry.
    pub(crate) fn next_record(&self) -> Value {
        let entry = self.next();
        let line = entry
            .lines()
            .find_map(|line| line.strip_prefix("EXECWARD_RECORD="));
        serde_json::from_str(line.expect("a record")).expect("a record")
    }

    /// Whether there is another one now.
    pub(crate) fn has_more(&self) -> bool {
        self.0.set_nonblocking(true).expect("a mode");
        let more = self.0.recv(&mut [0; 16]).is_ok();
        self.0.set_nonblocking(false).expect("a mode");
        more
    }
}

/// What a collector got: which records, and what it answered.
pub(crate) type Request = (Vec<Value>, u16);

/// A collector that gives these answers first, and then takes everything.
#[derive(Debug)]
pub(crate) struct Collector {
    pub(crate) address: SocketAddr,
    requests: Receiver<Request>,
}

impl Collector {
    /// `answers` are a status and more lines of the head each. A record whose text has `poison` is never taken.
    pub(crate) fn start(answers: Vec<(u16, &'static str)>, poison: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (sender, requests) = channel();
        thread::spawn(move || {
            let mut answers = answers.into_iter();
            for connection in listener.incoming() {
                let connection = connection.expect("a connection");
                if answer(connection, &mut answers, poison, &sender).is_none() {
                    return;
                }
            }
        });
        Self { address, requests }
    }

    /// The next request.
    pub(crate) fn next(&self) -> Request {
        self.requests
            .recv_timeout(*DEADLINE)
            .expect("a request in time")
    }
}

fn answer(
    mut connection: TcpStream,
    answers: &mut impl Iterator<Item = (u16, &'static str)>,
    poison: Option<&str>,
    to: &Sender<Request>,
) -> Option<()> {
    let mut reader = BufReader::new(connection.try_clone().ok()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let request: Value = serde_json::from_slice(&body).expect("JSON");
    let logs = request.pointer("/resourceLogs/0/scopeLogs/0/logRecords");
    let logs = logs.and_then(Value::as_array).expect("records").iter();
    let lines = logs.map(|it| it.pointer("/body/stringValue").and_then(Value::as_str));
    let records: Vec<Value> = lines
        .map(|line| serde_json::from_str(line.expect("a body")).expect("a record"))
        .collect();
    let is_poisoned = poison.is_some_and(|word| {
        let mut lines = records.iter().map(Value::to_string);
        lines.any(|line| line.contains(word))
    });
    let (status, head) = match is_poisoned {
        true => (400, ""),
        false => answers.next().unwrap_or((200, "")),
    };
    to.send((records, status)).ok()?;
    let answer =
        format!("HTTP/1.1 {status} X\r\n{head}Connection: close\r\nContent-Length: 2\r\n\r\n{{}}");
    connection.write_all(answer.as_bytes()).ok()
}

/// What `http://ADDRESS/metrics` says.
pub(crate) fn metrics(address: &str) -> Option<String> {
    let mut connection = TcpStream::connect(address).ok()?;
    connection.set_read_timeout(Some(*DEADLINE)).ok()?;
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\n\r\n");
    connection.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    Some(body.to_owned())
}
