"""A service that speaks as GLEIF does, on a real socket: it answers from the example's recordings, or fails as told."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit

from casework.gleif.recordings import Recordings
from casework.sources import DATA

Fault = tuple[int, dict[str, str], bytes]
HANG_UP = (0, dict[str, str](), b"")


class Service:
    """Counts what it is asked; `faults` are given out first, one for each request."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}/api/v1"
        self.faults: deque[Fault] = deque()
        self.asked: list[str] = []
        self.accepts: set[str] = set()


@contextmanager
def serving() -> Iterator[Service]:
    recordings = Recordings(DATA / "gleif")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            service.asked.append(self.path.removeprefix("/api/v1/"))
            service.accepts.add(self.headers["Accept"])
            if service.faults:
                self._answer(*service.faults.popleft())
                return
            parts = urlsplit(self.path)
            status, document = recordings.answer(
                unquote(parts.path).removeprefix("/api/v1/"), dict(parse_qsl(parts.query))
            )
            self._answer(status, {}, json.dumps(document).encode())

        def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            if not status:
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            return None

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        service = Service(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()
