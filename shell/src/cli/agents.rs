//! What all agents do, and why one of them waits: the plane's rows; without a plane, what its store, the state directory
//! and the others of this machine say.
//!
//! Projections only: every word of a row comes from [`crate::agents`]. What could not be read is named, and then the
//! exit code is 69 and never 0. Rules: WHY-1, AUD-8, CON-1, INB-10, SPW-6.

use awakener_kernel::ids::Target;
use awakener_spec::{Reason, rule};
use serde_json::{Value, json};

use super::context::{Bearer, Context};
use super::out::Answer;
use super::plane::{Plane, value};
use super::{offline, show};
use crate::agents::facts::{Facts, Source};
use crate::agents::{Files, Neighbours, WakeAt, row};
use crate::client::ClientError;
use crate::clock;
use crate::exit::{Exit, Failure};
use crate::http::wire::V1;
use crate::http::wire::agents::Agents;
use crate::http::wire::answers::Stuck;
use crate::http::wire::status::{Status, Unread};
use crate::keys::Token;

/// `status`, of the plane or, if none runs, of its store (INB-10).
pub fn status(context: &Context) -> Result<Answer, Failure> {
    let plane = context.plane(Bearer::Observer)?;
    let both = plane.ask(async |client| Ok((client.status().await?, client.agents(None).await)));
    let (status, agents) = match both {
        Ok((status, agents)) => (Ok(status), Some(agents)),
        Err(failure) => (Err(failure), None),
    };
    let mut rows = agents.map(|agents| match agents {
        Ok(agents) => Some(agents),
        // A principal sees its own targets and no rows.
        Err(error) if error.reason() == Some(Reason::Unauthenticated) => None,
        Err(error) => Some(unasked(&error)),
    });
    let status = offline::or_store(context, status, |store| {
        let files = Files::of(&context.state);
        let mut heard = ask_others(context, &plane, None)?;
        rows = Some(Some(store.agents(&files, &mut heard, None)?));
        store.status()
    })?;
    Ok(both_shown(&status, rows.flatten().as_ref()))
}

/// The rows of a plane that could not give any.
fn unasked(error: &ClientError) -> Agents {
    let reason = error.reason().unwrap_or(Reason::Unreachable);
    let missed = Unread { part: "agents".to_owned(), reason, detail: error.to_string() };
    Agents {
        v: V1,
        mode: String::new(),
        plane: None,
        running: true,
        now: clock::system(),
        tier0_open: None,
        stopped: None,
        roster_until: None,
        agents: None,
        could_not_read: vec![missed],
    }
}

fn both_shown(status: &Status, agents: Option<&Agents>) -> Answer {
    let mut shown = status.clone();
    if let Some(agents) = agents {
        shown.could_not_read.extend(agents.could_not_read.iter().cloned());
    }
    let mut json = value(&shown);
    if let (Some(rows), Value::Object(members)) =
        (agents.and_then(|agents| agents.agents.as_ref()), &mut json)
    {
        members.insert("agents".to_owned(), value(rows));
    }
    let rows = agents.and_then(|agents| agents.agents.as_deref());
    let text = show::status(&shown, rows);
    Answer { exit: exit(shown.could_not_read.is_empty()), ..Answer::new(json, text) }
}

/// `why`: one row in one screen.
pub fn why(context: &Context, target: &Target) -> Result<Answer, Failure> {
    let plane = context.plane(Bearer::Observer)?;
    let asked = plane.ask(async |client| client.agents(Some(target)).await);
    let running = asked.is_ok();
    let read = offline::or_store(context, asked, |store| {
        let mut heard = ask_others(context, &plane, Some(target))?;
        store.agents(&Files::of(&context.state), &mut heard, Some(target))
    });
    let agents = match read {
        Ok(agents) => agents,
        // Something that cannot be read now: then what is left of the machine is asked.
        Err(failure) if failure.exit == Exit::Unavailable.code() && !context.names_a_plane() => {
            without_a_plane(context, &plane, target, &failure)?
        }
        Err(failure) => return Err(failure),
    };
    let Some(agent) = agents.agents.as_ref().and_then(|rows| rows.first()) else {
        let missed = agents.could_not_read.first().map_or_else(String::new, |unread| unread.detail.clone());
        return Err(Failure::refused(Reason::StoreUnavailable).saying(format!("({missed})")));
    };
    let about = agent.message.or_else(|| agent.oldest.as_ref().map(|alert| alert.message));
    let stuck: Option<Stuck> = about.filter(|_| running).and_then(|message| {
        plane.ask(async |client| client.trace(message).await).ok().and_then(|trace| trace.stuck)
    });
    let json = json!({
        "v": 1, "mode": agents.mode, "plane": agents.plane, "running": agents.running, "now": agents.now.utc(),
        "tier0_open": agents.tier0_open, "roster_until": agents.roster_until, "agent": agent, "stuck": stuck,
    });
    let text = show::why(&agents, agent, stuck.as_ref());
    Ok(Answer { exit: exit(agents.could_not_read.is_empty()), ..Answer::new(json, text) })
}

/// Files, wake daemon and station are left.
fn without_a_plane(
    context: &Context,
    plane: &Plane,
    target: &Target,
    failure: &Failure,
) -> Result<Agents, Failure> {
    let now = clock::system();
    let mut heard = ask_others(context, plane, Some(target))?;
    let agent = row(&Facts {
        target: target.clone(),
        now,
        plane: Source::Unread(failure.what.clone()),
        files: Files::of(&context.state).about(target.as_str(), now),
        wake: heard.wake(target),
        station: heard.station(target),
    });
    Ok(Agents {
        v: V1,
        mode: context.config()?.mode.as_str().to_owned(),
        plane: None,
        running: false,
        now,
        tier0_open: None,
        stopped: None,
        roster_until: None,
        could_not_read: agent.could_not_read.clone(),
        agents: Some(vec![agent]),
    })
}

/// Asks what the plane would have asked.
fn ask_others(
    context: &Context,
    plane: &Plane,
    only: Option<&Target>,
) -> Result<crate::agents::Heard, Failure> {
    let config = context.config()?;
    let observer = Token::load(&context.token_file("observer"))?;
    let wake = if config.wake.enabled { WakeAt::Down } else { WakeAt::At(config.wake.listen) };
    let neighbours = Neighbours::of(config, wake, observer.hash());
    Ok(plane.wait(neighbours.ask(only)))
}

/// `status --page`: where a browser of this machine sees the same.
pub fn page(context: &Context) -> Result<Answer, Failure> {
    let token = Token::load(&context.token_file("observer"))?;
    let url = format!("{}/status#token={}", context.url()?, token.expose());
    let json = json!({ "v": 1, "url": url, "secret": true });
    let text = format!(
        "{url}\n\nThe URL holds a secret: the observer's token. Whoever has it sees status, receipts and audit chain\n\
         of this plane. The part behind # stays in the browser; keep the URL out of chats, logs and shared screens.\n"
    );
    Ok(Answer::new(json, text))
}

fn exit(whole: bool) -> u8 {
    rule!(Con1);
    if whole { 0 } else { Exit::Unavailable.code() }
}
