"""The command that keeps everything going: timers, retries, work that others left behind."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.options import Settings, command
from perdure.surfaces.cli.project import load_project, load_verbs, open_store
from perdure.telemetry import configure_logs


def register(app: typer.Typer) -> None:
    """Add this command."""
    command(app, "worker", "Running")(worker)


async def worker(settings: Settings) -> None:
    """Work until stopped (Ctrl-C or SIGTERM); then let running attempts end, and give the lease back."""
    log_to_stderr()
    config = load_project(settings)
    configure_logs(config.telemetry.logs)
    catalogue = load_verbs(config)
    stopping = asyncio.Event()
    _on_signals(stopping)
    async with open_store(settings, "worker", config, catalogue) as perdure:
        ready = {
            "ready": True, "pid": os.getpid(), "store": shown_url(config.store), "verbs": len(catalogue),
            "lease": perdure.metrics()["lease"],
        }  # fmt: skip
        tell(
            settings,
            ready,
            f"✓ ready: worker {ready['pid']} with {output.counted(len(catalogue), 'verb')} on {ready['store']}",
        )
        await stopping.wait()
        output.note(settings, "stopping: letting running attempts end")
    tell(settings, {"ready": False, "stopped": True}, "✓ stopped")


def log_to_stderr() -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")


def tell(settings: Settings, value: object, text: str) -> None:
    if settings.json:
        output.line(value)
    else:
        output.console().print(text, soft_wrap=True)
        sys.stdout.flush()


def _on_signals(stopping: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)

    def stop() -> None:
        stopping.set()
        for each in signals:
            loop.remove_signal_handler(each)  # whoever asks twice does not want to wait

    for each in signals:
        loop.add_signal_handler(each, stop)


def shown_url(url: str) -> str:
    """A store's url without its password."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    if not parts.password:
        return url
    return parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", ":…@")).geturl()
