"""A folder as outbox: one file per message, named by its effect id, there whole or not at all."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import msgspec

from perdure.channels.channel import RequestMessage, masked_text
from perdure.errors import Transient

_EFFECT = re.compile(r"[0-9a-z]{26}")


class FileChannel:
    """Writes `<effect id>.json`. A message that is written again is the same file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def fault(self, to: str) -> str:
        return ""

    def masked(self, to: str) -> str:
        return masked_text(to)

    async def send(self, message: RequestMessage) -> None:
        assert _EFFECT.fullmatch(message.effect_id)
        data = msgspec.json.encode(message.body())
        try:
            await asyncio.to_thread(self._write, message.effect_id, data)
        except OSError as error:
            raise Transient(f"The outbox cannot be written: {error.strerror or type(error).__name__}.") from error

    def _write(self, effect_id: str, data: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        hidden, target = self._folder / f".{effect_id}.part", self._folder / f"{effect_id}.json"
        with hidden.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        hidden.replace(target)
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    async def close(self) -> None:
        return None
