"""The facade: one set of methods over the table of operations, performed here or on a server."""
