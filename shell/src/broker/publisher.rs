//! The plane's side of a broker: hands over what was minted, and reports what came of it.
//!
//! Nothing is tried twice: the schedule of re-emissions is the mailbox's (EMT-3). Rule: EMT-4.

use std::sync::Arc;

use awakener_kernel::mailbox::input::Input;
use tokio::sync::mpsc::Receiver;

use super::Broker;
use crate::plane::{Plane, Publication};

/// Publishes until the plane's end is closed, in the order of minting per target.
pub async fn publish_all(plane: Plane, broker: Arc<dyn Broker>, mut publications: Receiver<Publication>) {
    plane.emits_through(Arc::clone(&broker));
    while let Some(Publication { target, wake, bytes }) = publications.recv().await {
        let handed = broker.publish(&target, Arc::from(bytes)).await;
        if let Err(why) = &handed {
            // The sender of the message has its answer; this is a receipt (EMT-4).
            tracing::warn!(%wake, %target, rule = "EMT-4", "hint not handed over: {why}");
        }
        let handed_over = handed.is_ok();
        let report = plane.mailbox(&target, Input::Published { wake, handed_over }, None).await;
        if let Err(refused) = report {
            tracing::warn!(%wake, %target, reason = %refused.reason, "not recorded: {}", refused.detail);
        }
    }
}
