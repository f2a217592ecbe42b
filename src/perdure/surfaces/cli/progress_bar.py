"""A bar for work that takes long, only where somebody watches."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from perdure.surfaces.cli import output
from perdure.surfaces.cli.global_options import Settings

Progress = Callable[[str, int, int], None]


@contextlib.contextmanager
def progress_bar(settings: Settings, title: str, *, counts_bytes: bool = False) -> Iterator[Progress]:
    """What work tells its stage, how much is done and how much there is; silent for machines."""
    if settings.json or not output.console().is_terminal:
        yield lambda stage, done, total: None
        return
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bars

    count = DownloadColumn() if counts_bytes else MofNCompleteColumn()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), count)
    with Bars(*columns, console=output.console(), transient=True) as bars:
        task = bars.add_task(title, total=None)
        yield lambda stage, done, total: bars.update(
            task, description=f"{title} {stage}", completed=done, total=total or None
        )
