"""The conversation in a terminal: packs, questions, sentences, edits and runs."""
