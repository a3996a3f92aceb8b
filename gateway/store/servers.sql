-- What the person accepted of the tools of MCP servers.
CREATE TABLE servers (
  name TEXT PRIMARY KEY,
  json TEXT NOT NULL                               -- store.AcceptedTools
) STRICT, WITHOUT ROWID;
