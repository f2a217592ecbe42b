"""Content of an upload as it comes: the body itself, or the file of a form."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import NamedTuple
from urllib.parse import unquote

from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.problem_details import RefusedRequest

MOST_HEAD = 8192
"""Bytes of the headers of a form's part."""
FORM = "multipart/form-data"
_BOUNDARY = re.compile(r'boundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))', re.IGNORECASE)
_NAME = re.compile(r'filename\*?=(?:"((?:[^"\\\r\n]|\\.)*)"|([^;\s]*))', re.IGNORECASE)


class Upload(NamedTuple):
    """Content with what its sender says of it."""

    content: AsyncIterator[bytes]
    media_type: str
    file_name: str


async def upload_of(request: JsonRequest) -> Upload:
    """The upload that a request carries: of a form the first part that is a file."""
    said = request.header(b"content-type") or ""
    pieces = request.stream()
    if said.partition(";")[0].strip().lower() != FORM:
        name = _file_name(request.header(b"content-disposition") or "")
        return Upload(pieces, said.partition(";")[0].strip().lower(), name)
    found = _BOUNDARY.search(said)
    if found is None:
        raise RefusedRequest(400, "request.malformed", "The form does not say how its parts are told apart.")
    return await _Form(pieces, (found[1] or found[2]).encode("latin-1")).first_file()


class _Form:
    """Reads a form part by part; never more than a piece and a boundary is held."""

    def __init__(self, pieces: AsyncIterator[bytes], boundary: bytes) -> None:
        self._pieces = pieces
        self._mark = b"\r\n--" + boundary
        self._held = b"\r\n"  # the first boundary has no line before it

    async def first_file(self) -> Upload:
        await self._skip()
        while True:
            head = await self._head()
            if head is None:
                hint = "Send it as a part with a file name."
                raise RefusedRequest(422, "request.invalid", "The form holds no file.", hint)
            disposition = head.get("content-disposition", "")
            if "filename" in disposition.lower() and (name := _file_name(disposition)):
                return Upload(self._body(), head.get("content-type", "").lower(), name)
            await self._skip()  # a field, or an input in which no file was chosen

    async def _more(self) -> None:
        try:
            self._held += await anext(self._pieces)
        except StopAsyncIteration:
            raise RefusedRequest(400, "request.malformed", "The form ends in the middle of a part.") from None

    async def _skip(self) -> None:
        async for _ in self._body():
            pass

    async def _body(self) -> AsyncIterator[bytes]:
        """The bytes up to the next boundary, which is taken away."""
        while (place := self._held.find(self._mark)) < 0:
            sure = max(0, len(self._held) - len(self._mark) + 1)
            if sure:
                yield self._held[:sure]
                self._held = self._held[sure:]
            await self._more()
        if place:
            yield self._held[:place]
        self._held = self._held[place + len(self._mark) :]

    async def _head(self) -> dict[str, str] | None:
        """The headers of the next part; None behind the last one."""
        while len(self._held) < 2:
            await self._more()
        if self._held.startswith(b"--"):
            return None
        while (end := self._held.find(b"\r\n\r\n")) < 0:
            if len(self._held) > MOST_HEAD:
                raise RefusedRequest(400, "request.malformed", "The headers of a part of the form are too long.")
            await self._more()
        lines, self._held = self._held[:end].decode("utf-8", "replace").split("\r\n"), self._held[end + 4 :]
        pairs = (line.partition(":") for line in lines if ":" in line)
        return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _file_name(disposition: str) -> str:
    found = _NAME.search(disposition)
    if found is None:
        return ""
    text = found[1] if found[1] is not None else found[2]
    return unquote(text.partition("''")[2] or text) if "filename*" in disposition.lower() else text.replace('\\"', '"')
