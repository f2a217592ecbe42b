-- A lease names the schema its process knows. Whoever migrates takes all leases away, and a process of an older release,
-- this one or any before it, gets no other: it is refused at its next commit, whatever the migration changed.
ALTER TABLE worker ADD COLUMN schema_number BIGINT NOT NULL DEFAULT 0;
CREATE FUNCTION refuse_older_release() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN IF NEW.schema_number <> (SELECT value::bigint FROM meta WHERE name = 'schema') THEN
RAISE EXCEPTION 'an older release asks for a lease' USING ERRCODE = 'check_violation'; END IF; RETURN NEW; END $$;
CREATE TRIGGER worker_schema BEFORE INSERT ON worker FOR EACH ROW EXECUTE FUNCTION refuse_older_release();
