"""The page of a client who was asked for a document: plain words, no sign-in, no way into the dashboard."""
