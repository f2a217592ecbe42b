"""The store: all ports with one transaction, on SQLite or Postgres, behind one set of named queries."""
