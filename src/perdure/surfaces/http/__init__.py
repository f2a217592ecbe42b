"""The HTTP surface: the same operations as every other surface, for programs, browsers and agents.

| a request meets | where | refusals |
|---|---|---|
| the middleware: host, origin, drain, headers | `middleware.py` | 400, 403, 503 |
| the endpoint of its path and method | `router.py` | 404, 405 |
| its principal, who must be allowed the endpoint's operation | `credentials.py` | 401, 403, 429 |
| an answer given before under the same key | `idempotency.py` | 409, 422 |
| its fields in path, query and body | `request_fields.py` | 400, 404, 413, 415, 422 |
| the operation itself, in `perdure.app` | `operation_routes.py`, `routes/*` | by the code of the rejection |

Every refusal has one shape (`problem_details.py`). An application with an endpoint without an operation is not made.
"""
