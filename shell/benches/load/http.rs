//! The smallest HTTP client that there can be, so that a measurement is of the server: one connection, kept alive, one
//! request after the other.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// One connection with one credential.
pub struct Http {
    stream: TcpStream,
    head: String,
    out: Vec<u8>,
    read: Vec<u8>,
}

impl Http {
    pub async fn connect(to: SocketAddr, token: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(to).await?;
        stream.set_nodelay(true)?;
        let head = format!("host: {to}\r\nauthorization: Bearer {token}\r\n");
        Ok(Self { stream, head, out: Vec::new(), read: Vec::new() })
    }

    /// One request; the status and the body of the answer.
    pub async fn call(&mut self, line: &str, body: &[u8]) -> io::Result<(u16, Vec<u8>)> {
        self.with(line, "", body).await
    }

    /// The same under a lease.
    pub async fn leased(&mut self, line: &str, fence: u64, body: &[u8]) -> io::Result<(u16, Vec<u8>)> {
        self.with(line, &format!("awakener-lease: {fence}\r\n"), body).await
    }

    async fn with(&mut self, line: &str, more: &str, body: &[u8]) -> io::Result<(u16, Vec<u8>)> {
        self.out.clear();
        let start = format!(
            "{line} HTTP/1.1\r\n{}{more}content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.head,
            body.len()
        );
        self.out.extend_from_slice(start.as_bytes());
        self.out.extend_from_slice(body);
        self.stream.write_all(&self.out).await?;
        self.read.clear();
        loop {
            if let Some((status, from, length)) = head(&self.read)
                && self.read.len() >= from + length
            {
                return Ok((status, self.read[from..from + length].to_vec()));
            }
            if self.stream.read_buf(&mut self.read).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// Status, where the body begins, and how long it is.
fn head(read: &[u8]) -> Option<(u16, usize, usize)> {
    let end = read.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&read[..end]).ok()?;
    let status = text.get(9..12)?.parse().ok()?;
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: "))?;
    Some((status, end, length.trim().parse().ok()?))
}
