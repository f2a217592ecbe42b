"""The heartbeat of a lease on a blocking connection of its own, for a thread."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import Connection

from perdure.store.postgres.connection import connect_blocking, translated


class Heartbeat:
    """Says False only when the row says that the lease was taken away; a server that is away raises."""

    def __init__(self, url: str, place: str, prepare_session: str, beat: str) -> None:
        self._url, self._place = url, place
        self._prepare_session, self._beat = prepare_session, beat
        self._connection: Connection[Any] | None = None

    def extend(self, number: int, until: int) -> bool:
        try:
            return self._extend(number, until)
        except psycopg.OperationalError as error:
            self.close()
            raise translated(error, self._place) from error

    def _extend(self, number: int, until: int) -> bool:
        parameters = {"number": number, "lease_until": until}
        if self._connection is not None:
            try:
                return self._connection.execute(self._beat, parameters).fetchone() is not None
            except psycopg.OperationalError:
                self.close()
        self._connection = connect_blocking(self._url, self._place, self._prepare_session)
        return self._connection.execute(self._beat, parameters).fetchone() is not None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
