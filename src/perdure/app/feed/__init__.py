"""The feed of a tenant, read from one tail of the journal."""
