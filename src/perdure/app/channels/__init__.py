"""Channels of a project: opened when they are first used."""
