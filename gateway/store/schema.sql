-- The tables of the gateway's database. Times are Unix milliseconds; 0 means never. Columns named json hold the JSON of the
-- type in their comment, without the fields that have a column of their own.

-- Conversations.

CREATE TABLE sessions (
  key               TEXT PRIMARY KEY,
  id                TEXT NOT NULL UNIQUE,          -- changes with every reset
  agent             TEXT NOT NULL,
  label             TEXT NOT NULL DEFAULT '',
  first_text        TEXT NOT NULL DEFAULT '',      -- beginning of the first message since the last reset
  auto_title        TEXT NOT NULL DEFAULT '',      -- title made by the model after the first exchange
  pinned            INTEGER NOT NULL DEFAULT 0,
  archived          INTEGER NOT NULL DEFAULT 0,    -- hidden from the list of chats
  tags              TEXT NOT NULL DEFAULT '[]',    -- names, sorted
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  last_active_at    INTEGER NOT NULL,
  last_reset_at     INTEGER NOT NULL DEFAULT 0,
  deleted_at        INTEGER NOT NULL DEFAULT 0,
  previous_ids      TEXT NOT NULL DEFAULT '[]',    -- of earlier resets, oldest first
  prefs             TEXT NOT NULL DEFAULT '{}',    -- protocol.SessionPrefs
  reset_policy      TEXT NOT NULL DEFAULT '{}',    -- protocol.ResetPolicy
  message_count     INTEGER NOT NULL DEFAULT 0,
  next_seq          INTEGER NOT NULL DEFAULT 1,
  usage             TEXT NOT NULL DEFAULT '{}',    -- protocol.Usage
  context_tokens    INTEGER NOT NULL DEFAULT 0,
  context_window    INTEGER NOT NULL DEFAULT 0,
  search_text       TEXT NOT NULL DEFAULT '',      -- label, auto title, first text and tags in lower case
  compacted_through INTEGER NOT NULL DEFAULT 0     -- the model no longer reads messages up to this seq
) STRICT;
CREATE INDEX sessions_by_activity ON sessions (deleted_at, last_active_at DESC);

