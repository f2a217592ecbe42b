"""Instances of the embedded engine: state, payloads, followers and everything that changes them."""
