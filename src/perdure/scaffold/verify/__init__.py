"""The check that a model, its policies and the code of its project still agree."""
