"""Media types found in content: by marks at its beginning and its end, never by a name or by what somebody said.

A table of our own, because the signatures of what people hand in as evidence are few and stable: a library of hundreds
of formats finds more, and each one more is a type that nobody asked for.
"""

from __future__ import annotations

from typing import NamedTuple

OCTETS, TEXT, ZIP = "application/octet-stream", "text/plain", "application/zip"
SAFE_TO_SHOW = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"})


class Mark(NamedTuple):
    """Bytes at a place of the head; `end` must stand near the end of whole content."""

    place: int
    begin: bytes
    media_type: str
    end: bytes = b""
    near: int = 1024


MARKS = (
    Mark(0, b"%PDF-", "application/pdf", b"%%EOF"),
    Mark(0, b"\x89PNG\r\n\x1a\n", "image/png", b"IEND\xaeB`\x82"),
    Mark(0, b"\xff\xd8\xff", "image/jpeg", b"\xff\xd9"),
    Mark(0, b"GIF87a", "image/gif", b";"),
    Mark(0, b"GIF89a", "image/gif", b";"),
    Mark(0, b"II*\0", "image/tiff"),
    Mark(0, b"MM\0*", "image/tiff"),
    Mark(8, b"WEBP", "image/webp"),
    Mark(4, b"ftypheic", "image/heic"),
    Mark(4, b"ftypheix", "image/heic"),
    Mark(4, b"ftypmif1", "image/heif"),
    Mark(4, b"ftypavif", "image/avif"),
    Mark(4, b"ftyp", "video/mp4"),
    Mark(0, b"PK\x03\x04", ZIP, b"PK\x05\x06", 66_000),
    Mark(0, b"\x1f\x8b", "application/gzip"),
    Mark(0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    Mark(0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    Mark(0, b"{\\rtf", "application/rtf"),
    Mark(0, b"MZ", "application/x-msdownload"),
    Mark(0, b"\x7fELF", "application/x-executable"),
)
_PACKED = (
    (b"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (b"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    (b"mimetypeapplication/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text"),
    (b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "application/vnd.oasis.opendocument.spreadsheet"),
)
_OLD_OFFICE = frozenset({"application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"})
_PAGE = (b"<!doctype html", b"<html")


class Found(NamedTuple):
    """The media type of content, and whether its end is where it should be."""

    media_type: str
    is_whole: bool = True


def media_type_of(head: bytes, tail: bytes) -> Found:
    """The media type that content shows by itself."""
    for mark in MARKS:
        if head.startswith(mark.begin, mark.place):
            is_whole = not mark.end or mark.end in tail[-mark.near :]
            media_type = _packed(head, tail) if mark.media_type == ZIP else mark.media_type
            return Found(media_type, is_whole)
    return Found(_text(head))


def agrees(said: str, found: str) -> bool:
    """Whether content may be what was said of it: texts and old office files have kinds that no mark tells apart."""
    if said in (found, OCTETS):
        return True
    if found == TEXT:
        return said.startswith("text/") and said != "text/html"
    if found in ("application/json", "application/xml"):
        return said.startswith("text/") or said.endswith(("+json", "+xml"))
    if found == "application/x-ole-storage":
        return said in _OLD_OFFICE
    return found == "application/gzip" and said == "application/x-gzip"


def _packed(head: bytes, tail: bytes) -> str:
    return next((media_type for mark, media_type in _PACKED if mark in head or mark in tail), ZIP)


def _text(head: bytes) -> str:
    if b"\0" in head or not _is_text(head):
        return OCTETS
    begun = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if begun.startswith(_PAGE):
        return "text/html"
    if begun.startswith(b"<svg") or (begun.startswith(b"<?xml") and b"<svg" in begun):
        return "image/svg+xml"
    if begun.startswith(b"<?xml"):
        return "application/xml"
    return "application/json" if begun.startswith((b"{", b"[")) else TEXT


def _is_text(head: bytes) -> bool:
    """UTF-8 without control characters; the last letter may be cut off."""
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 3 or len(head) < 4:
            return False
        text = head[: error.start].decode("utf-8")
    return all(letter.isprintable() or letter in "\t\r\n\f" for letter in text)
