"""The command that keeps everything going: timers, retries, work that others left behind."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from perdure.surfaces.cli import output
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import load_project, load_verbs, open_store
from perdure.surfaces.cli.remote_server import only_on_store

if TYPE_CHECKING:
    from perdure.app import Config, Perdure


async def worker(settings: Settings) -> None:
    """Work until stopped (Ctrl-C or SIGTERM); then let running attempts end, and give the lease back."""
    only_on_store(settings, "worker")
    log_to_stderr()
    config = load_project(settings)
    log_as_told(config)
    catalogue = load_verbs(config)
    stopping = asyncio.Event()
    _on_signals(stopping)
    async with AsyncExitStack() as stack:
        perdure = await stack.enter_async_context(open_store(settings, "worker", config, catalogue))
        await _serve_metrics(stack, perdure, config.telemetry.metrics_bind)
        ready = {
            "ready": True, "pid": os.getpid(), "store": shown_url(config.store), "verbs": len(catalogue),
            "lease": perdure.metrics()["lease"],
        }  # fmt: skip
        tell(
            settings,
            ready,
            f"✓ ready: worker {ready['pid']} with {output.counted(len(catalogue), 'verb')} on {ready['store']}",
        )
        settle_memory()
        await stopping.wait()
        output.note(settings, "stopping: letting running attempts end")
    tell(settings, {"ready": False, "stopped": True}, "✓ stopped")


def log_to_stderr() -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")


def log_as_told(config: Config) -> None:
    """As the project says: as text or JSON, with trace, runbook and tenant; else as it is."""
    if config.telemetry.logs:
        from perdure.telemetry import configure_logs

        configure_logs(config.telemetry.logs)


def settle_memory() -> None:
    """A process of ours that stays: what it has loaded stays too, so collections need not look at it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


async def _serve_metrics(stack: AsyncExitStack, perdure: Perdure, bind: str) -> None:
    """A worker serves nothing else: where it is told to, it answers scrapes by itself."""
    if bind:
        from perdure.telemetry.metrics_endpoint import listening

        perdure.runtime.measure()
        await stack.enter_async_context(listening(bind, perdure.runtime.scrape))


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


COMMANDS = {"worker": worker}
