-- Version 1. One file per process that owns machines; `user_version` is the ladder, `application_id` tells ours from others.
-- Bodies live in `message` and `answer` only. Everything but those two is a projection of `audit`.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The chain (AUD-1): one row per advanced step, recovery and auditable refusal.
CREATE TABLE audit (
    position INTEGER PRIMARY KEY,
    machine  TEXT NOT NULL,
    target   TEXT NOT NULL,
    records  INTEGER NOT NULL,          -- how many durable facts it holds; 0 = a refusal
    hash     TEXT NOT NULL,             -- 64 hex digits; no index: its order is random, and nobody asks by it
    entry    BLOB NOT NULL              -- JCS, the hashed bytes
) STRICT;
CREATE INDEX audit_machine ON audit (machine, target, position) WHERE records > 0;

-- Images as of a position, so that recovery need not start at the first record.
CREATE TABLE snapshot (
    machine  TEXT NOT NULL,
    target   TEXT NOT NULL,
    position INTEGER NOT NULL,
    image    TEXT NOT NULL,
    PRIMARY KEY (machine, target)
) STRICT, WITHOUT ROWID;

CREATE TABLE message (
    target       TEXT NOT NULL,
    seq          INTEGER NOT NULL,
    id           TEXT NOT NULL,
    principal    TEXT NOT NULL,
    tier         INTEGER NOT NULL,
    finished     INTEGER NOT NULL DEFAULT 0,
    set_aside    INTEGER NOT NULL DEFAULT 0,
    normal       TEXT NOT NULL,         -- hash of the normal form, for repeats (FUS-1)
    admitted     INTEGER NOT NULL,      -- milliseconds since 1970
    entry        TEXT NOT NULL,         -- the kernel's row
    submission   TEXT NOT NULL,         -- what was submitted, body included
    trace        TEXT,                  -- W3C traceparent as received (AUD-6)
    PRIMARY KEY (target, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX message_key ON message (principal, id);
CREATE INDEX message_id ON message (id);
CREATE INDEX message_open ON message (target, tier, seq) WHERE finished = 0 AND set_aside = 0;
CREATE INDEX message_unfinished ON message (target, seq) WHERE finished = 0;
CREATE INDEX message_tier ON message (target, tier, seq);
CREATE INDEX message_sender ON message (principal, target, admitted);
CREATE INDEX message_thread ON message (json_extract(submission, '$.thread'));
CREATE INDEX message_age ON message (admitted) WHERE finished = 0 AND tier > 0;

-- Hints that this emitter minted (DSP-7 `unminted`).
CREATE TABLE mint (
    wake    TEXT PRIMARY KEY,
    target  TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    message TEXT NOT NULL,
    token   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Texts of replies and reasons of silence; what they mean is in `audit`.
CREATE TABLE answer (
    message TEXT NOT NULL,
    turn    TEXT NOT NULL,
    target  TEXT NOT NULL,
    kind    TEXT NOT NULL,
    at      INTEGER NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (message, turn)
) STRICT, WITHOUT ROWID;

-- Signed statements as received: ACKs and operator commands.
CREATE TABLE statement (
    position INTEGER PRIMARY KEY,       -- of the audit entry
    kind     TEXT NOT NULL,
    subject  TEXT NOT NULL,
    signed   TEXT NOT NULL
) STRICT;
CREATE INDEX statement_subject ON statement (kind, subject);

-- The receipt ledger (RCP-1).
CREATE TABLE receipt (
    number   INTEGER PRIMARY KEY,
    position INTEGER NOT NULL,          -- of the audit entry
    kind     TEXT NOT NULL,
    target   TEXT NOT NULL,
    message  TEXT,
    wake     TEXT,
    attempt  TEXT,
    turn     TEXT,
    at       INTEGER NOT NULL,          -- when it became known, milliseconds since 1970
    detail   TEXT NOT NULL
) STRICT;
CREATE INDEX receipt_message ON receipt (message, number) WHERE message IS NOT NULL;
CREATE INDEX receipt_wake ON receipt (wake, number) WHERE wake IS NOT NULL;
CREATE INDEX receipt_target ON receipt (target, number);
CREATE INDEX receipt_kind ON receipt (kind, number);
