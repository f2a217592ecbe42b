"""Blobs: content outside the database, addressed by its hash, in a local folder or in an object store."""
