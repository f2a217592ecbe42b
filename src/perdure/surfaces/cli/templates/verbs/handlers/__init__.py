"""The handlers of this project: plain functions, bound to verbs by name."""
