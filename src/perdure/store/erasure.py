"""Erasure: the data of a call beyond its payloads: versions of records, dead letters, kept answers.

| data | erasing the call that it belongs to |
|---|---|
| arguments, results, drafts and corrections: payloads of the call | go in the commit of the tombstone |
| versions of records that the call wrote | lose their data afterwards, but for one that is how a record stands now |
| a record that the call deleted | loses its data afterwards |
| dead letters under a key the call waited under, or under its id | are discarded afterwards, without their data |
| answers to repeated requests that name the call | lose their data afterwards: who asks again is told so |
| a message that the call put into the outbox of channels | is removed afterwards, where nobody took it |
| rows of the queue of task results for its tasks | are removed afterwards |
| states of the graphs of its agents | are removed afterwards |

Each part is its own commit and may be repeated: erasing a call again goes on where it stopped, and the audit names
what is left.
"""

from __future__ import annotations

from perdure.kernel.ports import DISCARDED
from perdure.sources import Id, id_text
from perdure.store.checksums import message_sums
from perdure.store.message_waits import Waits
from perdure.store.row_journal import ANSWER, answer_digest, telling

ERASED_STATUS = 410
"""The status of an answer whose data was erased."""
AT_ONCE = 200


class Erasure(Waits):
    """Removes what a tombstone stands for and no payload holds."""

    async def erase_around(self, tenant: str, id: Id, *, is_recent: bool = True) -> None:
        """Erase the data of an erased aggregate beyond its payloads; answers only of one that is `recent`, as they are
        kept for a day."""
        letters = id_text(id)
        await self.driver.write_all([
            ("erase_versions", {"aggregate": id, "nothing": b""}), ("erase_deleted", {"aggregate": id, "nothing": b""}),
            ("erase_outbox_message", {"tenant": tenant, "letters": letters}),
            ("erase_task_results", {"tenant": tenant, "letters": letters}),
            ("erase_agent_checkpoints", {"tenant": tenant, "letters": letters}),
            ("erase_agent_writes", {"tenant": tenant, "letters": letters}),
            ("erase_agent_threads", {"tenant": tenant, "letters": letters}),
        ])  # fmt: skip
        for name, _ in await self.driver.fetch("letters_about", tenant=tenant, aggregate=id, letters=letters):
            row = (await self._whole_message(tenant, name))[0]
            if row is not None:
                closed = row._replace(status=DISCARDED, answer=f"erased with {letters}", body=None)
                await self._tell("mark_message", closed, message_sums(closed), status=DISCARDED)
        if is_recent:
            await self._erase_answers(tenant, letters.encode())

    async def _erase_answers(self, tenant: str, letters: bytes) -> None:
        after = ("", "")
        while True:
            rows = await self.driver.fetch(
                "answers_of", tenant=tenant, after_principal=after[0], after_key=after[1], most=AT_ONCE
            )
            for principal, key, request, _, body, at in rows:
                after = (principal, key)
                if letters in bytes(body):
                    await self._erase_answer(tenant, principal, key, bytes(request), at)
            if len(rows) < AT_ONCE:
                return

    async def _erase_answer(self, tenant: str, principal: str, key: str, request: bytes, at: int) -> None:
        place = {"tenant": tenant, "principal": principal, "key": key, "at": at, "status": ERASED_STATUS}
        digest = answer_digest(tenant, principal, key, request, ERASED_STATUS, b"", at)
        await self.driver.write_all([
            ("erase_answer", {**place, "body": b""}),
            telling(ANSWER, (tenant, principal, key), digest, at, "tell_answer", **place),
        ])  # fmt: skip
