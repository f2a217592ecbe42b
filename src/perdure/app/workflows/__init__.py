"""Workflows of a project: loaded, deployed in every version, started, and read as their variables and executions."""
