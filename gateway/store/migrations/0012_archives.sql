-- Stretches of sessions that went to the archive, by a reset or because the chat was shortened. Their messages stay where they are.
CREATE TABLE archives (
  id          TEXT PRIMARY KEY,
  session_key TEXT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
  session_id  TEXT NOT NULL,
  kind        TEXT NOT NULL CHECK (kind IN ('reset', 'compact')),
  first       INTEGER NOT NULL,
  last        INTEGER NOT NULL,
  messages    INTEGER NOT NULL,
  usage       TEXT NOT NULL DEFAULT '{}',
  created_at  INTEGER NOT NULL,
  size        INTEGER NOT NULL DEFAULT 0 -- of the file; 0 while it is not written
) STRICT;
CREATE INDEX archives_of_session ON archives (session_key, created_at);
CREATE INDEX archives_to_write ON archives (created_at) WHERE size = 0;

-- Messages up to here are in the archive: the model no longer reads them.
ALTER TABLE sessions ADD COLUMN cut INTEGER NOT NULL DEFAULT 0;
