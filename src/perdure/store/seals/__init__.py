"""Seals: signed Merkle roots over the heads that changed, chained one to the next.

A chain of records protects one aggregate against change; only somebody who remembers the heads can tell that
a whole aggregate was removed or its chain written anew. Seals remember them, under a key the database never holds.
"""
