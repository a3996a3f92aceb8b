-- Paired devices. A revoked one is kept until it is forgotten, so that it can be told.
CREATE TABLE devices (
  id    TEXT PRIMARY KEY,
  key   BLOB NOT NULL,             -- Ed25519 public key
  token TEXT NOT NULL,             -- SHA-256 of its token in hex; empty: it must fetch a new one
  json  TEXT NOT NULL              -- a protocol.Device
) STRICT, WITHOUT ROWID;
