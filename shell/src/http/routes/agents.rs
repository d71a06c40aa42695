//! The status of all agents, for observers (AUD-8, WHY-1); loopback only like everything here (PRT-3).

use std::collections::BTreeMap;

use awakener_kernel::ids::Target;
use awakener_kernel::machine::Machine as _;
use axum::extract::{Request, State};
use serde::Deserialize;
use utoipa::IntoParams;

use super::audit::observer;
use crate::agents::{Files, Ledger, all};
use crate::http::App;
use crate::http::call::{Answer, ok, unexpected};
use crate::http::wire::V1;
use crate::http::wire::agents::Agents;
use crate::http::wire::status::Unread;
use crate::plane::{Op, Overview, Reply};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::http) struct Which {
    /// Only this target; all if absent.
    #[param(value_type = Option<String>)]
    target: Option<String>,
}

/// All agents, one row each.
///
/// What each does, what it waits for and since when, the counters that enforcement uses, and the command that helps.
/// The plane asks its wake daemon and the stations of its configuration. What could not be read is absent and named,
/// and such a row is never `idle`.
#[utoipa::path(
    get, path = "/v1/agents", operation_id = "agents", tag = "queries", params(Which),
    responses((status = 200, description = "The rows.", body = Agents)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn agents(State(app): State<App>, request: Request) -> Answer {
    let call = app.open(request).await?;
    observer(&call)?;
    let which: Which = call.query().await?;
    let only = match which.target {
        None => None,
        Some(target) => {
            let target: Target = call.segment(&target).await?;
            Some(call.known(target).await?)
        }
    };
    let image = call.registry.image();
    let mut agents = Agents {
        v: V1,
        mode: app.settings.mode.clone(),
        plane: image.plane.as_ref().map(ToString::to_string),
        running: true,
        now: call.now().wall,
        tier0_open: None,
        stopped: None,
        roster_until: None,
        agents: None,
        could_not_read: Vec::new(),
    };
    let (overview, mut heard) = tokio::join!(app.ask(Op::Overview), app.neighbours.ask(only.as_ref()));
    let state = app.plane.path().parent().map(std::path::Path::to_owned).unwrap_or_default();
    let files = tokio::task::spawn_blocking(move || Files::of(&state)).await;
    let overview = match (overview, files) {
        (Ok(Reply::Overview(overview)), Ok(files)) => Ok((overview, files)),
        (Ok(Reply::Overview(_)), Err(_)) => Err("the state directory could not be listed".to_owned()),
        (Ok(other), _) => return Err(unexpected(&other)),
        (Err(refused), _) => Err(refused.detail),
    };
    match overview {
        Ok((overview, files)) => {
            let Overview { now, registry, mailboxes, limits, walking, .. } = *overview;
            let image = registry.image();
            agents.now = now.wall;
            agents.tier0_open = Some(registry.tier0_open());
            agents.stopped = Some(image.stopped);
            agents.roster_until = image.roster.as_ref().map(|installed| installed.roster.not_after.utc());
            let ledger = Ledger::running(now.wall, &registry, walking, &limits);
            let targets =
                image.targets.iter().filter(|target| only.as_ref().is_none_or(|only| only == *target));
            agents.agents = Some(all(&ledger, targets, &mailboxes, &files, &mut heard));
        }
        Err(why) => agents.could_not_read.push(unread(&why)),
    }
    let missed: BTreeMap<String, Unread> = agents
        .agents
        .iter()
        .flatten()
        .flat_map(|agent| &agent.could_not_read)
        .map(|unread| (unread.part.clone(), unread.clone()))
        .collect();
    agents.could_not_read.extend(missed.into_values());
    ok(&agents)
}

fn unread(why: &str) -> Unread {
    tracing::error!("the status of the agents cannot be read: {why}");
    Unread {
        part: "agents".to_owned(),
        reason: awakener_spec::Reason::StoreUnavailable,
        detail: why.to_owned(),
    }
}
