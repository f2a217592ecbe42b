-- name: add_definition
-- Remember a definition by its content hash, once.
INSERT INTO definition (hash, short, name, version, body, seen_at) VALUES (:hash, :short, :name, :version, :body, :seen_at)
ON CONFLICT (hash) DO NOTHING;

-- name: list_definitions
-- Every definition ever used.
SELECT hash, short, name, version, body FROM definition ORDER BY name, version;
