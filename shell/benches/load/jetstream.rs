//! JetStream as a yardstick: a stream in files that syncs every write, and publishers that wait for the answer.
//!
//! The client is as small as that of [`super::http`]: one connection, one publication after the other.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use awakener_tools::nats::Server;
use awakener_tools::{Tool, nats};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const INBOX: &str = "_INBOX.own";

/// A server whose streams are in `dir`; `None` if the user does without.
pub fn server(dir: &Path) -> Option<Server> {
    let program = match nats::program().unwrap_or_else(|error| panic!("{error}")) {
        Tool::Ready(program) => program,
        Tool::Skipped(_) => return None,
    };
    std::fs::create_dir_all(dir).unwrap();
    let config = dir.join("nats.conf");
    let text = format!("jetstream {{ store_dir: \"{}\", sync_interval: always }}\n", dir.display());
    std::fs::write(&config, text).unwrap();
    let mut server = Server::new(&program, dir).unwrap();
    server.tell(&["--config", config.to_str().unwrap()]);
    server.start().unwrap_or_else(|error| panic!("{error}"));
    Some(server)
}

/// One publisher.
pub struct Publisher {
    stream: TcpStream,
    out: Vec<u8>,
    read: Vec<u8>,
}

impl Publisher {
    pub async fn connect(to: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(to).await?;
        stream.set_nodelay(true)?;
        let mut own = Self { stream, out: Vec::new(), read: Vec::new() };
        own.out.extend_from_slice(
            format!("CONNECT {{\"verbose\":false,\"pedantic\":false}}\r\nSUB {INBOX}.* 1\r\nPING\r\n")
                .as_bytes(),
        );
        own.stream.write_all(&own.out).await?;
        own.until("PONG\r\n").await?;
        Ok(own)
    }

    /// The one stream, for everything below `load`.
    pub async fn create(&mut self) -> io::Result<()> {
        let config = br#"{"name":"LOAD","subjects":["load.*"],"storage":"file","num_replicas":1}"#;
        let answer = self.request("$JS.API.STREAM.CREATE.LOAD", config, 0).await?;
        if answer.contains("\"error\"") { Err(io::Error::other(answer)) } else { Ok(()) }
    }

    /// Publishes, and waits until it is said to be stored.
    pub async fn publish(&mut self, number: u64, body: &[u8]) -> io::Result<()> {
        let answer = self.request("load.one", body, number).await?;
        if answer.contains("\"seq\"") { Ok(()) } else { Err(io::Error::other(answer)) }
    }

    async fn request(&mut self, subject: &str, body: &[u8], number: u64) -> io::Result<String> {
        self.out.clear();
        let line = format!("PUB {subject} {INBOX}.{number} {}\r\n", body.len());
        self.out.extend_from_slice(line.as_bytes());
        self.out.extend_from_slice(body);
        self.out.extend_from_slice(b"\r\n");
        self.stream.write_all(&self.out).await?;
        self.until("}\r\n").await
    }

    /// Reads until what came ends so, and answers pings.
    async fn until(&mut self, end: &str) -> io::Result<String> {
        self.read.clear();
        loop {
            if self.stream.read_buf(&mut self.read).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if self.read.ends_with(b"PING\r\n") {
                self.stream.write_all(b"PONG\r\n").await?;
            }
            let text = String::from_utf8_lossy(&self.read);
            // The greeting ends like an answer; an answer names our inbox.
            let whole = end == "PONG\r\n" || text.contains(INBOX);
            if whole && text.contains(end) {
                return Ok(text.into_owned());
            }
        }
    }
}
