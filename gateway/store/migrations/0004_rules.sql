-- The person's rules. A deleted one is kept: the audit log names it, and it can come back.
CREATE TABLE rules (
  id         TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  deleted_at INTEGER NOT NULL DEFAULT 0,
  hits       INTEGER NOT NULL DEFAULT 0,
  last_used  INTEGER NOT NULL DEFAULT 0,
  json       TEXT NOT NULL             -- a protocol.Rule without the columns above
) STRICT;

-- Who allowed what. Each row's hash is over the row before it and itself: a row that was changed or taken out breaks the chain.
CREATE TABLE audit (
  seq    INTEGER PRIMARY KEY,
  at     INTEGER NOT NULL,
  kind   TEXT NOT NULL,
  node   TEXT NOT NULL,
  session_key TEXT NOT NULL,
  rule   TEXT NOT NULL,
  entry  TEXT NOT NULL,                -- a protocol.AuditEntry without seq and hash
  hash   TEXT NOT NULL
) STRICT;
CREATE INDEX audit_by_time ON audit (at);
CREATE INDEX audit_of_rule ON audit (rule, seq) WHERE rule <> '';
CREATE INDEX audit_of_node ON audit (node, seq);
