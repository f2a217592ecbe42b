-- Messages that arrived have a checksum of their own: no journal tells of one that is kept until someone waits for it.
ALTER TABLE inbox ADD COLUMN checksum BYTEA NOT NULL DEFAULT '';
