-- The words of the audit log, so that a search for the beginning of one can name them: merging all that begin so takes seconds where one is in every line.
CREATE VIRTUAL TABLE audit_terms USING fts5vocab (audit_search, row);
