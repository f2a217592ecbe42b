-- name: add_payloads
-- Differs because a batch is one statement with an array for each column.
INSERT INTO payload (aggregate, hash, stored) SELECT * FROM unnest(:aggregate::bytea[], :hash::bytea[], :stored::bytea[]);

-- name: erase_payloads
-- Differs because a batch is one statement with an array for each column.
DELETE FROM payload WHERE aggregate = ANY(:aggregate::bytea[]);
