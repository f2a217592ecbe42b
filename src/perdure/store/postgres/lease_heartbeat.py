"""The heartbeat of a lease on a blocking connection of its own, for a thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import Connection

from perdure.sources import Micros
from perdure.store.postgres.connection import connect_blocking, translated


class Heartbeat:
    """Says None only when the row says that the lease was taken away; a server that is away raises."""

    def __init__(
        self, url: str, place: str, prepare_session: str, beat: str, moment: Callable[[], Micros | None]
    ) -> None:
        self._url, self._place, self._moment = url, place, moment
        self._prepare_session, self._beat = prepare_session, beat
        self._connection: Connection[Any] | None = None

    def extend(self, number: int, duration: Micros) -> Micros | None:
        try:
            return self._extend(number, duration)
        except psycopg.OperationalError as error:
            self.close()
            raise translated(error, self._place) from error

    def _extend(self, number: int, duration: Micros) -> Micros | None:
        if self._connection is not None:
            try:
                return self._asked(self._connection, number, duration)
            except psycopg.OperationalError:
                self.close()
        self._connection = connect_blocking(self._url, self._place, self._prepare_session)
        return self._asked(self._connection, number, duration)

    def _asked(self, connection: Connection[Any], number: int, duration: Micros) -> Micros | None:
        parameters = {"number": number, "now": self._moment(), "duration": duration}
        row = connection.execute(self._beat, parameters).fetchone()
        return row["lease_until"] - duration if row is not None else None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
