"""Lifecycles: the guarded states of a subject, what each requires, and what is asked for when it is missing."""
