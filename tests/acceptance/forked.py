"""A script: an interpreter with the libraries loaded, and nothing of Perdure, that forks for every command."""

from __future__ import annotations

import gc
import importlib
import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

LIBRARIES = (
    "asyncio", "concurrent.futures.thread", "cronsim", "cryptography.hazmat.primitives.serialization", "email.utils",
    "hmac", "importlib.metadata", "importlib.resources.readers", "jsonschema_rs", "msgspec", "orjson", "psycopg",
    "rich.markdown", "rich.panel", "rich.table", "sqlite3", "typer", "typer._click.decorators", "uuid", "yaml",
)  # fmt: skip
CHUNK = 1 << 16


def serve(channel: socket.socket) -> None:
    """Tell for each order the child's id and its exit code; returns in a child that is to run its command."""
    while True:
        taken = receive(channel)
        if taken is None:
            os._exit(0)
        child = os.fork()
        if not child:
            channel.close()
            become(*taken)
            return
        for file in taken[1]:
            os.close(file)
        channel.sendall(b"%d\n" % child)
        _, status = os.waitpid(child, 0)
        channel.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def receive(channel: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """One order and the three files of its command; None when nobody is there any more."""
    text, files, _, _ = socket.recv_fds(channel, CHUNK, 3)
    while text and not text.endswith(b"\n"):
        text += channel.recv(CHUNK)
    return (json.loads(text), files) if text else None


def become(order: dict[str, Any], files: list[int]) -> None:
    """Stand where the command stands: its files, its folder, its environment, its words."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.argv = order["words"]


if __name__ == "__main__":
    # As for the installed program, which lies where no module does.
    sys.path[0] = str(Path(sys.executable).parent)
    for name in LIBRARIES:
        importlib.import_module(name)
    assert not any(name.partition(".")[0] == "perdure" for name in sys.modules)
    gc.freeze()  # what is shared by all children stays where it is
    serve(socket.socket(fileno=int(sys.argv[1])))

    from perdure.surfaces.cli import main

    main()
