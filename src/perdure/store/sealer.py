"""Placeholder until seals arrive."""


class Sealer:
    async def run(self) -> None: ...
