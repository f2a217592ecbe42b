"""Coverage-guided fuzzing of every parser and loader: `python -m tests.fuzz TARGET --seconds N`."""
