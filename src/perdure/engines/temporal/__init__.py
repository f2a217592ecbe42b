"""The Temporal engine: one generic workflow hosts the instance machine of each instance, and our journal follows it.

The tables of types, states and failures are in `docs/decisions/temporal-carrier.md`. Nothing here is imported unless
the engine's url begins with `temporal://`.
"""
