CREATE TABLE sessions (
  key             TEXT PRIMARY KEY,
  id              TEXT NOT NULL UNIQUE,
  agent           TEXT NOT NULL,
  label           TEXT NOT NULL DEFAULT '',
  first_text      TEXT NOT NULL DEFAULT '',
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  last_active_at  INTEGER NOT NULL,
  last_reset_at   INTEGER NOT NULL DEFAULT 0,
  deleted_at      INTEGER NOT NULL DEFAULT 0,
  previous        TEXT NOT NULL DEFAULT '[]',
  prefs           TEXT NOT NULL DEFAULT '{}',
  reset_policy    TEXT NOT NULL DEFAULT '{}',
  message_count   INTEGER NOT NULL DEFAULT 0,
  next_seq        INTEGER NOT NULL DEFAULT 1,
  usage           TEXT NOT NULL DEFAULT '{}',
  context_tokens  INTEGER NOT NULL DEFAULT 0,
  context_window  INTEGER NOT NULL DEFAULT 0,
  search          TEXT NOT NULL DEFAULT '' -- label and first words in lower case
) STRICT;
CREATE INDEX sessions_by_activity ON sessions (deleted_at, last_active_at DESC);

CREATE TABLE messages (
  session_id  TEXT NOT NULL,
  seq         INTEGER NOT NULL,
  session_key TEXT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
  id          TEXT NOT NULL UNIQUE,
  run_id      TEXT NOT NULL DEFAULT '',
  role        TEXT NOT NULL,
  json        TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (session_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX messages_of_session ON messages (session_key);
CREATE INDEX messages_of_run ON messages (run_id) WHERE run_id <> '';

-- What a search looks through, in lower case and apart from the messages because it is read whole.
CREATE TABLE message_words (
  session_key TEXT NOT NULL,
  session_id  TEXT NOT NULL,
  seq         INTEGER NOT NULL,
  words       TEXT NOT NULL,
  PRIMARY KEY (session_key, session_id, seq),
  FOREIGN KEY (session_id, seq) REFERENCES messages (session_id, seq) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX words_of_message ON message_words (session_id, seq);

CREATE TABLE runs (
  id          TEXT PRIMARY KEY,
  session_key TEXT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
  state       TEXT NOT NULL,
  params      TEXT NOT NULL,
  images      TEXT NOT NULL DEFAULT '[]',
  principal   TEXT NOT NULL DEFAULT '',
  created_at  INTEGER NOT NULL,
  started_at  INTEGER NOT NULL DEFAULT 0,
  ended_at    INTEGER NOT NULL DEFAULT 0,
  step        INTEGER NOT NULL DEFAULT 0,
  error       TEXT NOT NULL DEFAULT 'null'
) STRICT;
CREATE INDEX runs_open ON runs (ended_at, created_at);
CREATE INDEX runs_of_session ON runs (session_key);

CREATE TABLE calls (
  id           TEXT PRIMARY KEY,
  run_id       TEXT NOT NULL,
  tool_call_id TEXT NOT NULL,
  session_key  TEXT NOT NULL,
  node         TEXT NOT NULL,
  tool         TEXT NOT NULL,
  state        TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'denied', 'cancelled', 'unknown')),
  info         TEXT NOT NULL,
  asked_by     TEXT NOT NULL,
  principal    TEXT NOT NULL,
  idem_key     TEXT NOT NULL,
  idempotent   INTEGER NOT NULL,
  attempt      INTEGER NOT NULL,
  result       TEXT NOT NULL DEFAULT '',
  hash         TEXT NOT NULL DEFAULT '',
  created_at   INTEGER NOT NULL,
  ended_at     INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX calls_of_run ON calls (run_id, tool_call_id);
CREATE INDEX calls_open ON calls (state) WHERE state IN ('waiting', 'running');

CREATE TABLE approvals (
  id          TEXT PRIMARY KEY,
  state       TEXT NOT NULL CHECK (state IN ('pending', 'allowed', 'denied', 'expired', 'cancelled')),
  session_key TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  json        TEXT NOT NULL
) STRICT;
CREATE INDEX approvals_pending ON approvals (created_at) WHERE state = 'pending';

CREATE TABLE grants (
  id            TEXT PRIMARY KEY,
  session_key   TEXT NOT NULL,
  node          TEXT NOT NULL,
  tool          TEXT NOT NULL,
  match         TEXT NOT NULL,
  words         TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  from_approval TEXT NOT NULL
) STRICT;
CREATE INDEX grants_of_session ON grants (session_key);

CREATE TABLE settings (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE nodes (
  id   TEXT PRIMARY KEY,
  json TEXT NOT NULL
) STRICT, WITHOUT ROWID;
