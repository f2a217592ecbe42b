"""The audit of a store and the key that seals it."""
