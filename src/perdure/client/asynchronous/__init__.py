"""The client for programs that run on asyncio; the blocking one is written from these files, word by word."""
