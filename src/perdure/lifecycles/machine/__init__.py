"""The lifecycle machine: pure decisions over facts that somebody else has read."""
