-- name: add_definition
-- Remember a definition by its content hash, once.
INSERT INTO definition (hash, short, name, version, body, seen_at) VALUES (:hash, :short, :name, :version, :body, :seen_at)
ON CONFLICT (hash) DO NOTHING;

-- name: list_definitions
-- Every definition ever used.
SELECT hash, short, name, version, body FROM definition ORDER BY name, version;

-- name: definition_texts
-- What every definition ever used is the text of.
SELECT hash, name, version FROM definition ORDER BY name, version, hash;

-- name: definition_body
-- The text of one definition.
SELECT body FROM definition WHERE hash = :hash;

-- name: add_serves
-- A worker says which definitions it can run.
INSERT INTO serves (worker, definition) VALUES (:worker, :definition) ON CONFLICT DO NOTHING;

-- name: forget_own_serves
-- What one worker used to run, before it says anew what it can.
DELETE FROM serves WHERE worker = :worker;

-- name: forget_serves
-- What workers that are gone used to run.
DELETE FROM serves WHERE NOT EXISTS (SELECT 1 FROM worker WHERE worker.number = serves.worker AND worker.is_fenced = 0);

-- name: unserved_definitions
-- Definitions something waits for and no live worker can run.
SELECT DISTINCT short, name, version FROM definition
WHERE NOT EXISTS (
  SELECT 1 FROM serves JOIN worker ON worker.number = serves.worker AND worker.is_fenced = 0
  WHERE serves.definition = definition.short
) AND (
  EXISTS (SELECT 1 FROM parked WHERE parked.definition = definition.short AND parked.kind = 'call' AND parked.status = 0)
  OR EXISTS (SELECT 1 FROM job WHERE job.definition = definition.short)
);

-- name: served_names
-- The verbs that live workers can run.
SELECT DISTINCT definition.name FROM definition JOIN serves ON serves.definition = definition.short
JOIN worker ON worker.number = serves.worker AND worker.is_fenced = 0;

-- name: tell_definition
-- The record of a definition that was just kept, unless it was known.
INSERT INTO journal (aggregate, sequence, body, hash) SELECT :aggregate, 1, :body, :hash
WHERE EXISTS (SELECT 1 FROM definition WHERE definition.hash = :definition AND seen_at = :seen_at)
ON CONFLICT DO NOTHING;
