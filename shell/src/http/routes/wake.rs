//! What wake daemons ask: permits, reports, sweeps, router keys (DSP-7, DSP-11, HAF-3).

use awakener_kernel::ids::{DaemonName, Token};
use awakener_kernel::mailbox::input::{Event, Input};
use awakener_kernel::values::Question;
use awakener_spec::Reason;
use axum::extract::{Request, State};

use crate::http::App;
use crate::http::auth::Caller;
use crate::http::call::{Answer, Call, ok, unexpected};
use crate::http::problem::Problem;
use crate::http::wire::V1;
use crate::http::wire::answers::{Noted, Permitted, RouterKey, RouterKeys, Swept};
use crate::http::wire::requests::{Permit, Report, Sweep};
use crate::plane::{Op, Reply};

/// The most targets of one sweep.
const MOST: usize = 256;

fn daemon(call: &Call) -> Result<DaemonName, Problem> {
    match &call.caller {
        Caller::Daemon(name) => Ok(name.clone()),
        Caller::Principal(_) | Caller::Observer => Err(call
            .app
            .folded((Reason::Unauthenticated, "this takes the credential of a wake daemon".to_owned()))),
    }
}

/// Asks for the right to start one flight.
///
/// A withheld permit is a problem whose reason is the class: `unminted`, `authority_withdrawn`, `not_armed`,
/// `not_outstanding`, `permit_held`.
#[utoipa::path(
    post, path = "/v1/permits", operation_id = "permit", tag = "wake", request_body = Permit,
    responses((status = 200, description = "Granted.", body = Permitted)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn permits(State(app): State<App>, request: Request) -> Answer {
    let call = app.open(request).await?;
    let daemon = daemon(&call)?;
    let Permit { v: V1, target, wake, message, token } = call.document().await?;
    let target = call.known(target).await?;
    let question = Question { wake, message, token };
    let done = call.mailbox(&target, Input::Ask { daemon, question }, None).await?;
    match done.event {
        Some(Event::Permitted(permit)) => {
            ok(&Permitted { v: V1, fence: permit.fence, life_ms: permit.life.0 })
        }
        other => {
            tracing::error!("a question for a permit was answered with {other:?}");
            Err(Problem::of(Reason::FactsMissing, "the question was not answered"))
        }
    }
}

/// Tells what became of a flight.
#[utoipa::path(
    post, path = "/v1/reports", operation_id = "report", tag = "wake", request_body = Report,
    responses((status = 200, description = "Recorded, now or before.", body = Noted)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn reports(State(app): State<App>, request: Request) -> Answer {
    let call = app.open(request).await?;
    let daemon = daemon(&call)?;
    let Report { v: V1, target, fence, wake, report } = call.document().await?;
    let target = call.known(target).await?;
    let done =
        call.mailbox(&target, Input::Report { daemon, fence, wake, report: report.into() }, None).await?;
    ok(&Noted { v: V1, repeat: done.repeat() })
}

/// Asks what is owed to the targets that a daemon serves.
///
/// Targets that are not registered are passed over: a manifest may know more than the plane.
#[utoipa::path(
    post, path = "/v1/sweep", operation_id = "sweep", tag = "wake", request_body = Sweep,
    responses((status = 200, description = "Fresh hints, and who is armed.", body = Swept)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn sweep(State(app): State<App>, request: Request) -> Answer {
    let call = app.open(request).await?;
    daemon(&call)?;
    let Sweep { v: V1, targets, seen } = call.document().await?;
    if targets.len() > MOST {
        return Err(call.refuse((Reason::Malformed, format!("more than {MOST} targets")), "", None).await);
    }
    if seen.values().any(|token| *token > Token::MAX) {
        return Err(call.refuse((Reason::Malformed, "no such token".to_owned()), "", None).await);
    }
    let (mut hints, mut armed) = (Vec::new(), Vec::new());
    for target in targets {
        if !call.registry.target_known(&target) {
            continue;
        }
        if call.registry.armed(&target, call.now()) {
            armed.push(target.clone());
        }
        let seen = seen.get(&target).copied();
        match app.ask(Op::Sweep(target, seen)).await? {
            Reply::Swept(Some(bytes)) => match serde_json::from_slice(&bytes) {
                Ok(hint) => hints.push(hint),
                Err(error) => tracing::error!("a hint of ours cannot be read: {error}"),
            },
            Reply::Swept(None) => {}
            other => return Err(unexpected(&other)),
        }
    }
    ok(&Swept { v: V1, hints, armed })
}

/// The router keys that hold now or will.
#[utoipa::path(
    get, path = "/v1/router-keys", operation_id = "router_keys", tag = "wake",
    responses((status = 200, description = "The ring.", body = RouterKeys)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn router_keys(State(app): State<App>, request: Request) -> Answer {
    let call = app.open(request).await?;
    let now = call.now();
    let (ring, keys) = call.registry.router_ring(now);
    let keys = keys
        .map(|(key_id, key)| RouterKey {
            key_id: *key_id,
            public: key.key,
            valid_from: key.not_before,
            valid_until: key.not_after,
        })
        .collect();
    ok(&RouterKeys { v: V1, ring, keys, now: now.wall })
}
