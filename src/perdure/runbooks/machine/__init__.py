"""The runbook machine: commands, entries, state, decisions and their application."""
