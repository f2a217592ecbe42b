"""Runbooks: composition, drafts, confirmation, views and the operations on them."""
