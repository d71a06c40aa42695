//! The page that shows all agents: one document without data, for a browser of this machine.
//!
//! It fetches `/v1/agents` with the observer's token, which it takes from the URL's fragment; a fragment never goes to
//! a server. The policy lets run only the script and the style that stand in it, known by their hashes, and lets it
//! talk to this plane alone. Rules: PRT-3, SPW-6.

use std::sync::LazyLock;

use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// The document, as it goes out.
pub(in crate::http) const PAGE: &str = include_str!("page.html");

static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = |tag: &str| STANDARD.encode(Sha256::digest(inner(tag).as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        hash("script"),
        hash("style"),
    )
});

/// What stands in the one element of this name.
fn inner(tag: &str) -> &'static str {
    let after = PAGE.split_once(&format!("<{tag}>")).map_or("", |(_, after)| after);
    after.split_once(&format!("</{tag}>")).map_or("", |(inner, _)| inner)
}

/// The page of all agents.
///
/// It holds no data and takes no credential; what it shows it fetches from `/v1/agents`.
#[utoipa::path(
    get, path = "/status", operation_id = "page", tag = "health",
    responses((status = 200, description = "HTML.", content_type = "text/html", body = String))
)]
pub(in crate::http) async fn page() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY.as_str()),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    (headers, PAGE).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prt_3_the_page_is_whole_and_sets_text_only() {
        for tag in ["script", "style"] {
            assert_eq!(PAGE.matches(&format!("<{tag}")).count(), 1, "{tag}");
            assert!(!inner(tag).is_empty(), "{tag}");
        }
        let script = inner("script");
        for never in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
            "localStorage",
            "setAttribute(\"on",
            "DOMParser",
            "createContextualFragment",
            "srcdoc",
        ] {
            assert!(!script.contains(never), "{never}");
        }
        // Nothing comes from elsewhere, and no element carries a script or a style of its own.
        for never in
            ["http:", "https:", "url(", "@import", " src=", " href=", " style=", "javascript:", "<a ", "<img"]
        {
            assert!(!PAGE.contains(never), "{never}");
        }
        let handler = |rest: &str| rest.trim_start_matches(|c: char| c.is_ascii_lowercase()).starts_with('=');
        assert!(!PAGE.split(" on").skip(1).any(handler), "an event handler as an attribute");
        assert!("<b onclick=x>".split(" on").skip(1).any(handler), "control");
    }
}
