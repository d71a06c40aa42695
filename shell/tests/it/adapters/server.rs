//! A server that is made by hand, so that it can misbehave below HTTP: it reads one request and does what it is told.
//!
//! It keeps every request that came whole, byte for byte, and how much of a flood the other side took.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// A request.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

/// What is done with it.
#[derive(Clone, Debug)]
pub enum Reaction {
    /// These bytes, then the end of the connection.
    Says(Vec<u8>),
    /// The same after a while.
    Later(Duration, Vec<u8>),
    /// The connection is cut without an answer.
    Drops,
    /// The connection stays open without an answer.
    Hangs,
    /// A head, then a byte now and then, without an end.
    Drips(Vec<u8>),
    /// A head, then as much as the other side takes.
    Floods(Vec<u8>),
}

type React = Box<dyn FnMut(&Asked) -> Reaction + Send>;

struct Inner {
    asked: Mutex<Vec<Asked>>,
    react: Mutex<React>,
    flooded: AtomicU64,
    connections: AtomicUsize,
}

/// The server; ends with its last handle.
#[derive(Clone)]
pub struct Server {
    inner: Arc<Inner>,
    pub addr: SocketAddr,
    _task: Arc<Ends>,
}

struct Ends(tokio::task::JoinHandle<()>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Server {
    pub async fn start(react: impl FnMut(&Asked) -> Reaction + Send + 'static) -> Self {
        Self::over("127.0.0.1:0", None, react).await
    }

    /// At an address, in the clear or over TLS.
    pub async fn over(
        address: &str,
        tls: Option<TlsAcceptor>,
        react: impl FnMut(&Asked) -> Reaction + Send + 'static,
    ) -> Self {
        let inner = Arc::new(Inner {
            asked: Mutex::default(),
            react: Mutex::new(Box::new(react)),
            flooded: AtomicU64::new(0),
            connections: AtomicUsize::new(0),
        });
        let listener = TcpListener::bind(address).await.unwrap();
        let addr = listener.local_addr().unwrap();
        let shared = Arc::clone(&inner);
        let task = tokio::spawn(async move {
            // Its connections end with it.
            let mut open = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let (shared, tls) = (Arc::clone(&shared), tls.clone());
                open.spawn(async move {
                    match tls {
                        None => shared.serve(stream).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                shared.serve(stream).await;
                            }
                        }
                    }
                });
            }
        });
        Self { inner, addr, _task: Arc::new(Ends(task)) }
    }

    pub fn reacts(&self, react: impl FnMut(&Asked) -> Reaction + Send + 'static) {
        *self.inner.react.lock().unwrap() = Box::new(react);
    }

    /// The requests so far that were no GET.
    pub fn posted(&self) -> Vec<Asked> {
        self.inner.asked.lock().unwrap().iter().filter(|asked| asked.method != "GET").cloned().collect()
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.inner.asked.lock().unwrap().clone()
    }

    pub fn forget(&self) {
        self.inner.asked.lock().unwrap().clear();
        self.inner.flooded.store(0, Ordering::SeqCst);
    }

    /// How many bytes of floods were taken.
    pub fn flooded(&self) -> u64 {
        self.inner.flooded.load(Ordering::SeqCst)
    }

    pub fn connections(&self) -> usize {
        self.inner.connections.load(Ordering::SeqCst)
    }
}

impl Inner {
    async fn serve(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
        let Some(asked) = read(&mut stream).await else { return };
        let reaction = (self.react.lock().unwrap())(&asked);
        self.asked.lock().unwrap().push(asked);
        // Whatever fails from here on is the other side leaving.
        match reaction {
            Reaction::Says(bytes) => {
                stream.write_all(&bytes).await.ok();
                stream.shutdown().await.ok();
            }
            Reaction::Later(pause, bytes) => {
                tokio::time::sleep(pause).await;
                stream.write_all(&bytes).await.ok();
                stream.shutdown().await.ok();
            }
            Reaction::Drops => {}
            Reaction::Hangs => std::future::pending().await,
            Reaction::Drips(head) => {
                let mut sent = stream.write_all(&head).await;
                while sent.is_ok() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    sent = stream.write_all(b"x").await;
                }
            }
            Reaction::Floods(head) => {
                let mut sent = stream.write_all(&head).await;
                let piece = [b'x'; 4_096];
                while sent.is_ok() {
                    sent = stream.write_all(&piece).await;
                    self.flooded.fetch_add(4_096, Ordering::SeqCst);
                }
            }
        }
    }
}

async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<Asked> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|part| part == b"\r\n\r\n") {
            break end;
        }
        (stream.read_buf(&mut bytes).await.ok()? > 0).then_some(())?;
    };
    let head = String::from_utf8(bytes.get(..end)?.to_vec()).ok()?;
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length: usize = headers.get("content-length").map_or(Some(0), |text| text.parse().ok())?;
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        (stream.read_buf(&mut body).await.ok()? > 0).then_some(())?;
    }
    Some(Asked { method, path, headers, body: String::from_utf8(body).ok()? })
}

/// An answer with a body of a known length.
pub fn answer(status: &str, kind: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// The head of an answer whose body ends with the connection.
pub fn head(kind: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n").into_bytes()
}
