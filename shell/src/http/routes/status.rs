//! The status of the plane (AUD-8), loopback only like everything here (PRT-3).

use awakener_kernel::ids::Target;
use awakener_kernel::machine::Machine as _;
use axum::extract::{Request, State};

use crate::http::App;
use crate::http::auth::Caller;
use crate::http::call::{Answer, ok, unexpected};
use crate::http::wire::V1;
use crate::http::wire::answers::ChainHead;
use crate::http::wire::status::{Status, Unread, target_status};
use crate::plane::{Op, Overview, Reply};

/// The status of the plane.
///
/// A principal sees the targets that it may read or acts for. What could not be read is absent and named.
#[utoipa::path(
    get, path = "/v1/status", operation_id = "status", tag = "queries",
    responses((status = 200, description = "The status.", body = Status)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn status(State(app): State<App>, request: Request) -> Answer {
    let call = app.open(request).await?;
    let image = call.registry.image();
    let mut status = Status {
        v: V1,
        mode: app.settings.mode.clone(),
        plane: image.plane.as_ref().map(ToString::to_string),
        now: call.now().wall,
        tier0_open: None,
        stopped: None,
        roster_until: None,
        head: None,
        targets: None,
        refused_unauthenticated: app.folded.total(),
        broker: None,
        could_not_read: Vec::new(),
    };
    if !matches!(call.caller, Caller::Principal(_)) {
        status.broker = app.plane.broker().map(Into::into);
    }
    match app.ask(Op::Overview).await {
        Ok(Reply::Overview(overview)) => fill(&mut status, &overview, &call.caller),
        Ok(other) => return Err(unexpected(&other)),
        Err(refused) => {
            tracing::error!(reason = refused.reason.name(), "{}", refused.detail);
            for part in ["head", "targets", "tier0_open", "stopped", "roster_until"] {
                let (reason, detail) = (refused.reason, refused.detail.clone());
                status.could_not_read.push(Unread { part: part.to_owned(), reason, detail });
            }
        }
    }
    ok(&status)
}

fn fill(status: &mut Status, overview: &Overview, caller: &Caller) {
    let Overview { now, head, registry, mailboxes, .. } = overview;
    let image = registry.image();
    status.now = now.wall;
    status.tier0_open = Some(registry.tier0_open());
    status.stopped = Some(image.stopped);
    status.roster_until = image.roster.as_ref().map(|installed| installed.roster.not_after.utc());
    status.head = Some(ChainHead { size: head.size, hash: head.hash });
    let acts = |target: &Target| match caller {
        Caller::Principal(held) => held.acts_for.as_ref() == Some(target),
        Caller::Daemon(_) | Caller::Observer => true,
    };
    let seen = image.targets.iter().filter(|target| caller.may_read(target) || acts(target));
    let mut targets = Vec::new();
    for target in seen {
        match mailboxes.get(target.as_str()) {
            Some(mailbox) => targets.push(target_status(target, mailbox, image, now.wall)),
            None => status.could_not_read.push(Unread {
                part: format!("targets.{target}"),
                reason: awakener_spec::Reason::StoreUnavailable,
                detail: "its mailbox is not loaded".to_owned(),
            }),
        }
    }
    status.targets = Some(targets);
}
