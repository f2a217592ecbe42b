-- name: add_quarantine
-- Set an aggregate aside because a row of it failed its check.
INSERT INTO quarantine (aggregate, place, fact, found_at) VALUES (:aggregate, :place, :fact, :found_at)
ON CONFLICT (aggregate, place) DO NOTHING;

-- name: list_quarantine
-- What is set aside and why.
SELECT aggregate, place, fact, found_at FROM quarantine ORDER BY found_at LIMIT :most;

-- name: remove_quarantine
-- A person looked and decided.
DELETE FROM quarantine WHERE aggregate = :aggregate;
