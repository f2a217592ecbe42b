-- name: put_documents
-- Write the rows of documents, new or changed.
INSERT INTO document (aggregate, tenant, type, subject, status, version, valid_from, valid_until, created_at, decided_at, reason, parent, correlation)
VALUES (:aggregate, :tenant, :type, :subject, :status, :version, :valid_from, :valid_until, :created_at, :decided_at, :reason, :parent, :correlation)
ON CONFLICT (aggregate) DO UPDATE SET status = excluded.status, version = excluded.version, valid_from = excluded.valid_from,
  valid_until = excluded.valid_until, decided_at = excluded.decided_at, reason = excluded.reason;

-- name: add_blobs
-- Blobs that documents need from now on.
INSERT INTO document_blob (aggregate, hash, tenant) VALUES (:aggregate, :hash, :tenant);

-- name: remove_blobs
-- Blobs that documents need no longer.
DELETE FROM document_blob WHERE (aggregate, hash) IN (SELECT * FROM (VALUES (:aggregate, :hash)));

-- name: remove_texts
-- Texts of versions that get other words in the same commit.
DELETE FROM document_text WHERE rowid IN (
  SELECT document.number * 1000 + given.column2 FROM (VALUES (:aggregate, :version)) AS given
  JOIN document ON document.aggregate = given.column1
);

-- name: add_texts
-- The words that versions are found by.
INSERT INTO document_text (rowid, words) SELECT document.number * 1000 + given.column2, given.column3
FROM (VALUES (:aggregate, :version, :words)) AS given JOIN document ON document.aggregate = given.column1;

-- name: erase_texts
-- Every text of documents whose tombstone is written in the same commit.
DELETE FROM document_text WHERE rowid IN (
  SELECT found.rowid FROM (VALUES (:aggregate)) AS given JOIN document ON document.aggregate = given.column1
  JOIN document_text AS found ON found.rowid BETWEEN document.number * 1000 AND document.number * 1000 + 999
);

-- name: list_documents
-- Documents of a tenant, newest first, a page at a time.
SELECT number, aggregate, type, subject, status, version, valid_from, valid_until, created_at, decided_at, reason, parent, correlation
FROM document WHERE tenant = :tenant AND number < :before AND (:status = '' OR status = :status)
ORDER BY number DESC LIMIT :most;

-- name: list_documents_of_subject
-- Documents about one subject, newest first, a page at a time. The sign keeps the planner from going by number through
-- everybody's documents until it has a page.
SELECT number, aggregate, type, subject, status, version, valid_from, valid_until, created_at, decided_at, reason, parent, correlation
FROM document WHERE tenant = :tenant AND subject = :subject AND +number < :before AND (:type = '' OR type = :type)
AND (:status = '' OR status = :status) ORDER BY +number DESC LIMIT :most;

-- name: list_documents_of_type
-- Documents of one type, newest first, a page at a time.
SELECT number, aggregate, type, subject, status, version, valid_from, valid_until, created_at, decided_at, reason, parent, correlation
FROM document WHERE tenant = :tenant AND type = :type AND number < :before AND (:status = '' OR status = :status)
ORDER BY number DESC LIMIT :most;

-- name: list_documents_by_correlation
-- Documents that came under one key, newest first, a page at a time.
SELECT number, aggregate, type, subject, status, version, valid_from, valid_until, created_at, decided_at, reason, parent, correlation
FROM document WHERE tenant = :tenant AND correlation = :correlation AND correlation <> '' AND +number < :before
ORDER BY +number DESC LIMIT :most;

-- name: search_documents
-- Documents of a tenant with words that were looked for in one of their texts, newest first, a page at a time.
SELECT number, aggregate, type, subject, status, version, valid_from, valid_until, created_at, decided_at, reason, parent, correlation
FROM document WHERE tenant = :tenant AND number < :before AND number IN (
  SELECT rowid / 1000 FROM document_text WHERE document_text MATCH :words
) AND (:subject = '' OR subject = :subject) AND (:type = '' OR type = :type) AND (:status = '' OR status = :status)
ORDER BY number DESC LIMIT :most;

-- name: count_documents_to_verify
-- How many documents of a type hold a version that nobody has decided on, up to a bound.
SELECT count(*) FROM (
  SELECT 1 FROM document WHERE tenant = :tenant AND type = :type AND status = 'pending' AND version > 0 LIMIT :most
) AS counted;

-- name: tenants_of_blob
-- The tenants with a document that needs a blob.
SELECT DISTINCT tenant FROM document_blob WHERE hash = :hash ORDER BY tenant;

-- name: scan_blobs
-- Blobs that documents need, of all tenants, a page at a time.
SELECT DISTINCT tenant, hash FROM document_blob WHERE (hash, tenant) > (:after_hash, :after_tenant)
ORDER BY hash, tenant LIMIT :most;

-- name: documents_with_blob
-- Documents of a tenant that need a blob.
SELECT aggregate FROM document_blob WHERE tenant = :tenant AND hash = :hash ORDER BY aggregate LIMIT :most;
