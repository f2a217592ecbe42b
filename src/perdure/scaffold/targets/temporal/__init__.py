"""A Python project for Temporal's SDK."""
