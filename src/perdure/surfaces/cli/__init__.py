"""The command line: every operation of the platform, for people and, with `--json`, for machines."""

from __future__ import annotations

import sys


def main() -> None:
    """The `perdure` command."""
    from perdure.surfaces.cli.application import run

    sys.exit(run(sys.argv[1:]))
