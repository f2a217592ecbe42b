"""The command line: every operation of the platform, for people and, with `--json`, for machines."""

from __future__ import annotations

import gc
import io
import os
import sys

from perdure.surfaces.cli.exit_codes import INVALID

COMPLETING = "_PERDURE_COMPLETE"
"""The variable by which a shell asks for completions."""


def main() -> None:
    """The `perdure` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal of few letters is no reason to fail after the work
    try:
        sys.exit(run(sys.argv[1:]))
    finally:
        gc.freeze()  # all that is left goes with the process: nobody waits until it was looked through


def run(words: list[str]) -> int:
    """Run one line and return its exit code."""
    if words in ([], ["--help"], ["-h"]) and COMPLETING not in os.environ:
        from perdure.surfaces.cli.root_help import print_root_help

        print_root_help()
        return 0 if words else INVALID
    from perdure.surfaces.cli import application

    return application.run(words)
