"""Drafts: edits, readiness and compilation to a plan."""
