"""Conditions: one grammar in two spellings, typed against the flag contract."""
