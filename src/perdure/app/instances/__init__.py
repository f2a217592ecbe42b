"""Instances: views, history and replay to any record of the journal."""
