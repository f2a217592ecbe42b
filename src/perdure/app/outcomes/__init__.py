"""Outcome events: what happened to each step, in one vocabulary, whatever carries the step."""
