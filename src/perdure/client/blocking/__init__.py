"""The client for programs that block: written from the one for asyncio by `python -m tests.client.generate`."""
