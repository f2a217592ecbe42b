"""The Camunda engine: Zeebe moves the tokens of an instance, our worker serves its jobs, and our journal follows.

The tables of types, states and failures are in `docs/decisions/camunda-carrier.md`. Nothing here is imported unless
the engine's url begins with `camunda://`.
"""
