"""The MCP surface: the same operations as every other surface, as tools for agents.

| what | where |
|---|---|
| the tools, each with its operation, its texts and its shapes | `verbs.py`, `runbooks.py`, `watching.py`, `work.py` |
| all of them | `tools.py` |
| how large an answer may be | `fitting.py` |
| what a refusal looks like | `refusing.py` |
| what does not run before a person agreed | `confirming.py` |
| the protocol, over any transport | `server.py` |
| over stdin and stdout; over HTTP | `stdio.py`, `http.py` |

Only the last three need the package `mcp`.
"""
