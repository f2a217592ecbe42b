-- name: put_documents
-- Differs because a batch is one statement with an array for each column.
INSERT INTO document (aggregate, tenant, type, subject, status, version, valid_from, valid_until, created_at, decided_at, reason, parent, correlation)
SELECT * FROM unnest(:aggregate::bytea[], :tenant::text[], :type::text[], :subject::text[], :status::text[], :version::bigint[],
  :valid_from::bigint[], :valid_until::bigint[], :created_at::bigint[], :decided_at::bigint[], :reason::text[], :parent::text[], :correlation::text[])
ON CONFLICT (aggregate) DO UPDATE SET status = excluded.status, version = excluded.version, valid_from = excluded.valid_from,
  valid_until = excluded.valid_until, decided_at = excluded.decided_at, reason = excluded.reason;

-- name: add_blobs
-- Differs because a batch is one statement with an array for each column.
INSERT INTO document_blob (aggregate, hash, tenant) SELECT * FROM unnest(:aggregate::bytea[], :hash::bytea[], :tenant::text[]);

-- name: remove_blobs
-- Differs because a batch is one statement with an array for each column.
DELETE FROM document_blob USING unnest(:aggregate::bytea[], :hash::bytea[]) AS gone (aggregate, hash)
WHERE document_blob.aggregate = gone.aggregate AND document_blob.hash = gone.hash;

-- name: remove_texts
-- Differs because texts are rows of a table with a key of their own.
DELETE FROM document_text USING unnest(:aggregate::bytea[], :version::bigint[]) AS gone (aggregate, version)
WHERE document_text.aggregate = gone.aggregate AND document_text.version = gone.version;

-- name: add_texts
-- Differs because words are kept as lexemes, and no parser of the server's looks at them.
INSERT INTO document_text (aggregate, version, words)
SELECT aggregate, version, array_to_tsvector(string_to_array(words, ' '))
FROM unnest(:aggregate::bytea[], :version::bigint[], :words::text[]) AS given (aggregate, version, words);

-- name: erase_texts
-- Differs because texts are rows of a table with a key of their own.
DELETE FROM document_text WHERE aggregate = ANY(:aggregate::bytea[]);

-- name: search_documents
-- Differs because words are looked for in lexemes.
SELECT number, aggregate, type, subject, status, version, valid_from, valid_until, created_at, decided_at, reason, parent, correlation
FROM document WHERE tenant = :tenant AND number < :before AND aggregate IN (
  SELECT aggregate FROM document_text WHERE words @@ (:words::text)::tsquery
) AND (:subject = '' OR subject = :subject) AND (:type = '' OR type = :type) AND (:status = '' OR status = :status)
ORDER BY number DESC LIMIT :most;
