"""The dashboard and the documentation of the API, as they were built into the package."""

from __future__ import annotations

from hashlib import sha256
from html import escape
from mimetypes import guess_type
from pathlib import Path
from typing import Any

import msgspec
from litestar import MediaType, Request, Response, get
from litestar.exceptions import NotFoundException

from perdure.surfaces.http.route_decorators import public

STATIC = Path(__file__).resolve().parent.parent / "static"
HASHED = "assets/"
FOR_EVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"
OURS = ("api", "hooks", "mcp", "health", "ready", "metrics")
"""First words of paths that are never pages."""
PAGES = ("definitions", "inbox", "instances", "runbooks")
"""First words of pages about something whose name may have dots: `/definitions/verbs/kyc.open-case`."""
AnyRequest = Request[Any, Any, Any]

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


@public(get, ["/", "/{path:path}"], include_in_schema=False, media_type=MediaType.HTML)
async def show_page(request: AnyRequest, path: str = "") -> Response[bytes]:
    """A file of the dashboard; for the addresses of its pages, the page that shows them."""
    name = path.lstrip("/")
    files: Files = request.app.state.files
    if name.partition("/")[0] in OURS:
        raise NotFoundException
    found = files.find(name) if name else None
    if found is not None:
        return _served(request, found)
    if name.startswith(HASHED) or ("." in name.rpartition("/")[2] and name.partition("/")[0] not in PAGES):
        raise NotFoundException
    index = files.find("index.html")
    return _served(request, index) if index is not None else Response(NOT_BUILT.encode(), media_type=MediaType.HTML)


@public(get, ["/api/docs", "/api/docs/{path:path}"], include_in_schema=False, media_type=MediaType.HTML)
async def show_documentation(request: AnyRequest, path: str = "") -> Response[bytes]:
    """The API, to be read and tried."""
    files: Files = request.app.state.files
    name = path.lstrip("/")
    found = files.find(f"docs/{name or 'index.html'}")
    if found is not None:
        return _served(request, found)
    if name:
        raise NotFoundException
    return Response(_plain(request.app.openapi_schema.to_schema()).encode(), media_type=MediaType.HTML)


def _served(request: AnyRequest, file: File) -> Response[bytes]:
    headers = {"ETag": file.tag, "Cache-Control": FOR_EVER if file.is_hashed else ASK_AGAIN}
    if request.headers.get("if-none-match") == file.tag:
        return Response(b"", status_code=304, headers=headers, media_type=file.media)
    return Response(file.data, headers=headers, media_type=file.media)


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


ROUTES: tuple[Any, ...] = (show_page, show_documentation)
