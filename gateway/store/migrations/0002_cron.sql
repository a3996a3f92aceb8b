CREATE TABLE cron_jobs (
  id          TEXT PRIMARY KEY,
  base_at     INTEGER NOT NULL,           -- from where an interval without an anchor counts
  last_due_at INTEGER NOT NULL DEFAULT 0, -- the last due time that was served; 0 is never
  job         TEXT NOT NULL               -- a protocol.CronJob
) STRICT;

-- A row is written before its run begins. One due time of a job has at most one row: it never runs twice.
CREATE TABLE cron_runs (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id      TEXT NOT NULL,
  due_at      INTEGER NOT NULL DEFAULT 0, -- 0 when a person started it
  session_key TEXT NOT NULL DEFAULT '',
  run_id      TEXT NOT NULL DEFAULT '',
  started_at  INTEGER NOT NULL,
  ended_at    INTEGER NOT NULL DEFAULT 0,
  status      TEXT NOT NULL DEFAULT '',
  error       TEXT NOT NULL DEFAULT '',
  summary     TEXT NOT NULL DEFAULT '',
  next_run_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX cron_runs_once ON cron_runs (job_id, due_at) WHERE due_at > 0;
CREATE INDEX cron_runs_of_job ON cron_runs (job_id, id);
CREATE INDEX cron_runs_open ON cron_runs (ended_at) WHERE ended_at = 0;

CREATE TABLE heartbeats (
  agent TEXT PRIMARY KEY,
  state TEXT NOT NULL -- a protocol.HeartbeatState
) STRICT, WITHOUT ROWID;
