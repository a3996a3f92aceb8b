-- The audit page stays fast over a million lines, whatever it is filtered by. Most lines are calls: an index of them by kind would find nothing faster.
CREATE INDEX audit_of_kind ON audit (kind, seq) WHERE kind <> 'call';
CREATE INDEX audit_of_session ON audit (session_key, seq);
