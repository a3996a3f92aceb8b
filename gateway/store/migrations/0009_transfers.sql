-- Transfers: the queue and its history. body is what windows see, as JSON; policy is what the rules were when it was allowed.
CREATE TABLE transfers (
  id         TEXT PRIMARY KEY,
  state      TEXT NOT NULL,
  from_node  TEXT NOT NULL,
  to_node    TEXT NOT NULL,
  agent      TEXT NOT NULL,
  policy     TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  ended_at   INTEGER NOT NULL,
  body       TEXT NOT NULL
);
CREATE INDEX transfers_ended ON transfers (ended_at, created_at);
