"""The LET form of a program: tokens, statements, values and the writer."""
