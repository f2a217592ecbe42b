"""Agents at work: asked within their budget, metered, and their answers read as data."""
