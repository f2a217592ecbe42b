-- name: add_quarantine
-- Set an aggregate aside because a row of it failed its check.
INSERT INTO quarantine (aggregate, place, fact, found_at) VALUES (:aggregate, :place, :fact, :found_at)
ON CONFLICT (aggregate, place) DO NOTHING;

-- name: list_quarantine
-- What is set aside and why.
SELECT aggregate, place, fact, found_at FROM quarantine ORDER BY found_at LIMIT :most;

-- name: places_in_quarantine
-- What of an aggregate is set aside.
SELECT place FROM quarantine WHERE aggregate = :aggregate ORDER BY place;

-- name: remove_quarantine
-- A person looked and decided.
DELETE FROM quarantine WHERE aggregate = :aggregate;

-- name: tell_quarantine
-- The record of damage that was just noted, unless it was known.
INSERT INTO journal (aggregate, sequence, body, hash) SELECT :aggregate, 1, :body, :hash
WHERE EXISTS (SELECT 1 FROM quarantine WHERE quarantine.aggregate = :damaged AND place = :place AND found_at = :found_at)
ON CONFLICT DO NOTHING;

-- name: quarantined_page
-- Aggregates of a tenant that are set aside, each by the first entry about it, a page at a time.
SELECT one.found_at, one.aggregate, one.place, one.fact, owner.kind
FROM quarantine AS one JOIN aggregate AS owner ON owner.id = one.aggregate
WHERE owner.tenant = :tenant AND (one.found_at, one.aggregate) > (:found_at, :aggregate) AND NOT EXISTS (
  SELECT 1 FROM quarantine AS other
  WHERE other.aggregate = one.aggregate AND (other.found_at, other.place) < (one.found_at, one.place)
) ORDER BY one.found_at, one.aggregate LIMIT :most;

-- name: count_quarantined
-- How many aggregates of a tenant are set aside, up to a bound.
SELECT count(*) FROM (
  SELECT DISTINCT one.aggregate FROM quarantine AS one JOIN aggregate AS owner ON owner.id = one.aggregate
  WHERE owner.tenant = :tenant LIMIT :most
) AS counted;
