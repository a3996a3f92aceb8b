-- A permission for a chat that was withdrawn is kept: it can be given back.
ALTER TABLE grants ADD COLUMN deleted_at INTEGER NOT NULL DEFAULT 0;

-- Questions can end in two more ways: with other arguments than the agent's, and because the rules decide them by now.
CREATE TABLE questions (
  id          TEXT PRIMARY KEY,
  state       TEXT NOT NULL CHECK (state IN ('pending', 'allowed', 'edited', 'denied', 'expired', 'cancelled', 'superseded')),
  session_key TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  json        TEXT NOT NULL
) STRICT;
INSERT INTO questions SELECT id, state, session_key, created_at, json FROM approvals;
DROP TABLE approvals;
ALTER TABLE questions RENAME TO approvals;
CREATE INDEX approvals_pending ON approvals (created_at) WHERE state = 'pending';
