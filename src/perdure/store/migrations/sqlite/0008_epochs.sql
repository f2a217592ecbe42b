-- A lease names the schema its process knows. Whoever migrates takes all leases away, and a process of an older release,
-- this one or any before it, gets no other: it is refused at its next commit, whatever the migration changed.
ALTER TABLE worker ADD COLUMN schema_number INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER worker_schema BEFORE INSERT ON worker
WHEN NEW.schema_number <> (SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'schema')
BEGIN SELECT RAISE(ABORT, 'an older release asks for a lease'); END;
