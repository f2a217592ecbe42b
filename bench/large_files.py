"""A large file handed in and read back: the memory that it takes and how fast it is, in a folder and in a bucket.

`python -m bench.large_files` measures a folder; `--s3` measures a bucket of a server of its own as well.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator

from perdure.app import Perdure
from perdure.testing.s3_service import S3Service
from perdure.verbs import load_text

GIGABYTE = 10**9
PIECE = 256 * 1024
BOUND_MB = 64
DEFINITIONS = "documents: {film: {content: {media_types: [application/octet-stream], max_bytes: 4000000000}}}"


def main() -> None:
    """Measure each place in a process of its own, whose memory nothing else has used."""
    parser = argparse.ArgumentParser(prog="python -m bench.large_files", description=__doc__)
    parser.add_argument("--bytes", type=int, default=GIGABYTE, help="the size of the file")
    parser.add_argument("--s3", action="store_true", help="measure a bucket as well")
    parser.add_argument("--place", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.place:
        print(json.dumps(asyncio.run(_measured(options.place, options.bytes))))
        return
    with tempfile.TemporaryDirectory(prefix="perdure-bench-") as folder:
        _report("folder", f"{folder}/blobs", options.bytes)
    if options.s3:
        service = S3Service()
        try:
            _report("bucket", service.address(), options.bytes)
        finally:
            service.stop()


def _report(name: str, place: str, size: int) -> None:
    command = [sys.executable, "-m", "bench.large_files", "--bytes", str(size), "--place", place]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    is_within = "within" if found["grown_mb"] <= BOUND_MB else "ABOVE"
    print(
        f"{name}: {size:,} bytes up {found['up_mb_s']:.0f} MB/s, handed in after {found['seen_s']:.1f} s, down "
        f"{found['down_mb_s']:.0f} MB/s, memory grew by {found['grown_mb']:.0f} MB, {is_within} {BOUND_MB} MB"
    )


async def _measured(place: str, size: int) -> dict[str, float]:
    async with Perdure.open("sqlite://", definitions=load_text(DEFINITIONS), blobs=place) as perdure:
        await perdure.documents.upload(b"\0first")
        before, begun = _resident(), time.perf_counter()
        blob = await perdure.documents.upload(_content(size))
        sent = time.perf_counter()
        made = await perdure.documents.create("film", "client", blob=blob.blob)
        seen, received = time.perf_counter(), 0
        async for part in perdure.documents.download(made.id, 1):
            received += len(part)
        done = time.perf_counter()
    assert received == size
    return {
        "up_mb_s": size / 1e6 / (sent - begun), "seen_s": seen - sent, "down_mb_s": size / 1e6 / (done - seen),
        "grown_mb": _resident() - before,
    }  # fmt: skip


def _resident() -> float:
    """The most memory that this process ever had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def _content(size: int) -> AsyncIterator[bytes]:
    sent = 0
    while sent < size:
        data = sent.to_bytes(8, "big") * (PIECE // 8)
        yield data[: size - sent]
        sent += len(data)


if __name__ == "__main__":
    main()
