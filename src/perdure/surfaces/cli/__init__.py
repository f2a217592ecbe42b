"""The command line: every operation of the platform, for people and, with `--json`, for machines."""

from __future__ import annotations

import gc
import io
import sys


def main() -> None:
    """The `perdure` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal of few letters is no reason to fail after the work
    from perdure.surfaces.cli.application import run

    try:
        sys.exit(run(sys.argv[1:]))
    finally:
        gc.freeze()  # all that is left goes with the process: nobody waits until it was looked through
