-- What the journal of seed 001 has beside what a call needs to go on. Contents of files are kept as hash and size only.
ALTER TABLE calls ADD COLUMN effect TEXT NOT NULL DEFAULT '';
ALTER TABLE calls ADD COLUMN iteration INTEGER NOT NULL DEFAULT 0;   -- the model step of its run, from 1
ALTER TABLE calls ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;         -- of its machine, from 1
ALTER TABLE calls ADD COLUMN input_sha256 TEXT NOT NULL DEFAULT '';  -- of the arguments as they were, canonical
ALTER TABLE calls ADD COLUMN input_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN output_sha256 TEXT NOT NULL DEFAULT ''; -- of the result as it was
ALTER TABLE calls ADD COLUMN output_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN truncated INTEGER NOT NULL DEFAULT 0;   -- the stored result is a part of it
CREATE INDEX calls_of_node ON calls (node, seq);
CREATE INDEX calls_by_time ON calls (created_at);
