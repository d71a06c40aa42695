//! Signed operator commands (OPR-1). The signature is the authority; no credential is asked for.

use awakener_kernel::ids::Principal;
use awakener_kernel::machine::Outcome;
use awakener_kernel::operator::{Act, Command, Presented};
use awakener_kernel::registry::{Event, Registry};
use awakener_kernel::wire::{Malformed, OperatorCommand, Signed};
use awakener_spec::Reason;
use axum::extract::{Request, State};
use serde_json::Value;

use crate::http::call::{Answer, mono, ok, unexpected};
use crate::http::door;
use crate::http::problem::Problem;
use crate::http::rate::Kind;
use crate::http::wire::V1;
use crate::http::wire::answers::Enacted;
use crate::http::{App, DEADLINE};
use crate::plane::{Op, Reply};

/// The most bytes of a command: a roster is the largest subject.
const LARGEST: usize = 1 << 20;
/// The most bytes of one without a valid signature.
const UNSIGNED: usize = 16_384;

/// Presents a signed operator command.
#[utoipa::path(
    post, path = "/v1/operator", operation_id = "operator", tag = "operator",
    request_body(content = inline(Object), description = "A signed command.",
        example = json!({"command": {"v": 1, "id": "01890a5d-ac96-774b-bcce-b302099a8057", "plane": "local",
            "act": "arm", "subject": {"target": "lotse", "until": "2026-01-02T00:00:00Z"}, "expected_state": null,
            "reason": "trial", "not_after": "2026-01-01T00:10:00Z",
            "key_id": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
            "signature": "ed25519:…"})),
    responses((status = 200, description = "The act took effect.", body = Enacted)),
)]
pub(in crate::http) async fn operator(State(app): State<App>, request: Request) -> Answer {
    let (parts, body) = request.into_parts();
    let body = door::body(body, LARGEST, DEADLINE).await.map_err(|fault| app.folded(fault))?;
    let registry = app.registry()?;
    let read = door::is_json(&parts.headers)
        .map_err(|(_, detail)| detail)
        .and_then(|()| Signed::parse(&body).map_err(|malformed: Malformed| malformed.to_string()));
    let presented = match read {
        Ok(signed) => present(&signed, &registry),
        // Nobody is known who could be held to it: counted, not recorded, as everything before authentication.
        Err(detail) => return Err(app.folded((Reason::OperatorMalformed, detail))),
    };
    if !presented.signature_valid {
        unsigned(&app, body.len())?;
    }
    match app.ask(Op::Command(Box::new(presented))).await {
        Ok(Reply::Registry(Outcome::Advanced(Event::Enacted { id, act }))) => ok(&Enacted { v: V1, id, act }),
        Ok(Reply::Registry(Outcome::Refused(reason))) => {
            Err(Problem::of(reason, format!("the command is refused: {}", reason.name())))
        }
        Ok(other) => Err(unexpected(&other)),
        Err(refused) => Err(refused.into()),
    }
}

/// Anybody can send what has no valid signature, and each leaves an entry: so there are only so many a minute, and a
/// large one is refused before.
fn unsigned(app: &App, bytes: usize) -> Result<(), Problem> {
    if bytes > UNSIGNED {
        return Err(
            app.folded((Reason::OperatorBadSignature, "a large command without a signature".to_owned()))
        );
    }
    let Ok(anybody) = Principal::parse("anybody") else { return Ok(()) };
    app.rates.take(&anybody, Kind::Unsigned, mono()).map_err(|wait| {
        app.folded((Reason::RateLimited, "too many unsigned commands".to_owned())).after(wait)
    })
}

/// What the registry judges. The text is kept only if its signature holds: whoever has no key stores nothing here.
fn present(signed: &Signed<OperatorCommand>, registry: &Registry) -> Presented {
    let document = signed.document();
    let signature_valid =
        registry.operator_key(&document.key_id).is_some_and(|key| signed.verify(key).is_ok());
    let raw =
        if signature_valid { String::from_utf8(signed.encode()).unwrap_or_default() } else { String::new() };
    Presented { command: command(document).ok(), signature_valid, raw }
}

fn command(document: &OperatorCommand) -> Result<Command, Reason> {
    Ok(Command {
        id: document.id,
        plane: document.plane.clone(),
        key: document.key_id,
        not_after: document.not_after,
        expected_state: Command::expected(&document.expected_state)?,
        reason: document.reason.clone(),
        act: Act::parse(&document.act, &Value::Object(document.subject.clone()))?,
    })
}
