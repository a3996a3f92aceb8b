-- Up to which message of a stretch it was looked for what is worth remembering, so that a conversation that goes on later is not noted twice.
CREATE TABLE noted (
  session_id  TEXT PRIMARY KEY,
  session_key TEXT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
  through     INTEGER NOT NULL
) STRICT;
CREATE INDEX noted_of_session ON noted (session_key);
INSERT INTO noted SELECT session_id, session_key, max(last) FROM archives GROUP BY session_id;
