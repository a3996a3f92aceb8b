-- What a search of the audit log looks through: the words of every line, by the line's number. The lines themselves hold the text.
CREATE VIRTUAL TABLE audit_search USING fts5 (words, content = '', tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3');
CREATE TRIGGER audit_in AFTER INSERT ON audit BEGIN
  INSERT INTO audit_search (rowid, words) VALUES (new.seq, new.kind || ' ' || new.node || ' ' || new.session_key || ' ' || new.rule || ' ' || ifnull(new.entry ->> '$.by', '') || ' ' || 
    ifnull(new.entry ->> '$.tool', '') || ' ' || ifnull(new.entry ->> '$.what', '') || ' ' || ifnull(new.entry ->> '$.verdict', '') || ' ' || 
    ifnull(new.entry ->> '$.why', '') || ' ' || ifnull(new.entry ->> '$.state', '') || ' ' || ifnull(new.entry ->> '$.approvalId', ''));
END;
INSERT INTO audit_search (rowid, words) SELECT seq, kind || ' ' || node || ' ' || session_key || ' ' || rule || ' ' || ifnull(entry ->> '$.by', '') || ' ' || ifnull(entry ->> '$.tool', '') || ' ' || 
    ifnull(entry ->> '$.what', '') || ' ' || ifnull(entry ->> '$.verdict', '') || ' ' || ifnull(entry ->> '$.why', '') || ' ' || 
    ifnull(entry ->> '$.state', '') || ' ' || ifnull(entry ->> '$.approvalId', '') FROM audit;
