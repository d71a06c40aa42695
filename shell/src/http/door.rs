//! The doors for bytes from outside: bodies, headers, query strings. Nothing is read leniently.
//!
//! Bodies pass the kernel's JSON door before serde sees a value, so duplicate keys, lone surrogates, deep nesting and
//! trailing bytes are refused alike everywhere (SIG-2). Rules: ADM-2, PRT-2.

use std::time::Duration;

use awakener_kernel::ids::{Fence, MAX_INTEGER};
use awakener_kernel::json::{self, FaultKind, Numbers};
use awakener_spec::Reason;
use axum::body::{Body, Bytes};
use axum::extract::Query;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Uri, header};
use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// How much of a body that is too large is read and thrown away, so that its sender can read the answer.
const DRAINED: usize = 32 << 20;
/// The longest query string.
const LONGEST_QUERY: usize = 4_096;

/// A fault of a request: the reason and what shows it.
pub(super) type Fault = (Reason, String);

/// Reads a body of at most `limit` bytes within the deadline.
pub(super) async fn body(body: Body, limit: usize, deadline: Duration) -> Result<Bytes, Fault> {
    match tokio::time::timeout(deadline, collect(body, limit)).await {
        Ok(read) => read,
        Err(_) => Err((Reason::Malformed, "the body did not arrive in time".to_owned())),
    }
}

async fn collect(mut body: Body, limit: usize) -> Result<Bytes, Fault> {
    let mut bytes = Vec::new();
    let mut seen = 0_usize;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| (Reason::Malformed, "the body broke off".to_owned()))?;
        if let Ok(data) = frame.into_data() {
            seen = seen.saturating_add(data.len());
            if seen > DRAINED {
                break;
            }
            if seen <= limit {
                bytes.extend_from_slice(&data);
            }
        }
    }
    if seen > limit {
        return Err((Reason::TooLarge, format!("the body has more than {limit} bytes")));
    }
    Ok(bytes.into())
}

/// A body is JSON, as it is; nothing is unpacked for a caller.
pub(super) fn is_json(headers: &HeaderMap) -> Result<(), Fault> {
    let malformed = |what: &str| Err((Reason::Malformed, what.to_owned()));
    if headers.contains_key(header::CONTENT_ENCODING) {
        return malformed("the body is encoded; send it as it is");
    }
    let kind = one(headers, &header::CONTENT_TYPE)?.unwrap_or_default().to_ascii_lowercase();
    let mut parts = kind.split(';').map(str::trim);
    let json = parts.next() == Some("application/json");
    let utf8 = parts.all(|part| matches!(part, "charset=utf-8" | "charset=\"utf-8\""));
    if json && utf8 { Ok(()) } else { malformed("the content type must be application/json") }
}

/// A document of ours in a body of at most `limit` bytes: an object with exactly the members of `T`.
///
/// # Errors
/// `too_large`, or `malformed` with what is wrong.
pub fn document<T: DeserializeOwned>(bytes: &[u8], limit: usize) -> Result<T, Fault> {
    let value = json::read(bytes, limit, Numbers::Integers).map_err(|fault| {
        let reason = if fault.kind == FaultKind::TooLarge { Reason::TooLarge } else { Reason::Malformed };
        (reason, fault.to_string())
    })?;
    // serde alone would take an array in the order of the members for an object.
    if !objects_only(&value) {
        return Err((Reason::Malformed, "the document is not an object".to_owned()));
    }
    serde_json::from_value(value).map_err(|error| (Reason::Malformed, bounded(&error.to_string())))
}

/// The documents here hold arrays of texts only; an array anywhere else is an object in disguise.
fn objects_only(value: &Value) -> bool {
    let Value::Object(members) = value else { return false };
    members.values().all(|member| match member {
        Value::Array(items) => items.iter().all(Value::is_string),
        Value::Object(_) => objects_only(member),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    })
}

/// A query string with exactly the members of `T`, each at most once.
pub(super) fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Fault> {
    if uri.query().is_some_and(|query| query.len() > LONGEST_QUERY) {
        return Err((Reason::Malformed, "the query string is too long".to_owned()));
    }
    Query::<T>::try_from_uri(uri)
        .map(|Query(query)| query)
        .map_err(|error| (Reason::Malformed, bounded(&error.to_string())))
}

/// The header `Awakener-Lease`: the fencing token of a claim.
pub(super) fn lease(parts: &Parts) -> Result<Option<Fence>, Fault> {
    let Some(text) = one(&parts.headers, &HeaderName::from_static("awakener-lease"))? else {
        return Ok(None);
    };
    let digits = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    match text.parse() {
        Ok(fence) if digits && fence <= MAX_INTEGER => Ok(Some(Fence(fence))),
        Ok(_) | Err(_) => Err((Reason::Malformed, "Awakener-Lease is not a fencing token".to_owned())),
    }
}

/// W3C `traceparent`, if there is a valid one; an invalid one counts as none, as that standard asks.
pub(super) fn traceparent(headers: &HeaderMap) -> Option<String> {
    let text = one(headers, &HeaderName::from_static("traceparent")).ok()??;
    let parts: Vec<&str> = text.split('-').collect();
    let hex = |part: &str, digits: usize| {
        part.len() == digits && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let some = |part: &str| part.bytes().any(|byte| byte != b'0');
    match parts.as_slice() {
        ["00", trace, parent, flags]
            if hex(trace, 32) && hex(parent, 16) && hex(flags, 2) && some(trace) && some(parent) =>
        {
            Some(text.to_owned())
        }
        _ => None,
    }
}

/// A header that stands at most once.
fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Fault> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => match value.to_str() {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err((Reason::Malformed, format!("{name} is not text"))),
        },
        (Some(_), Some(_)) => Err((Reason::Malformed, format!("{name} stands there twice"))),
    }
}

/// What a caller sent may stand in an answer to it, but not at length.
fn bounded(said: &str) -> String {
    said.chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use axum::body::HttpBody;

    use super::*;

    /// Says that something comes, and sends nothing.
    struct Never;

    impl HttpBody for Never {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
            Poll::Pending
        }
    }

    #[tokio::test]
    async fn prt_2_a_body_that_does_not_come_is_not_waited_for() {
        let short = Duration::from_millis(20);
        let (reason, detail) = body(Body::new(Never), 10, short).await.unwrap_err();
        assert_eq!(reason, Reason::Malformed, "{detail}");
        let whole = body(Body::from("0123456789"), 10, short);
        assert_eq!(whole.await.unwrap(), "0123456789");
        let (reason, _) = body(Body::from("0123456789x"), 10, short).await.unwrap_err();
        assert_eq!(reason, Reason::TooLarge);
    }
}
