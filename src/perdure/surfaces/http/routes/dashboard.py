"""The dashboard and the documentation of the API, as they were built into the package."""

from __future__ import annotations

from hashlib import sha256
from html import escape
from mimetypes import guess_type
from pathlib import Path
from typing import Any

import msgspec

from perdure.surfaces.http.endpoint import public
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.json_response import ASK_AGAIN, HTML, Response, tagged
from perdure.surfaces.http.problem_details import unknown_path

STATIC = Path(__file__).resolve().parent.parent / "static"
HASHED = "assets/"
FOR_EVER = "public, max-age=31536000, immutable"
OURS = ("api", "hooks", "mcp", "health", "ready", "metrics")
"""First words of paths that are never pages."""
PAGES = ("definitions", "documents", "inbox", "instances", "lifecycles", "runbooks")
"""First words of pages about something whose name may have dots: `/definitions/verbs/kyc.open-case`."""

NOT_BUILT = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Perdure</title></head><body>
<h1>Perdure is running</h1>
<p>The dashboard is not built into this package. In a clone of the repository, run <code>make dashboard</code> and start
the server again. The API is here all the same: <a href="/api/docs">its documentation</a>.</p></body></html>"""


class File(msgspec.Struct, frozen=True):
    """A file as it is served."""

    data: bytes
    media: str
    tag: str
    is_hashed: bool


class Files:
    """Everything under a folder, read once: a path that is not among its names leads nowhere, however it is written."""

    def __init__(self, folder: Path = STATIC) -> None:
        self._files = {
            path.relative_to(folder).as_posix(): _file(path, path.relative_to(folder).as_posix())
            for path in (sorted(folder.rglob("*")) if folder.is_dir() else ())
            if path.is_file() and not path.is_symlink()
        }

    def find(self, name: str) -> File | None:
        return self._files.get(name)


def _file(path: Path, name: str) -> File:
    data = path.read_bytes()
    media = guess_type(name)[0] or "application/octet-stream"
    if media == "text/javascript" or media.startswith("text/"):
        media += "; charset=utf-8"
    return File(data, media, f'"{sha256(data).hexdigest()[:20]}"', name.startswith(HASHED))


@public("GET", ["/", "/{path:path}"])
async def show_page(request: JsonRequest) -> Response:
    """A file of the dashboard; for the addresses of its pages, the page that shows them."""
    name, files = request.words.get("path", ""), request.state.files
    if name.partition("/")[0] in OURS:
        raise unknown_path()
    found = files.find(name) if name else None
    if found is not None:
        return _served(request, found)
    if name.startswith(HASHED) or ("." in name.rpartition("/")[2] and name.partition("/")[0] not in PAGES):
        raise unknown_path()
    index = files.find("index.html")
    return _served(request, index) if index is not None else Response(NOT_BUILT.encode(), media=HTML)


@public("GET", ["/api/docs", "/api/docs/{path:path}"])
async def show_documentation(request: JsonRequest) -> Response:
    """The API, to be read and tried."""
    name, files = request.words.get("path", ""), request.state.files
    found = files.find(f"docs/{name or 'index.html'}")
    if found is not None:
        return _served(request, found)
    if name:
        raise unknown_path()
    return Response(_plain(request.state.document.value).encode(), media=HTML)


def _served(request: JsonRequest, file: File) -> Response:
    return tagged(request, file.data, file.media, file.tag, FOR_EVER if file.is_hashed else ASK_AGAIN)


def _plain(description: dict[str, Any]) -> str:
    """Every operation on one page, without anything that runs."""
    rows = [
        f"<h2 id='{escape(told.get('operationId', ''))}'><code>{method.upper()} {escape(path)}</code></h2>"
        f"<p>{escape(told.get('description', ''))}</p>"
        for path, methods in description["paths"].items()
        for method, told in methods.items()
    ]
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Perdure API</title></head><body>"
        f"<h1>Perdure API</h1><p><a href='/api/openapi.json'>openapi.json</a></p>{''.join(rows)}</body></html>"
    )


ENDPOINTS = (show_page, show_documentation)
