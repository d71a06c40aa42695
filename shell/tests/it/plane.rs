//! A stand-in for a plane: answers what it is told to, and remembers what it was asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

/// What came in.
#[derive(Clone, Debug)]
pub struct Request {
    /// Method and path with query.
    pub line: String,
    /// Header lines, lower case.
    pub headers: Vec<String>,
    /// The body, if it is JSON.
    pub body: Value,
}

/// A listener on loopback that gives these answers (status, body) in turn and then goes away. Status 0 hangs up
/// without a word after the request was read.
pub struct Plane {
    /// Its address.
    pub url: String,
    requests: Receiver<Request>,
}

impl Plane {
    pub fn answering(answers: Vec<(u16, Value)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, requests) = channel();
        std::thread::spawn(move || {
            for (status, body) in answers {
                let (stream, _) = listener.accept().unwrap();
                let mut reader = BufReader::new(stream);
                let mut lines = Vec::new();
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line).unwrap();
                    if line.trim().is_empty() {
                        break;
                    }
                    lines.push(line.trim().to_owned());
                }
                let headers: Vec<String> = lines.iter().skip(1).map(|line| line.to_lowercase()).collect();
                let length =
                    headers.iter().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
                let mut bytes = vec![0; length.unwrap_or(0)];
                reader.read_exact(&mut bytes).unwrap();
                let request = Request {
                    line: lines[0].trim_end_matches(" HTTP/1.1").into(),
                    headers,
                    body: serde_json::from_slice(&bytes).unwrap_or_default(),
                };
                sender.send(request).ok();
                if status == 0 {
                    continue;
                }
                let body = body.to_string();
                let head = format!(
                    "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                reader.into_inner().write_all((head + &body).as_bytes()).unwrap();
            }
        });
        Self { url, requests }
    }

    /// The next request, in order.
    pub fn request(&self) -> Request {
        self.requests.recv_timeout(std::time::Duration::from_secs(10)).unwrap()
    }

    /// Whether nothing (more) was asked.
    pub fn untouched(&self) -> bool {
        self.requests.try_recv().is_err()
    }
}
