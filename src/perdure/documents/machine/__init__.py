"""The machine of documents: pure decisions on versions, their validity and their end."""
