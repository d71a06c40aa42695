//! Signed acknowledgements (ACK-3): the only thing that closes a witness.

use awakener_kernel::wire::{AckStatement, Signed};
use awakener_spec::Reason;
use axum::extract::{Request, State};

use crate::http::App;
use crate::http::auth::Caller;
use crate::http::call::{Answer, done, ok};
use crate::http::door;
use crate::http::wire::V1;
use crate::http::wire::answers::Noted;
use crate::plane::Op;

/// Presents a signed ACK.
///
/// The signature is what counts. The credential must be one that may see the target, so that nobody else learns from
/// refusals what its inbox holds.
#[utoipa::path(
    post, path = "/v1/acks", operation_id = "ack", tag = "work",
    params(("Awakener-Lease" = Option<u64>, Header, description = "The lease of the signer; needed for by = station.")),
    request_body(content = inline(Object), description = "A signed statement.",
        example = json!({"statement": {"v": 1, "message_id": "01890a5d-ac96-774b-bcce-b302099a8057",
            "content_sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "target": "lotse", "outcome": "handled", "by": "human",
            "key_id": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "time": "2026-01-01T00:00:00Z"}, "signature": "ed25519:…"})),
    responses((status = 200, description = "The witness is closed, now or before.", body = Noted)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn acks(State(app): State<App>, request: Request) -> Answer {
    let call = app.open(request).await?;
    let read = door::is_json(&call.parts.headers)
        .map_err(|(_, detail)| detail)
        .and_then(|()| Signed::<AckStatement>::parse(&call.body).map_err(|malformed| malformed.to_string()))
        .map_err(|detail| (Reason::AckMalformed, detail))
        .and_then(|signed| Ok((signed, door::lease(&call.parts)?)));
    let (signed, fence) = call.sound(read).await?;
    let target = signed.document().target.clone();
    let message = signed.document().message_id.to_string();
    let acts = matches!(&call.caller, Caller::Principal(held) if held.acts_for.as_ref() == Some(&target));
    if !acts && !call.caller.may_read(&target) && !call.caller.observes() {
        let fault = (Reason::NotReadable, format!("the credential may not read {target}"));
        return Err(call.refuse(fault, target.as_str(), Some(message)).await);
    }
    call.known(target).await?;
    let done = done(app.ask(Op::Ack { signed: Box::new(signed), fence }).await)?;
    ok(&Noted { v: V1, repeat: done.repeat() })
}
