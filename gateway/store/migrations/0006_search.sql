-- What a search looks through: the text of every message as it was written. The id is the message's time in milliseconds * 1024 and a
-- number among those of that time, so that the order of the index is the order of time, and a bound in time is a bound of the id.
CREATE TABLE message_texts (
  id          INTEGER PRIMARY KEY,
  session_key TEXT NOT NULL,
  session_id  TEXT NOT NULL,
  seq         INTEGER NOT NULL,
  words       TEXT NOT NULL,
  FOREIGN KEY (session_id, seq) REFERENCES messages (session_id, seq) ON DELETE CASCADE
) STRICT;
CREATE UNIQUE INDEX text_of_message ON message_texts (session_id, seq);

-- chat is one word that stands for the session's key, so that the index itself can tell the sessions apart.
CREATE VIEW message_search_text AS SELECT id, 'k' || hex(session_key) AS chat, words FROM message_texts;
CREATE VIRTUAL TABLE message_search USING fts5 (chat, words, content = 'message_search_text', content_rowid = 'id',
  tokenize = 'unicode61 remove_diacritics 2', prefix = '3 4');
CREATE VIRTUAL TABLE message_terms USING fts5vocab (message_search, instance);
CREATE TRIGGER message_texts_in AFTER INSERT ON message_texts BEGIN
  INSERT INTO message_search (rowid, chat, words) VALUES (new.id, 'k' || hex(new.session_key), new.words);
END;
CREATE TRIGGER message_texts_out AFTER DELETE ON message_texts BEGIN
  INSERT INTO message_search (message_search, rowid, chat, words) VALUES ('delete', old.id, 'k' || hex(old.session_key), old.words);
END;

INSERT OR IGNORE INTO message_texts (id, session_key, session_id, seq, words)
  SELECT created_at * 1024 + row_number() OVER (PARTITION BY created_at ORDER BY session_id, seq) - 1, session_key, session_id, seq, words FROM (
    SELECT created_at, session_key, session_id, seq, substr(CASE json_type(json, '$.content')
      WHEN 'text' THEN json ->> '$.content'
      ELSE (SELECT group_concat(b.value ->> '$.text', char(10)) FROM json_each(messages.json, '$.content') b WHERE b.value ->> '$.type' = 'text')
    END, 1, 65536) AS words FROM messages
  ) WHERE words <> '';
DROP TABLE message_words;
