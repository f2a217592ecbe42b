"""The small office of papers that pages are tried on: clients that are taken on, and what they hand in."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

from tests.acceptance.browser.server import Server

PAPERS = Path(__file__).resolve().parent / "papers"
SETTINGS = "server: {authentication: [keys]}\n"
PDF = b"%PDF-1.7\n1 0 obj <<>> endobj\n" + b"x" * 300 + b"\ntrailer <<>>\n%%EOF\n"


def picture(width: int = 240, height: int = 150, shade: int = 120) -> bytes:
    """A PNG that browsers can draw: stripes in a shade."""
    rows = b"".join(b"\0" + bytes([shade, (row * 3) % 255, 200] * width) for row in range(height))

    def chunk(name: bytes, data: bytes) -> bytes:
        body = name + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    )  # fmt: skip


def opened_office(server: Server) -> None:
    """Sign in as the head of the office and deploy its lifecycle."""
    server.sign_in(server.make_key("ada", "admin", "compliance"))
    server.post("/lifecycle-definitions", {"yaml": (PAPERS / "onboarding.yaml").read_text("utf-8")})


def clerk(server: Server) -> str:
    """The key of somebody who hands papers in and takes clients on, and decides nothing."""
    return server.make_key("olga", "operator")


def officer(server: Server) -> str:
    """The key of somebody of compliance, who decides."""
    return server.make_key("rita", "reviewer", "compliance")


def taken_on(server: Server, client: str) -> str:
    """Begin the onboarding of a client; the instance."""
    begun = server.post("/lifecycles", {"lifecycle": "onboarding", "subject": client})
    id: str = begun["instance"]["id"]
    return id


def handed_in(server: Server, client: str, *contents: bytes, type: str = "passport", **data: Any) -> str:
    """A document with a version for each content, handed in by the clerk."""
    headers = {"Authorization": f"Bearer {clerk(server)}"}
    made = server.api.post("/api/documents", json={"type": type, "subject": client}, headers=headers).json()
    for number, content in enumerate(contents, 1):
        stored = server.api.post("/api/blobs", content=content, headers=headers).json()
        body: dict[str, Any] = {"blob": stored["blob"], "name": f"page {number}.png", "data": None}
        if data:
            body["data"] = {**data, "number": f"P-{number}"}
        answer = server.api.post(f"/api/documents/{made['id']}/versions", json=body, headers=headers)
        assert answer.is_success, answer.text
    id: str = made["id"]
    return id
