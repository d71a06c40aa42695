//! Errors as `application/problem+json` (RFC 9457), made in one place from the closed lists of `spec/`.
//!
//! A problem names the reason, the rule behind it, whose fault it is, whether asking again can help and what to do
//! next. Its status is the table's. Not here: which refusal applies. Rules: ADM-2, VER-1 (classes of a withheld
//! permit), CON-1.

use awakener_spec::{Class, Fault, Reason, Retry, Rule};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why a request has no answer, as it stands on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"type": "urn:awakener:problem:lost_lease", "title": "The lease is gone.", "status": 409,
    "detail": "the lease is gone: lotse", "reason": "lost_lease", "rule": "INB-7", "fault": "peer",
    "retry": "after_change", "next": "Claim again."}))]
pub struct Problem {
    /// `urn:awakener:problem:` and the reason.
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    pub kind: Box<str>,
    /// The reason in one sentence.
    #[schema(value_type = String)]
    pub title: Box<str>,
    /// The HTTP status.
    pub status: u16,
    /// What happened this time, for people.
    #[schema(value_type = String)]
    pub detail: Box<str>,
    /// The name of a [`Reason`], or of a [`Class`] when a permit is withheld.
    #[schema(value_type = String)]
    pub reason: Box<str>,
    /// The rule that refuses.
    #[schema(value_type = String)]
    pub rule: Rule,
    /// Whose fault it is.
    #[schema(value_type = String)]
    pub fault: Fault,
    /// Whether asking again can help.
    #[schema(value_type = String)]
    pub retry: Retry,
    /// What to do.
    #[schema(value_type = String)]
    pub next: Box<str>,
    /// How long to wait before asking again, milliseconds (`rate_limited`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// The media type of a problem.
pub const MEDIA_TYPE: &str = "application/problem+json";

impl Problem {
    /// The problem of a refusal.
    pub fn of(reason: Reason, detail: impl Into<Box<str>>) -> Self {
        Self {
            kind: format!("urn:awakener:problem:{}", reason.name()).into(),
            title: reason.text().into(),
            status: reason.status(),
            detail: detail.into(),
            reason: reason.name().into(),
            rule: reason.rule(),
            fault: reason.fault(),
            retry: reason.retry(),
            next: reason.next().into(),
            retry_after_ms: None,
        }
    }

    /// The problem of a permit that is withheld (DSP-7). All of them are answers to a question that was well put, so
    /// all have the status 409; whether another question helps is the same for all: after something has changed.
    pub fn withheld(class: Class, detail: impl Into<Box<str>>) -> Self {
        Self {
            kind: format!("urn:awakener:problem:{}", class.name()).into(),
            title: class.text().into(),
            status: StatusCode::CONFLICT.as_u16(),
            detail: detail.into(),
            reason: class.name().into(),
            rule: class.rule(),
            fault: Fault::Peer,
            retry: Retry::AfterChange,
            next: "Start nothing; ask again with the next hint or sweep.".into(),
            retry_after_ms: None,
        }
    }

    /// The same, to be tried again after a while.
    #[must_use]
    pub fn after(mut self, wait_ms: u64) -> Self {
        self.retry_after_ms = Some(wait_ms);
        self
    }

    /// The reason as a typed value; `None` when a class stands there.
    pub fn reason(&self) -> Option<Reason> {
        Reason::from_name(&self.reason)
    }

    /// The class of a withheld permit.
    pub fn class(&self) -> Option<Class> {
        Class::from_name(&self.reason)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (status, [(header::CONTENT_TYPE, MEDIA_TYPE)], body).into_response();
        if let Some(wait) = self.retry_after_ms {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(wait.div_ceil(1_000).max(1)));
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
