"""What was written once is read for ever: golden journals and old database files."""
