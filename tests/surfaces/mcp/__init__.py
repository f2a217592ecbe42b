"""Agents over MCP: the official client against the real server."""
