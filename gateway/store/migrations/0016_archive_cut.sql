-- Up to where the stretch had been shortened when it was archived, so that it can go on as it was; -1 is not known.
ALTER TABLE archives ADD COLUMN cut INTEGER NOT NULL DEFAULT -1;
