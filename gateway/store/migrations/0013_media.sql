-- Which sessions refer to which files in media/. A file that nobody refers to is removed.
CREATE TABLE media_refs (
  key         TEXT NOT NULL,
  session_key TEXT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
  PRIMARY KEY (key, session_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX media_of_session ON media_refs (session_key);

INSERT OR IGNORE INTO media_refs (key, session_key)
  SELECT b.value ->> '$.r2Key', m.session_key FROM messages m, json_each(m.json, '$.content') b
    WHERE json_type(m.json, '$.content') = 'array' AND b.value ->> '$.r2Key' <> ''
  UNION SELECT b.value ->> '$.r2Key', r.session_key FROM runs r, json_each(r.images) b WHERE b.value ->> '$.r2Key' <> '';
