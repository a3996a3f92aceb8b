-- The apps of machines that are published.
CREATE TABLE services (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,                       -- the first part of its host name
  json TEXT NOT NULL                               -- protocol.Service
) STRICT, WITHOUT ROWID;

-- What lets a visitor in: links that count once, and sign-ins. Only hashes of their secrets are stored.
CREATE TABLE visits (
  hash TEXT PRIMARY KEY,                           -- hex SHA-256
  service TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  expires_at INTEGER NOT NULL,                     -- Unix milliseconds
  json TEXT NOT NULL                               -- store.Visit
) STRICT, WITHOUT ROWID;
CREATE INDEX visits_expire ON visits (expires_at);
