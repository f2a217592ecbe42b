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
SHOWN = b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"
"""Content that a page of ours shows in a frame."""
PDF = "application/pdf"
SHOWN_PDF = SHOWN + b"; object-src 'self'"
"""The viewers of Chrome and Safari show nothing under `sandbox`; they keep a PDF away from the page by themselves."""


class ContentResponse:
    """Sends the parts of a blob. What is found damaged before the first part is refused as any request."""

    def __init__(self, first: bytes, rest: AsyncIterator[bytes], download: Download, *, is_shown: bool = False) -> None:
        self._first, self._rest = first, rest
        is_safe = download.blob.media_type in SAFE_TO_SHOW
        media = download.blob.media_type if is_safe else OCTETS
        self._headers = [
            (b"content-type", media.encode()),
            (b"content-length", b"%d" % download.blob.size),
            (b"cache-control", b"no-store"),
            *(_shown(media) if is_shown and is_safe else _attached(download.name)),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self._headers})
        await send({"type": "http.response.body", "body": self._first, "more_body": True})
        async for part in self._rest:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def content_response(request: JsonRequest, download: Download, *, is_shown: bool = False) -> ContentResponse:
    """The answer of a download; its first part is read, and so checked, before anything is sent."""
    first = await anext(download.content)
    return ContentResponse(first, download.content, download, is_shown=is_shown)


def _attached(name: str) -> list[tuple[bytes, bytes]]:
    return [(b"content-disposition", _disposition(name).encode("ascii")), (b"content-security-policy", POLICY)]


def _shown(media: str) -> list[tuple[bytes, bytes]]:
    """Headers of an image or a PDF in a frame of our own pages, and of nobody else's."""
    return [
        (b"content-disposition", b"inline"),
        (b"content-security-policy", SHOWN_PDF if media == PDF else SHOWN + b"; sandbox"),
        (b"x-frame-options", b"SAMEORIGIN"),
    ]


def _disposition(name: str) -> str:
    shown = name or "document"
    plain = "".join(letter if letter.isascii() and letter not in '"\\' else "_" for letter in shown)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(shown, safe='')}"
