-- Documents as lists and guards find them, the blobs they need, and the words they are found by.
CREATE TABLE document (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  aggregate BYTEA NOT NULL UNIQUE,
  tenant TEXT COLLATE "C" NOT NULL,
  type TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C" NOT NULL,
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('pending', 'verified', 'rejected', 'expired', 'superseded')),
  version BIGINT NOT NULL CHECK (version BETWEEN 0 AND 999),
  valid_from BIGINT NOT NULL,
  valid_until BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  decided_at BIGINT NOT NULL,
  reason TEXT COLLATE "C" NOT NULL,
  parent TEXT COLLATE "C" NOT NULL,
  correlation TEXT COLLATE "C" NOT NULL
);
CREATE INDEX document_listed ON document (tenant, number);
CREATE INDEX document_subject ON document (tenant, subject, type, number);
CREATE INDEX document_type ON document (tenant, type, status, number);
CREATE INDEX document_correlation ON document (tenant, correlation, number) WHERE correlation <> '';
CREATE INDEX document_parent ON document (tenant, parent, number) WHERE parent <> '';

CREATE TABLE document_blob (
  aggregate BYTEA NOT NULL,
  hash BYTEA NOT NULL CHECK (length(hash) = 32),
  tenant TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (aggregate, hash)
);
CREATE INDEX document_blob_hash ON document_blob (hash, tenant);

-- A row is the text of one version; 0 is that of the document alone.
CREATE TABLE document_text (
  aggregate BYTEA NOT NULL,
  version BIGINT NOT NULL CHECK (version BETWEEN 0 AND 999),
  words TSVECTOR NOT NULL,
  PRIMARY KEY (aggregate, version)
);
CREATE INDEX document_text_words ON document_text USING gin (words);
