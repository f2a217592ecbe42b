"""Lifecycles as the platform offers them: facts, resolutions, status and operations."""
