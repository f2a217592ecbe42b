"""Verbs: what can be asked for, declared and bound to what does it."""
