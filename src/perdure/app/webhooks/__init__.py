"""Webhooks: receipt of signed messages and dispatch to subscribers."""
