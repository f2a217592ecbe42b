"""The REST client of GitHub: conditional requests, and a budget that no reading uses up.

| the answer | what follows |
|---|---|
| 2xx | its body |
| 304 | None: nothing has changed, and it cost nothing |
| 404, 410 | `Missing` |
| 403, 429 at a limit | `Transient`, after the time it names; until then readings that can wait are left out |
| 401, 403 without a limit | `Denied`, which may pass: somebody mends the token, or what it may do |
| 5xx, no answer, a broken connection | `Transient` |
| any other | `BusinessError` with what GitHub says |

| of the requests that GitHub grants for an hour are left | readings that can wait |
|---|---|
| more than a tenth | are made |
| a tenth or less | are left out until GitHub counts anew |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from perdure.channels.egress_policy import Egress, at_address
from perdure.errors import BusinessError, RejectedError, Transient
from perdure.sources import SECOND, Micros, Sources

if TYPE_CHECKING:
    import httpx

SECONDS = 20.0
VERSION = "2022-11-28"
MAX_BYTES = 8 * 1024 * 1024
RESERVE = 10
"""The part of the granted requests, one in so many, that is kept for writing."""
MAX_PAUSE = 3600.0
LIMITED = (403, 429)
DENIED = (401, 403)


class Missing(BusinessError):
    """Raised when a thing is not there, or the token may not see it."""


class Denied(Transient):
    """Raised when a token is not taken, or may not do this, until somebody mends it."""


class RestClient:
    """Of one server and one token. Close it."""

    def __init__(self, api: str, token: str, egress: Egress, sources: Sources) -> None:
        import httpx  # noqa: PLC0415  most processes ask nobody

        self._api, self._token, self._egress, self._sources = api, token, egress, sources
        self._client: httpx.AsyncClient = httpx.AsyncClient(timeout=SECONDS, follow_redirects=False, trust_env=False)
        self._tags: dict[str, str] = {}
        self._not_before: Micros = 0

    async def close(self) -> None:
        await self._client.aclose()

    @property
    def may_read(self) -> bool:
        """Whether a reading that can wait is to be made now."""
        return self._sources.now() >= self._not_before

    async def ask(self, method: str, path: str, body: Any = None, *, is_conditional: bool = False) -> Any:
        """The answer to one request; None where it is empty, or nothing has changed since the last such request."""
        headers = {
            "authorization": f"Bearer {self._token}", "accept": "application/vnd.github+json",
            "x-github-api-version": VERSION, "user-agent": "perdure",
        }  # fmt: skip
        known = self._tags.get(path) if is_conditional else None
        if known is not None:
            headers["if-none-match"] = known
        response = await self._sent(method, path, headers, body)
        self._count(response)
        if response.status_code == 304:
            return None
        if response.is_success:
            if is_conditional and (tag := response.headers.get("etag")):
                self._tags[path] = tag
            return msgspec.json.decode(response.content) if response.content else None
        raise self._refusal(response)

    def forget(self, path: str) -> None:
        """Let the next conditional request have a whole answer: the last one was not used to its end."""
        self._tags.pop(path, None)

    async def _sent(self, method: str, path: str, headers: dict[str, str], body: Any) -> httpx.Response:
        import httpx  # noqa: PLC0415

        url = self._api + path
        try:
            target = await self._egress.target(url)
        except RejectedError as error:
            if error.rejection.code == "blocked":
                raise Transient(error.fact) from error
            raise BusinessError("task_channel.address", error.fact) from error
        content = msgspec.json.encode(body) if body is not None else None
        request = self._client.build_request(
            method, at_address(target), content=content, headers={**headers, "host": urlsplit(url).netloc},
            extensions={"sni_hostname": target.host},
        )  # fmt: skip
        try:
            return await self._client.send(request)
        except (httpx.HTTPError, OSError, ValueError, RuntimeError) as error:  # the last when it was closed meanwhile
            raise Transient(f"{urlsplit(url).netloc}: {type(error).__name__}: {error}"[:300]) from error

    def _count(self, response: httpx.Response) -> None:
        limit, left = (_number(response.headers.get(f"x-ratelimit-{name}")) for name in ("limit", "remaining"))
        reset = _number(response.headers.get("x-ratelimit-reset"))
        if limit and left is not None and reset and left * RESERVE <= limit:
            self._not_before = max(self._not_before, reset * SECOND)

    def _refusal(self, response: httpx.Response) -> Exception:
        status, said = response.status_code, _said(response)
        if status in LIMITED and (after := self._pause(response)) is not None:
            self._not_before = max(self._not_before, self._sources.now() + int(after * SECOND))
            return Transient(f"GitHub: {status} {said}", after=after)
        if status in DENIED:
            return Denied(f"GitHub: {status} {said}")
        if status >= 500:
            return Transient(f"GitHub: {status} {said}")
        if status in (404, 410):
            return Missing("task_channel.missing", f"GitHub: {status} {said}")
        return BusinessError("task_channel.refused", f"GitHub: {status} {said}")

    def _pause(self, response: httpx.Response) -> float | None:
        """Seconds until a limit is over; None where none was met."""
        after = _number(response.headers.get("retry-after"))
        if after is not None:
            return min(float(after), MAX_PAUSE)
        if response.headers.get("x-ratelimit-remaining") == "0":
            reset = _number(response.headers.get("x-ratelimit-reset")) or 0
            return min(max(1.0, reset - self._sources.now() / SECOND), MAX_PAUSE)
        return 60.0 if response.status_code == 429 else None


def _said(response: httpx.Response) -> str:
    try:
        told = msgspec.json.decode(response.content[:MAX_BYTES])
        return str(told.get("message", ""))[:200] if isinstance(told, dict) else ""
    except msgspec.DecodeError:
        return ""


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None
