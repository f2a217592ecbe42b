"""How a request reaches GLEIF: over HTTP, or from a folder of recordings that answers in the same way."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Protocol, Self

import msgspec

from casework.gleif.recordings import Recordings

TIMEOUT_SECONDS = 10.0
ACCEPT = "application/vnd.api+json"


class Answer(msgspec.Struct, frozen=True):
    """A response, whole."""

    status: int
    body: bytes
    retry_after: str = ""


class Unreachable(Exception):
    """No answer came: refused, reset or too late."""


class Transport(Protocol):
    """Fetches one target below the API's address."""

    async def get(self, target: str, parameters: Mapping[str, str]) -> Answer: ...


class HttpTransport:
    """HTTP by httpx, which is imported only when something is really fetched."""

    def __init__(self, address: str, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        self._address, self._timeout = address.rstrip("/"), timeout_seconds
        self._client: Any = None

    async def get(self, target: str, parameters: Mapping[str, str]) -> Answer:
        import httpx  # noqa: PLC0415

        try:
            response = await self._client.get(f"{self._address}/{target}", params=dict(parameters))
        except httpx.TransportError as error:
            raise Unreachable(f"{type(error).__name__}: {error}") from error
        return Answer(response.status_code, response.content, response.headers.get("retry-after", ""))

    async def __aenter__(self) -> Self:
        import httpx  # noqa: PLC0415

        self._client = httpx.AsyncClient(timeout=self._timeout, headers={"Accept": ACCEPT})
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()


class FileTransport:
    """Answers from recordings, without a network."""

    def __init__(self, recordings: Recordings) -> None:
        self._recordings = recordings

    async def get(self, target: str, parameters: Mapping[str, str]) -> Answer:
        status, document = self._recordings.answer(target, parameters)
        return Answer(status, msgspec.json.encode(document))
