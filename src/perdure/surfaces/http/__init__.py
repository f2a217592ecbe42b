"""The HTTP surface: the same operations as every other surface, for programs, browsers and agents.

| what a request meets | where | when it says no |
|---|---|---|
| the edge: host, drain, size, rate, headers | `edge.py` | 400, 413, 429, 503 |
| who asks | `authenticating.py` | 401 |
| what may be asked (the route's `operation`) | `guarding.py` | 403 |
| asked before under the same key | `repeating.py` | the same answer again; 422 when it is another request |
| the operation itself, in `perdure.app` | `routes/*` | what the rejection says, by one table |

Every refusal is one shape (`problems.py`). A route without an operation is refused when the application is made.
"""
