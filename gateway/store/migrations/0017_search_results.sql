-- Of tools' results, which are JSON, a search looks through the texts within.
CREATE TABLE message_texts_new AS
  SELECT t.id, t.session_key, t.session_id, t.seq,
    (SELECT group_concat(value, char(10)) FROM (SELECT value FROM json_tree(t.words) WHERE type = 'text' AND value <> '' ORDER BY id)) AS words
  FROM message_texts t JOIN messages m ON m.session_id = t.session_id AND m.seq = t.seq
  WHERE m.role = 'toolResult' AND substr(t.words, 1, 1) IN ('{', '[') AND json_valid(t.words);
DELETE FROM message_texts WHERE id IN (SELECT id FROM message_texts_new);
INSERT INTO message_texts (id, session_key, session_id, seq, words)
  SELECT id, session_key, session_id, seq, words FROM message_texts_new WHERE words IS NOT NULL;
DROP TABLE message_texts_new;
