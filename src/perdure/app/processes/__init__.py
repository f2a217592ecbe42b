"""Processes: models of a project, contracts, lint, proof, review and deployment."""
