"""Projects written from models: bytes, checks, and runs on a real server."""
