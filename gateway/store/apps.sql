-- Connected apps: programs that call tools over MCP or REST. A revoked one stays for 30 days.
CREATE TABLE apps (
  id   TEXT PRIMARY KEY,
  json TEXT NOT NULL                               -- protocol.App
) STRICT, WITHOUT ROWID;

-- The tokens of apps. Their secrets are not stored.
CREATE TABLE app_tokens (
  hash       TEXT PRIMARY KEY,                     -- SHA-256 in hex
  app        TEXT NOT NULL,
  kind       TEXT NOT NULL,                        -- personal, access or refresh
  scopes     TEXT NOT NULL,                        -- JSON list, narrower than the app's; empty list: those of the app
  resource   TEXT NOT NULL,                        -- the address that the token is for; empty: any
  expires_at INTEGER NOT NULL,
  used_at    INTEGER NOT NULL                      -- of a refresh token: when it was exchanged
) STRICT, WITHOUT ROWID;
CREATE INDEX app_tokens_app ON app_tokens (app);

-- Programs that registered themselves to sign in.
CREATE TABLE app_clients (
  id         TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  used_at    INTEGER NOT NULL,                     -- when it last connected an app
  json       TEXT NOT NULL                         -- store.AppClient
) STRICT, WITHOUT ROWID;
