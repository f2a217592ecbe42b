"""The store on one SQLite file: one writer thread, group commit, readers beside it."""
