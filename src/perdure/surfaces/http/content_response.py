"""Content as an answer: an attachment of a safe type, sent part by part as each is checked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import quote

from perdure.app.operations.documents import Download
from perdure.blobs.media_types import OCTETS, SAFE_TO_SHOW
from perdure.surfaces.http.asgi import Receive, Scope, Send
from perdure.surfaces.http.json_request import JsonRequest

POLICY = b"default-src 'none'; sandbox"
"""Content that others handed in runs nothing and loads nothing, wherever it is opened."""


class ContentResponse:
    """Sends the parts of a blob. What is found damaged before the first part is refused as any request."""

    def __init__(self, first: bytes, rest: AsyncIterator[bytes], download: Download) -> None:
        self._first, self._rest = first, rest
        media = download.blob.media_type if download.blob.media_type in SAFE_TO_SHOW else OCTETS
        self._headers = [
            (b"content-type", media.encode()),
            (b"content-length", b"%d" % download.blob.size),
            (b"content-disposition", _disposition(download.name).encode("ascii")),
            (b"content-security-policy", POLICY),
            (b"cache-control", b"no-store"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self._headers})
        await send({"type": "http.response.body", "body": self._first, "more_body": True})
        async for part in self._rest:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def content_response(request: JsonRequest, download: Download) -> ContentResponse:
    """The answer of a download; its first part is read, and so checked, before anything is sent."""
    first = await anext(download.content)
    return ContentResponse(first, download.content, download)


def _disposition(name: str) -> str:
    shown = name or "document"
    plain = "".join(letter if letter.isascii() and letter not in '"\\' else "_" for letter in shown)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(shown, safe='')}"
