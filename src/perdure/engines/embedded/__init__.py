"""The embedded engine: processes on our own kernel and store."""
