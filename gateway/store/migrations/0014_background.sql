-- The command that a call has left running in the background, by the id its machine gave it (seed 004, node.exec.event).
ALTER TABLE calls ADD COLUMN process TEXT NOT NULL DEFAULT '';
CREATE INDEX calls_of_process ON calls (node, process) WHERE process <> '';
