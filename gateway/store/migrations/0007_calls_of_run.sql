-- Calls outside runs need no place in it.
DROP INDEX calls_of_run;
CREATE INDEX calls_of_run ON calls (run_id, tool_call_id) WHERE run_id <> '';
