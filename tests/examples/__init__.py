"""The examples work as they say."""
