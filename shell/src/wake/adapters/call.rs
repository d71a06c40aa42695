//! One HTTP request on one connection to addresses that were checked before, and how far it came.
//!
//! An adapter must know whether bytes have left (DSP-5), may not send after its permit (DSP-7), and may connect only to
//! the very addresses that were judged. So a call takes addresses and not a name, follows nothing, knows no proxy, keeps
//! no connection, and reads a bounded answer in bounded time. Not here: which addresses may be met ([`super::address`])
//! and what an answer means. Rules: DSP-5, DSP-7.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use reqwest::Url;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

/// The most bytes of an answer's head.
const HEAD: usize = 16 * 1024;
/// The most headers of an answer.
const HEADERS: usize = 64;

/// A request, and what bounds it.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) method: Method,
    pub(super) url: &'a Url,
    /// Where to connect, in this order; checked by the caller.
    pub(super) addresses: &'a [SocketAddr],
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) body: Vec<u8>,
    /// Who is trusted, for https.
    pub(super) trust: Option<Arc<ClientConfig>>,
    /// For all connections together, TLS included.
    pub(super) connect: Duration,
    /// From here on no byte of the request may leave.
    pub(super) until: Instant,
    /// For the answer, once the request was let go.
    pub(super) answer: Duration,
    /// The most bytes of the answer's body; with 0 it is not read at all.
    pub(super) most: usize,
}

/// How far a call came.
#[derive(Debug)]
pub(super) enum Came {
    /// Nothing of the request has left, for certain.
    NotSent(NotSent),
    /// Something may have left, and no answer came that could be read.
    Unknown(String),
    /// An answer.
    Answer(Answer),
}

/// Why nothing has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NotSent {
    /// The time in which it might leave was over.
    TooLate,
    /// Nobody listens: each address refused.
    Refused(String),
    /// Anything else before the first byte.
    Failed(String),
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// `None`: longer than allowed, cut, or too slow.
    pub(super) body: Option<Vec<u8>>,
}

/// Makes a call.
pub(super) async fn call(call: Call<'_>) -> Came {
    let left = call.until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Came::NotSent(NotSent::TooLate);
    }
    let stream = match timeout(left.min(call.connect), open(&call)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(why)) => return Came::NotSent(why),
        Err(_) if call.connect >= left => return Came::NotSent(NotSent::TooLate),
        Err(_) => return Came::NotSent(NotSent::Failed("no connection in time".to_owned())),
    };
    let request = match request(&call) {
        Ok(request) => request,
        Err(why) => return Came::NotSent(NotSent::Failed(why)),
    };
    // From here on the bytes may be gone, whatever is heard.
    let end = Instant::now() + call.answer;
    match timeout(call.answer, exchange(stream, request, call.until)).await {
        Ok(Exchanged::TooLate) => Came::NotSent(NotSent::TooLate),
        Ok(Exchanged::Failed(why)) => Came::Unknown(why),
        Err(_) => Came::Unknown("no answer in time".to_owned()),
        Ok(Exchanged::Head(head, _driver)) => {
            let (parts, body) = head.into_parts();
            let left = end.saturating_duration_since(Instant::now());
            let body = timeout(left, read(body, call.most)).await.ok().flatten();
            Came::Answer(Answer { status: parts.status, headers: parts.headers, body })
        }
    }
}

/// A connection of either kind.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

async fn open(call: &Call<'_>) -> Result<Box<dyn Stream>, NotSent> {
    let mut refused = true;
    let mut why = "no address".to_owned();
    for address in call.addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => {
                // Small requests leave at once.
                stream.set_nodelay(true).ok();
                return match call.url.scheme() {
                    "https" => secured(call, stream).await,
                    _plain => Ok(Box::new(stream)),
                };
            }
            Err(error) => {
                refused &= error.kind() == std::io::ErrorKind::ConnectionRefused;
                why = format!("{address}: {error}");
            }
        }
    }
    let refused = refused && !call.addresses.is_empty();
    Err(if refused { NotSent::Refused(why) } else { NotSent::Failed(why) })
}

async fn secured(call: &Call<'_>, stream: TcpStream) -> Result<Box<dyn Stream>, NotSent> {
    let failed = |why: String| NotSent::Failed(why);
    let trust = call.trust.clone().ok_or_else(|| failed("nobody is trusted for https".to_owned()))?;
    let host = call.url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let name = ServerName::try_from(host).map_err(|error| failed(error.to_string()))?;
    let secured = TlsConnector::from(trust).connect(name, stream).await;
    secured.map(|stream| Box::new(stream) as _).map_err(|error| failed(error.to_string()))
}

fn request(call: &Call<'_>) -> Result<Request<Full<Bytes>>, String> {
    let path = match call.url.query() {
        Some(query) => format!("{}?{query}", call.url.path()),
        None => call.url.path().to_owned(),
    };
    let host = match (call.url.host_str().unwrap_or_default(), call.url.port()) {
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    };
    let mut request = Request::builder()
        .method(call.method.clone())
        .uri(path)
        .header(header::HOST, host)
        .header(header::USER_AGENT, concat!("awakener/", env!("CARGO_PKG_VERSION")))
        .header(header::CONNECTION, "close");
    for (name, value) in &call.headers {
        request = request.header(name, value);
    }
    request.body(Full::new(Bytes::from(call.body.clone()))).map_err(|error| error.to_string())
}

/// Ends the task that moves a connection's bytes.
struct Driver(tokio::task::JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

enum Exchanged {
    TooLate,
    Failed(String),
    Head(axum::http::Response<Incoming>, Driver),
}

async fn exchange(stream: Box<dyn Stream>, request: Request<Full<Bytes>>, until: Instant) -> Exchanged {
    let made = http1::Builder::new().max_buf_size(HEAD).max_headers(HEADERS).handshake(TokioIo::new(stream));
    let (mut sender, connection) = match made.await {
        Ok(made) => made,
        Err(error) => return Exchanged::Failed(error.to_string()),
    };
    if Instant::now() >= until {
        return Exchanged::TooLate;
    }
    let driver = Driver(tokio::spawn(async move {
        // What goes wrong here is heard where the answer is waited for.
        connection.await.ok();
    }));
    match sender.send_request(request).await {
        Ok(head) => Exchanged::Head(head, driver),
        Err(error) => Exchanged::Failed(error.to_string()),
    }
}

async fn read(mut body: Incoming, most: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    if most == 0 {
        return Some(bytes);
    }
    while let Some(frame) = body.frame().await {
        if let Some(data) = frame.ok()?.data_ref() {
            if bytes.len().saturating_add(data.len()) > most {
                return None;
            }
            bytes.extend_from_slice(data);
        }
    }
    Some(bytes)
}
