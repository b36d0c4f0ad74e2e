//! Which answer a request to `/metrics` gets: HTTP/1.1 as far as a collector needs it (RFC 9112).

/// Longest request that is read, in bytes.
pub(super) const REQUEST_MAX: usize = 8 * 1024;

/// Whether all of a request's head has been read. None that is answered has a body.
pub(super) fn is_whole(request: &[u8]) -> bool {
    request.windows(4).any(|end| end == b"\r\n\r\n")
}

/// The answer to a request, of which the connection ends.
pub(super) fn answer(request: &[u8], metrics: &str) -> String {
    let first = request.split(|byte| *byte == b'\r').next();
    let first = first.and_then(|line| str::from_utf8(line).ok());
    let mut words = first.unwrap_or_default().split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next());
    let path = target.and_then(|target| target.split('?').next());
    let (status, body) = match (method, path) {
        ("GET" | "HEAD", Some("/metrics")) => ("200 OK", metrics),
        ("GET" | "HEAD", Some("/")) => ("200 OK", "see /metrics\n"),
        ("GET" | "HEAD", Some(_)) => ("404 Not Found", "there is /metrics alone\n"),
        (_, Some(_)) => ("405 Method Not Allowed", "GET alone\n"),
        (_, None) => ("400 Bad Request", "this is no request\n"),
    };
    let length = body.len();
    let allow = match status.starts_with("405") {
        true => "Allow: GET, HEAD\r\n",
        false => "",
    };
    let body = if method == "HEAD" { "" } else { body };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n{allow}\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_answered_and_nothing_else() {
        let said = |request: &str| answer(request.as_bytes(), "a 1\n");
        assert_eq!(
            said("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
             Content-Length: 4\r\nConnection: close\r\n\r\na 1\n"
        );
        assert!(said("HEAD /metrics HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n"));
        assert!(said("GET /../etc HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
        assert!(said("POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
        assert!(said("\0\r\n\r\n").starts_with("HTTP/1.1 400 "));
        assert!(is_whole(b"GET / HTTP/1.0\r\n\r\n") && !is_whole(b"GET / HTTP/1.0\r\n"));
    }
}
