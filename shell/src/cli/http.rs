//! A thin client of the plane's HTTP API: one request, one answer or one failure.
//!
//! It knows no message and no act, only how an answer or a problem document becomes a result. Redirects are not
//! followed and no proxy is used: a token goes to the plane that was named and nowhere else. Not here: retries; who
//! retries must present the same id, and only the caller knows it. Rules: CON-1, ADM-2 (`outcome_unknown`).

use std::time::Duration;

use awakener_kernel::ids::Fence;
use awakener_spec::{Class, Reason, Rule};
use reqwest::Method;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::keys::Token;

/// Longer than the longest long poll.
const DEADLINE: Duration = Duration::from_secs(65);
/// The most bytes of an answer.
const LONGEST: usize = 64 << 20;

/// A client of one plane.
#[derive(Debug)]
pub struct Client {
    base: String,
    token: Option<Token>,
    dry_run: bool,
}

impl Client {
    /// A client of the plane at `base` that presents `token`.
    ///
    /// # Errors
    /// Usage, if the base is no http URL.
    pub fn new(base: String, token: Option<Token>, dry_run: bool) -> Result<Self, Failure> {
        let url = reqwest::Url::parse(&base).ok().filter(|url| url.scheme() == "http" && url.has_host());
        match url {
            Some(_) => Ok(Self { base, token, dry_run }),
            None => Err(Failure::usage("The plane's address is no http URL.").at(base)),
        }
    }

    /// Asks.
    ///
    /// # Errors
    /// What the plane refuses, or that it does not answer.
    pub fn get(&self, path: &str, query: &[(&str, String)]) -> Result<Value, Failure> {
        self.exchange(Method::GET, path, query, None, None)
    }

    /// Submits; in a dry run only shows.
    ///
    /// # Errors
    /// What the plane refuses, or that it does not answer.
    pub fn post(&self, path: &str, body: &Value, lease: Option<Fence>) -> Result<Value, Failure> {
        if self.dry_run {
            return Ok(json!({ "v": 1, "dry_run": true, "method": "POST", "path": path, "body": body }));
        }
        self.exchange(Method::POST, path, &[], Some(body), lease)
    }

    fn exchange(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, String)],
        body: Option<&Value>,
        lease: Option<Fence>,
    ) -> Result<Value, Failure> {
        let mut url = reqwest::Url::parse(&format!("{}{path}", self.base)).map_err(|error| {
            Failure::usage(format!("The plane's address is no URL: {error}.")).at(&self.base)
        })?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let writes = method == Method::POST;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::new(Exit::Failed, format!("The client cannot start: {error}.")))?;
        let answer = runtime.block_on(async {
            let client = reqwest::Client::builder()
                .no_proxy()
                .redirect(reqwest::redirect::Policy::none())
                .timeout(DEADLINE)
                .build()?;
            let mut request = client.request(method, url.clone());
            if let Some(token) = &self.token {
                request = request.bearer_auth(token.expose());
            }
            if let Some(Fence(fence)) = lease {
                request = request.header("Awakener-Lease", fence.to_string());
            }
            if let Some(body) = body {
                request = request.json(body);
            }
            let mut response = request.send().await?;
            let mut bytes = Vec::new();
            while let Some(chunk) = response.chunk().await? {
                bytes.extend_from_slice(&chunk);
                if bytes.len() > LONGEST {
                    break;
                }
            }
            Ok::<_, reqwest::Error>((response.status().as_u16(), bytes))
        });
        match answer {
            Ok((status, bytes)) => answered(status, &bytes).map_err(|failure| at(failure, url.as_str())),
            // Nothing went out, so nothing can have happened.
            Err(error) if error.is_connect() || error.is_builder() || !writes => {
                Err(Failure::refused(Reason::Unreachable).at(url))
            }
            Err(_) => Err(Failure::refused(Reason::OutcomeUnknown).at(url)),
        }
    }
}

fn at(failure: Failure, url: &str) -> Failure {
    if failure.place.is_some() { failure } else { failure.at(url) }
}

/// What an answer means.
fn answered(status: u16, bytes: &[u8]) -> Result<Value, Failure> {
    let value: Option<Value> = serde_json::from_slice(bytes).ok();
    match (status, value) {
        (200..=299, Some(value)) => Ok(value),
        (200..=299, None) => {
            Err(Failure::new(Exit::Malformed, format!("The answer (status {status}) is not JSON.")))
        }
        (_, Some(problem)) if problem.is_object() => Err(refused(status, &problem)),
        (_, _) => {
            Err(Failure::new(Exit::Unavailable, format!("The answer has status {status} and no reason."))
                .then("Check that a plane listens at this address."))
        }
    }
}

/// A problem document as a failure. A reason that this program does not know keeps its words and gets a code by its
/// status.
fn refused(status: u16, problem: &Value) -> Failure {
    let text = |name: &str| problem.get(name).and_then(Value::as_str);
    let reason = text("reason").and_then(Reason::from_name);
    let class = text("reason").and_then(Class::from_name);
    let mut failure = match (reason, class) {
        (Some(reason), _) => Failure::refused(reason),
        (None, Some(class)) => Failure::class(class),
        (None, None) => {
            let exit = if status >= 500 { Exit::Unavailable } else { Exit::Refused };
            let name = text("reason").or_else(|| text("title")).unwrap_or("no reason given");
            Failure::new(exit, format!("The plane refuses ({status}): {name}."))
        }
    };
    if let Some(rule) = text("rule").and_then(Rule::from_id) {
        failure.rule = Some(rule);
    }
    if let Some(detail) = text("detail").filter(|detail| *detail != failure.what) {
        failure = failure.saying(format!("({detail})"));
    }
    match text("next") {
        Some(next) => failure.then(next),
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adm_2_a_problem_becomes_the_refusal_that_it_names() {
        let body =
            json!({"reason": "lost_lease", "rule": "INB-7", "detail": "fence 3 is stale", "next": "claim"});
        let failure = answered(409, body.to_string().as_bytes()).unwrap_err();
        assert_eq!((failure.reason, failure.exit), (Some(Reason::LostLease), 77));
        assert!(failure.what.contains("fence 3 is stale"));
        assert_eq!(failure.next.as_deref(), Some("claim"));
    }

    #[test]
    fn ver_1_a_class_is_no_reason_and_says_its_rule() {
        let failure = answered(409, br#"{"reason":"permit_held"}"#).unwrap_err();
        assert_eq!((failure.reason, failure.rule), (None, Some(Class::PermitHeld.rule())));
    }

    #[test]
    fn con_1_what_is_no_answer_is_never_a_success() {
        assert_eq!(answered(200, b"<html>").unwrap_err().exit, 65);
        assert_eq!(answered(502, b"").unwrap_err().exit, 69);
        assert_eq!(answered(404, br#"{"reason":"new_word"}"#).unwrap_err().exit, 77);
        assert_eq!(answered(302, b"").unwrap_err().exit, 69);
        assert_eq!(answered(201, b"{}").unwrap(), json!({}));
    }
}
