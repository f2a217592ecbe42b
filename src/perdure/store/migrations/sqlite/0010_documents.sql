-- Documents as lists and guards find them, the blobs they need, and the words they are found by.
CREATE TABLE document (
  number INTEGER PRIMARY KEY,
  aggregate BLOB NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  type TEXT NOT NULL,
  subject TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'verified', 'rejected', 'expired', 'superseded')),
  version INTEGER NOT NULL CHECK (version BETWEEN 0 AND 999),
  valid_from INTEGER NOT NULL,
  valid_until INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  decided_at INTEGER NOT NULL,
  reason TEXT NOT NULL,
  parent TEXT NOT NULL,
  correlation TEXT NOT NULL
);
CREATE INDEX document_listed ON document (tenant);
CREATE INDEX document_subject ON document (tenant, subject, type);
CREATE INDEX document_type ON document (tenant, type, status);
CREATE INDEX document_correlation ON document (tenant, correlation) WHERE correlation <> '';
CREATE INDEX document_parent ON document (tenant, parent) WHERE parent <> '';

CREATE TABLE document_blob (
  aggregate BLOB NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  tenant TEXT NOT NULL,
  PRIMARY KEY (aggregate, hash)
) WITHOUT ROWID;
CREATE INDEX document_blob_hash ON document_blob (hash, tenant);

-- A row is the text of one version: its number is that of the document, three digits for the version behind it.
CREATE VIRTUAL TABLE document_text USING fts5 (words, tokenize = 'ascii', detail = 'none');
