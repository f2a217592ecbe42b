"""The HTTP sender: one signed message to a checked address, no redirects, bounded time and answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from perdure.channels.egress_policy import Target, at_address

if TYPE_CHECKING:
    import httpx

SEND_SECONDS = 20.0
MAX_ANSWER_BYTES = 4096


class Answer(NamedTuple):
    """What came of it: a status, or 0 and why there is none. `after` is how long the receiver asks us to wait."""

    status: int
    reason: str = ""
    after: float | None = None

    @property
    def is_taken(self) -> bool:
        return 200 <= self.status < 300


class Sender:
    """Connections to receivers, kept open between messages. Close it."""

    def __init__(self) -> None:
        import httpx  # noqa: PLC0415  (most processes send nothing)

        self._client: httpx.AsyncClient = httpx.AsyncClient(
            timeout=SEND_SECONDS, follow_redirects=False, trust_env=False, limits=httpx.Limits(max_connections=64)
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def send(self, target: Target, headers: dict[str, str], body: bytes) -> Answer:
        """POST to the address that was checked, under the name it was asked for by."""
        import httpx  # noqa: PLC0415

        request = self._client.build_request(
            "POST", at_address(target), content=body,
            headers={**headers, "host": urlsplit(target.url).netloc, "content-type": "application/json"},
            extensions={"sni_hostname": target.host},
        )  # fmt: skip
        try:
            response = await self._client.send(request, stream=True)
            try:
                return Answer(response.status_code, await _told(response), _after(response.headers.get("retry-after")))
            finally:
                await response.aclose()
        except (httpx.HTTPError, OSError, ValueError) as error:
            return Answer(0, f"{type(error).__name__}: {error}"[:300])


async def _told(response: httpx.Response) -> str:
    """The first bytes of what the receiver says, for whoever looks into a failure."""
    if response.is_success:
        return ""
    found = b""
    async for chunk in response.aiter_bytes(MAX_ANSWER_BYTES):
        found += chunk
        break
    return f"{response.status_code} {found[:200].decode('utf-8', 'replace')}".strip()


def _after(text: str | None) -> float | None:
    """Seconds, as `Retry-After` mostly has them; dates are left to our own pauses."""
    return min(float(text), 3600.0) if text is not None and text.isascii() and text.isdigit() else None
