//! The plane over HTTP, from outside: real files, real sockets.

use awakener_tools::enforces_process;
use serde_json::json;

use super::support::*;

enforces_process! {
    [Adm1] fn adm_1_smoke(seen) {
        let rig = Rig::start();
        let story = rig.story();
        let first = submission("lotse", "message@1", json!({"a": 1}));
        let admitted = rig.block(story.alice.submit(&first, None)).unwrap();
        assert_eq!((admitted.seq, admitted.repeat), (1, false));
        let _ = seen;
    }
}
