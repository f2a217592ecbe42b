-- name: add_payloads
-- Keep the bytes behind hashes, per aggregate, so that they can be erased together.
INSERT INTO payload (aggregate, hash, stored) VALUES (:aggregate, :hash, :stored);

-- name: read_payload
-- The bytes behind one hash.
SELECT stored FROM payload WHERE aggregate = :aggregate AND hash = :hash LIMIT 1;

-- name: list_payloads
-- Every payload of one aggregate, for audits.
SELECT hash, stored FROM payload WHERE aggregate = :aggregate;

-- name: erase_payloads
-- Remove the data of aggregates whose tombstone is written in the same commit.
DELETE FROM payload WHERE aggregate IN (SELECT * FROM (VALUES (:aggregate)));

-- name: drop_payload
-- Remove damaged bytes that nothing needs any more.
DELETE FROM payload WHERE aggregate = :aggregate AND hash = :hash;
