-- Tables and indexes that came after the first version of a layout 1 store. Additions only; each is made where it is missing.

-- Signed checkpoints (AUD-3). No projection of `audit`: nobody can sign the past again.
CREATE TABLE IF NOT EXISTS checkpoint (
    size   INTEGER PRIMARY KEY,         -- how many records it covers
    at     INTEGER NOT NULL,            -- milliseconds since 1970
    signed TEXT NOT NULL                -- the document with its signature
) STRICT;

-- Outstanding alerts of an inbox, whatever else is in it.
CREATE INDEX IF NOT EXISTS message_alert ON message (target, seq) WHERE tier = 0 AND finished = 0;
