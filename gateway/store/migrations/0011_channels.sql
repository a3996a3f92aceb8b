-- Accounts that the gateway itself connects. config has no secrets; wanted is 1 for those that start with the gateway.
CREATE TABLE channel_accounts (
  channel    TEXT NOT NULL,
  account    TEXT NOT NULL,
  config     TEXT NOT NULL,
  wanted     INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (channel, account)
) STRICT;

-- When somebody last wrote, by account: connections over the network are accounts too.
CREATE TABLE channel_seen (
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  at      INTEGER NOT NULL,
  PRIMARY KEY (channel, account)
) STRICT;

-- Strangers who wrote.
CREATE TABLE channel_pairs (
  channel       TEXT NOT NULL,
  sender        TEXT NOT NULL,
  requested_at  INTEGER NOT NULL,
  json          TEXT NOT NULL,          -- a store.Pair
  PRIMARY KEY (channel, sender)
) STRICT;

-- Where the answers of a run go, until it is over and they are in the outbox.
CREATE TABLE channel_runs (
  run_id      TEXT PRIMARY KEY,
  session_key TEXT NOT NULL,
  route       TEXT NOT NULL             -- a store.Route
) STRICT;

-- Whom a chat was with last.
CREATE TABLE channel_routes (
  session_key TEXT PRIMARY KEY,
  at          INTEGER NOT NULL,
  route       TEXT NOT NULL
) STRICT;

-- What is to be said. A row stays for some days after its end, so that nothing is said twice.
CREATE TABLE channel_outbox (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  channel    TEXT NOT NULL,
  account    TEXT NOT NULL,
  state      TEXT NOT NULL,             -- waiting, sent or failed
  attempts   INTEGER NOT NULL,
  next_at    INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  message_id TEXT NOT NULL,
  error      TEXT NOT NULL,
  json       TEXT NOT NULL              -- a protocol.ChannelOutbound
) STRICT;
CREATE INDEX channel_outbox_waiting ON channel_outbox (channel, account, seq) WHERE state = 'waiting';
CREATE INDEX channel_outbox_old ON channel_outbox (created_at);
