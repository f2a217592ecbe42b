"""Backups of Postgres databases with its own programs, pg_dump and pg_restore."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from perdure.errors import RejectedError, Rejection, StoreSettingError
from perdure.store.audit.store_verification import Progress
from perdure.store.backup.backup_refusals import (
    EMPTY_BUT_FOR,
    damaged_backup,
    exists_already,
    make_ready,
    not_empty,
    refuse_live,
)
from perdure.store.backup.sqlite_backup import publish
from perdure.store.driver_selection import open_driver
from perdure.store.postgres.connection import place_of, translated
from perdure.store.queries import load_queries

SHOWN_OUTPUT = 2000


async def dump(url: str, destination: Path, tell: Progress) -> None:
    program = _find("pg_dump", url)
    if await asyncio.to_thread(destination.exists):
        raise exists_already(destination)
    handle, name = await asyncio.to_thread(
        tempfile.mkstemp, prefix=f".{destination.name}.", suffix=".part", dir=destination.parent
    )
    os.close(handle)
    temporary = Path(name)
    try:
        tell("pg_dump", 0, 1)
        code, output = await _run(
            program, url, "--format=custom", "--no-owner", "--no-privileges", f"--file={temporary}"
        )
        if code:
            raise StoreSettingError("back up", "store", place_of(url), f"pg_dump said: {output[-SHOWN_OUTPUT:]}")
        code, output = await _run(_find("pg_restore", url), "", "--list", str(temporary))
        if code or "TABLE DATA" not in output:
            raise StoreSettingError(
                "back up", "store", place_of(url), f"the dump cannot be read: {output[-SHOWN_OUTPUT:]}"
            )
        await asyncio.to_thread(publish, temporary, destination)
        tell("pg_dump", 1, 1)
    finally:
        await asyncio.to_thread(temporary.unlink, missing_ok=True)


async def undump(source: Path, url: str, force: bool, now: int | None, tell: Progress) -> None:
    program = _find("pg_restore", url)
    if not await asyncio.to_thread(source.is_file):
        raise RejectedError(Rejection("not_found", "restore", "backup", str(source), "there is no such file"))
    queries = load_queries("postgres")
    has_tables = await asyncio.to_thread(_check_target, url, queries, force, now)
    tell("pg_restore", 0, 1)
    clean = ["--clean", "--if-exists"] if has_tables else []
    code, output = await _run(
        program, url, "--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", *clean, str(source)
    )
    if code:
        raise damaged_backup(source, f"pg_restore said: {output[-SHOWN_OUTPUT:]}")
    hint = "The database holds what the backup holds; do not work on it, drop it and take an older backup."
    await make_ready(open_driver(url), source, hint)
    tell("pg_restore", 1, 1)


def _check_target(url: str, queries: Mapping[str, str], force: bool, now: int | None) -> bool:
    """Whether there are tables to replace; raises when they may not be replaced. `now` is given by tests only."""
    try:
        with psycopg.connect(url) as connection:
            tables = [name for (name,) in connection.execute(queries["table_names"])]
            if "worker" in tables:
                refuse_live(connection.execute(queries["live_workers"], {"now": now}).fetchall(), place_of(url))
            kept = [name for name in tables if name not in EMPTY_BUT_FOR]
            is_empty = not any(connection.execute(_first_row(name)).fetchone() for name in kept)
    except psycopg.Error as error:
        raise translated(error, place_of(url)) from error
    if not is_empty and not force:
        raise not_empty(place_of(url))
    return bool(tables)


def _first_row(table: str) -> sql.Composed:
    return sql.SQL("SELECT 1 FROM {} LIMIT 1").format(sql.Identifier(table))


def _find(program: str, url: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise StoreSettingError(
            "back up or restore", "store", place_of(url), f"there is no program '{program}' on PATH",
            "Install the client programs of your Postgres version.",
        )  # fmt: skip
    return found


async def _run(program: str, url: str, *arguments: str) -> tuple[int, str]:
    """Run one of the programs; the password goes by the environment, where others cannot see it."""
    environment, where = dict(os.environ), []
    if url:
        known: dict[str, Any] = dict(conninfo_to_dict(url))
        password = known.pop("password", None)
        if password:
            environment["PGPASSWORD"] = str(password)
        where = [f"--dbname={make_conninfo(**known)}"]
    process = await asyncio.create_subprocess_exec(
        program, *where, *arguments, env=environment, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    try:
        output, _ = await process.communicate()
    except BaseException:
        process.kill()
        await process.wait()
        raise
    assert process.returncode is not None
    return process.returncode, output.decode(errors="replace").strip()