CREATE TABLE messages (
  session_id  TEXT NOT NULL,
  seq         INTEGER NOT NULL,
  session_key TEXT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
  id          TEXT NOT NULL UNIQUE,
  run_id      TEXT NOT NULL DEFAULT '',
  role        TEXT NOT NULL,
  json        TEXT NOT NULL,                       -- protocol.Message
  created_at  INTEGER NOT NULL,
  removed_by  TEXT NOT NULL DEFAULT '',            -- the archive of an edit or deletion that holds the message
  PRIMARY KEY (session_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX messages_removed ON messages (removed_by) WHERE removed_by <> '';
CREATE INDEX messages_of_session ON messages (session_key);
CREATE INDEX messages_of_run ON messages (run_id) WHERE run_id <> '';

CREATE TABLE runs (
  id          TEXT PRIMARY KEY,
  session_key TEXT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
  state       TEXT NOT NULL,
  params      TEXT NOT NULL,                       -- protocol.ChatSendParams without image data
  images      TEXT NOT NULL DEFAULT '[]',          -- protocol.Content
  principal   TEXT NOT NULL DEFAULT '',
  created_at  INTEGER NOT NULL,
  started_at  INTEGER NOT NULL DEFAULT 0,
  ended_at    INTEGER NOT NULL DEFAULT 0,
  step        INTEGER NOT NULL DEFAULT 0,
  answer      TEXT NOT NULL DEFAULT '',            -- the agent's last words, once the run has ended
  error       TEXT NOT NULL DEFAULT 'null'         -- protocol.Error
) STRICT;
CREATE INDEX runs_open ON runs (ended_at, created_at);
CREATE INDEX runs_of_session ON runs (session_key);

-- Archived parts of sessions, by a reset, a compaction, an edit or a deletion. Their messages stay in the table messages.
CREATE TABLE archives (
  id                TEXT PRIMARY KEY,
  session_key       TEXT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
  session_id        TEXT NOT NULL,
  kind              TEXT NOT NULL CHECK (kind IN ('reset', 'compact', 'edit', 'delete')),
  first_seq         INTEGER NOT NULL,
  last_seq          INTEGER NOT NULL,
  message_count     INTEGER NOT NULL,
  usage             TEXT NOT NULL DEFAULT '{}',    -- protocol.Usage
  created_at        INTEGER NOT NULL,
  file_size         INTEGER NOT NULL DEFAULT 0,    -- of the copy in the folder archive; 0 until it is written
  compacted_through INTEGER NOT NULL DEFAULT 0     -- as in the table sessions, at the time of archiving
) STRICT;
CREATE INDEX archives_of_session ON archives (session_key, created_at);
CREATE INDEX archives_without_file ON archives (created_at) WHERE file_size = 0;

-- Which sessions refer to which files in the folder media. A file without a reference is deleted.
CREATE TABLE media_refs (
  media_key   TEXT NOT NULL,
  session_key TEXT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
  PRIMARY KEY (media_key, session_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX media_refs_of_session ON media_refs (session_key);

-- The last message of a session that was scanned for memories, so that none is scanned twice.
CREATE TABLE memory_cursors (
  session_id  TEXT PRIMARY KEY,
  session_key TEXT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
  last_seq    INTEGER NOT NULL
) STRICT;
CREATE INDEX memory_cursors_of_session ON memory_cursors (session_key);

-- Search. The searchable text of every message. The id is the message's time in milliseconds * 1024 plus a number among the
-- messages of that millisecond: the order of the index is the order of time, and a bound in time is a bound of the id.
CREATE TABLE message_texts (
  id          INTEGER PRIMARY KEY,
  session_key TEXT NOT NULL,
  session_id  TEXT NOT NULL,
  seq         INTEGER NOT NULL,
  text        TEXT NOT NULL,
  FOREIGN KEY (session_id, seq) REFERENCES messages (session_id, seq) ON DELETE CASCADE
) STRICT;
CREATE UNIQUE INDEX text_of_message ON message_texts (session_id, seq);

-- chat is one word that stands for the session's key, so that the index itself can filter by session. Symbols such as emoji are
-- words too, except those on every keyboard.
CREATE VIEW message_search_text AS SELECT id, 'k' || hex(session_key) AS chat, text FROM message_texts;
CREATE VIRTUAL TABLE message_search USING fts5 (chat, text, content = 'message_search_text', content_rowid = 'id',
  tokenize = 'unicode61 remove_diacritics 2 categories ''L* N* Co So Sm Sc'' separators ''$+<=>|~''', prefix = '3 4');
CREATE TRIGGER message_texts_inserted AFTER INSERT ON message_texts BEGIN
  INSERT INTO message_search (rowid, chat, text) VALUES (new.id, 'k' || hex(new.session_key), new.text);
END;
CREATE TRIGGER message_texts_deleted AFTER DELETE ON message_texts BEGIN
  INSERT INTO message_search (message_search, rowid, chat, text) VALUES ('delete', old.id, 'k' || hex(old.session_key), old.text);
END;

-- Tokens and cost of model steps, per quarter of an hour. It outlives the sessions.
CREATE TABLE usage (
  at          INTEGER NOT NULL,                    -- start of the quarter
  provider    TEXT NOT NULL,
  model       TEXT NOT NULL,
  steps       INTEGER NOT NULL,
  unpriced    INTEGER NOT NULL,                    -- steps whose cost is unknown
  input       INTEGER NOT NULL,                    -- tokens
  output      INTEGER NOT NULL,
  cache_read  INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  cost        REAL NOT NULL,                       -- US dollars
  PRIMARY KEY (at, provider, model)
) STRICT, WITHOUT ROWID;

-- The journal of tool calls, and permissions.

CREATE TABLE calls (
  id            TEXT PRIMARY KEY,
  run_id        TEXT NOT NULL,
  tool_call_id  TEXT NOT NULL,
  session_key   TEXT NOT NULL,
  node          TEXT NOT NULL,
  tool          TEXT NOT NULL,
  state         TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'denied', 'cancelled', 'unknown')),
  info          TEXT NOT NULL,                     -- protocol.CallInfo
  asked_by      TEXT NOT NULL,                     -- protocol.AskedBy
  principal     TEXT NOT NULL,
  idem_key      TEXT NOT NULL,                     -- idempotency key
  idempotent    INTEGER NOT NULL,
  attempt       INTEGER NOT NULL,
  result        TEXT NOT NULL DEFAULT '',
  hash          TEXT NOT NULL DEFAULT '',          -- of the preview
  created_at    INTEGER NOT NULL,
  ended_at      INTEGER NOT NULL DEFAULT 0,
  effect        TEXT NOT NULL,
  iteration     INTEGER NOT NULL DEFAULT 0,        -- the model step of its run, from 1
  seq           INTEGER NOT NULL DEFAULT 0,        -- on its node, from 1
  input_sha256  TEXT NOT NULL DEFAULT '',          -- of the complete arguments in canonical form
  input_bytes   INTEGER NOT NULL DEFAULT 0,
  output_sha256 TEXT NOT NULL DEFAULT '',          -- of the complete result
  output_bytes  INTEGER NOT NULL DEFAULT 0,
  truncated     INTEGER NOT NULL DEFAULT 0,        -- the stored result is only a part
  process       TEXT NOT NULL DEFAULT ''           -- the node's ID of a command left running in the background
) STRICT;
CREATE INDEX calls_of_run ON calls (run_id, tool_call_id) WHERE run_id <> '';
CREATE INDEX calls_open ON calls (state) WHERE state IN ('waiting', 'running');
CREATE INDEX calls_of_node ON calls (node, seq);
CREATE INDEX calls_by_time ON calls (created_at);
CREATE INDEX calls_of_process ON calls (node, process) WHERE process <> '';

-- Later renamed to questions, and from_approval below to from_question (db.go).
CREATE TABLE approvals (
  id          TEXT PRIMARY KEY,
  state       TEXT NOT NULL CHECK (state IN ('pending', 'allowed', 'edited', 'denied', 'expired', 'cancelled', 'superseded')),
  session_key TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  json        TEXT NOT NULL                        -- protocol.Question
) STRICT;
CREATE INDEX approvals_pending ON approvals (created_at) WHERE state = 'pending';

-- Permissions for one session. A revoked one stays: it can be restored.
CREATE TABLE grants (
  id            TEXT PRIMARY KEY,
  session_key   TEXT NOT NULL,
  node          TEXT NOT NULL,
  tool          TEXT NOT NULL,
  match         TEXT NOT NULL,                     -- the allowed call, in the form that package approval compares
  words         TEXT NOT NULL,                     -- the allowed call, for people
  created_at    INTEGER NOT NULL,
  from_approval TEXT NOT NULL,
  deleted_at    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX grants_of_session ON grants (session_key);

-- A deleted rule stays: the audit log refers to it, and it can be restored.
CREATE TABLE rules (
  id         TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  deleted_at INTEGER NOT NULL DEFAULT 0,
  hits       INTEGER NOT NULL DEFAULT 0,
  last_used  INTEGER NOT NULL DEFAULT 0,
  json       TEXT NOT NULL                         -- protocol.Rule
) STRICT;

-- Who allowed what. Each hash covers the row and the hash before it: a changed or missing row breaks the chain.
CREATE TABLE audit (
  seq         INTEGER PRIMARY KEY,
  at          INTEGER NOT NULL,
  kind        TEXT NOT NULL,
  node        TEXT NOT NULL,
  session_key TEXT NOT NULL,
  rule        TEXT NOT NULL,
  entry       TEXT NOT NULL,                       -- protocol.AuditEntry without seq and hash
  hash        TEXT NOT NULL
) STRICT;
CREATE INDEX audit_by_time ON audit (at);
CREATE INDEX audit_of_rule ON audit (rule, seq) WHERE rule <> '';
CREATE INDEX audit_of_node ON audit (node, seq);
CREATE INDEX audit_of_kind ON audit (kind, seq) WHERE kind <> 'call'; -- most rows are calls, for which an index finds nothing faster
CREATE INDEX audit_of_session ON audit (session_key, seq);

-- The words of every audit row, by its seq, and the vocabulary of that index.
CREATE VIRTUAL TABLE audit_search USING fts5 (words, content = '', tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3');
CREATE VIRTUAL TABLE audit_terms USING fts5vocab (audit_search, row);
CREATE TRIGGER audit_inserted AFTER INSERT ON audit BEGIN
  INSERT INTO audit_search (rowid, words) VALUES (new.seq, concat_ws(' ', new.kind, new.node, new.session_key, new.rule,
    new.entry ->> '$.by', new.entry ->> '$.tool', new.entry ->> '$.what', new.entry ->> '$.verdict', new.entry ->> '$.why',
    new.entry ->> '$.state', new.entry ->> '$.approvalId'));
END;

-- Machines, devices and transfers.

CREATE TABLE nodes (
  id   TEXT PRIMARY KEY,
  json TEXT NOT NULL                               -- protocol.NodeInfo
) STRICT, WITHOUT ROWID;

-- Paired devices. A revoked one stays until it is deleted, so that it gets the reason when it connects.
CREATE TABLE devices (
  id         TEXT PRIMARY KEY,
  key        BLOB NOT NULL,                        -- Ed25519 public key
  token_hash TEXT NOT NULL,                        -- SHA-256 in hex; empty: the device must fetch a new token
  json       TEXT NOT NULL                         -- protocol.Device
) STRICT, WITHOUT ROWID;

-- The queue of transfers and its history.
CREATE TABLE transfers (
  id         TEXT PRIMARY KEY,
  state      TEXT NOT NULL,
  from_node  TEXT NOT NULL,
  to_node    TEXT NOT NULL,
  agent      TEXT NOT NULL,
  policy     TEXT NOT NULL,                        -- fingerprint of the rules under which it was allowed
  created_at INTEGER NOT NULL,
  ended_at   INTEGER NOT NULL,
  json       TEXT NOT NULL                         -- protocol.Transfer
) STRICT;
CREATE INDEX transfers_ended ON transfers (ended_at, created_at);

CREATE TABLE settings (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL                              -- JSON
) STRICT, WITHOUT ROWID;

-- Schedules.

CREATE TABLE cron_jobs (
  id          TEXT PRIMARY KEY,
  base_at     INTEGER NOT NULL,                    -- start of an interval without an anchor
  last_due_at INTEGER NOT NULL DEFAULT 0,          -- the last due time that was handled
  json        TEXT NOT NULL                        -- protocol.CronJob
) STRICT;

-- A row is written before its run starts. A due time of a job has at most one row, so it never runs twice.
CREATE TABLE cron_runs (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id      TEXT NOT NULL,
  due_at      INTEGER NOT NULL DEFAULT 0,          -- 0 if a person started it
  session_key TEXT NOT NULL DEFAULT '',
  run_id      TEXT NOT NULL DEFAULT '',
  started_at  INTEGER NOT NULL,
  ended_at    INTEGER NOT NULL DEFAULT 0,
  status      TEXT NOT NULL DEFAULT '',
  error       TEXT NOT NULL DEFAULT '',
  summary     TEXT NOT NULL DEFAULT '',
  next_run_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX cron_runs_once ON cron_runs (job_id, due_at) WHERE due_at > 0;
CREATE INDEX cron_runs_of_job ON cron_runs (job_id, id);
CREATE INDEX cron_runs_open ON cron_runs (ended_at) WHERE ended_at = 0;

CREATE TABLE heartbeats (
  agent TEXT PRIMARY KEY,
  json  TEXT NOT NULL                              -- protocol.HeartbeatState
) STRICT, WITHOUT ROWID;

-- Channels.

-- Accounts that the gateway itself connects.
CREATE TABLE channel_accounts (
  channel    TEXT NOT NULL,
  account    TEXT NOT NULL,
  config     TEXT NOT NULL,                        -- JSON object without secrets
  autostart  INTEGER NOT NULL,                     -- connect when the gateway starts
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (channel, account)
) STRICT;

-- When an account last received a message. Connections over the network are accounts too.
CREATE TABLE channel_activity (
  channel     TEXT NOT NULL,
  account     TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  PRIMARY KEY (channel, account)
) STRICT;

-- Unknown senders who wrote and wait for permission.
CREATE TABLE channel_pairs (
  channel      TEXT NOT NULL,
  sender       TEXT NOT NULL,
  requested_at INTEGER NOT NULL,
  json         TEXT NOT NULL,                      -- store.Pair
  PRIMARY KEY (channel, sender)
) STRICT;

-- The address for the answers of a run, until all of them are in the outbox.
CREATE TABLE channel_runs (
  run_id      TEXT PRIMARY KEY,
  session_key TEXT NOT NULL,
  route       TEXT NOT NULL                        -- store.Route
) STRICT;

-- The last address of a session.
CREATE TABLE channel_routes (
  session_key TEXT PRIMARY KEY,
  used_at     INTEGER NOT NULL,
  route       TEXT NOT NULL                        -- store.Route
) STRICT;

-- Messages to deliver. A row stays for some days after its delivery, so that nothing is sent twice.
CREATE TABLE channel_outbox (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  channel    TEXT NOT NULL,
  account    TEXT NOT NULL,
  state      TEXT NOT NULL,                        -- waiting, sent or failed
  attempts   INTEGER NOT NULL,
  next_at    INTEGER NOT NULL,                     -- time of the next attempt
  created_at INTEGER NOT NULL,
  message_id TEXT NOT NULL,                        -- the channel's ID of the message, if reported
  error      TEXT NOT NULL,
  json       TEXT NOT NULL                         -- protocol.ChannelOutbound
) STRICT;
CREATE INDEX channel_outbox_waiting ON channel_outbox (channel, account, seq) WHERE state = 'waiting';
CREATE INDEX channel_outbox_old ON channel_outbox (created_at);
