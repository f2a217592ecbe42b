"""The demonstration in somebody's own hands: the project, a worker beside it, and the conversation."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from perdure.demo.case_scene import begin_worker
from perdure.demo.command_runner import COMMAND, REQUESTER, BrokenPromise, Stage
from perdure.demo.example_project import begin
from perdure.demo.research_scene import GROUPS, record

CARD = """
You are ana, who takes clients on. Say what you want, one line at a time:

  start kyc for Nordlys Capital     two entities have that name; you are asked which
  run                               nothing happens before you say so
  status   why   options   help     where it stands, and what you can do

In another terminal, in the folder above, somebody else may answer what waits:

  perdure tasks list
  perdure tasks complete KEY --as rita --group compliance

kill -9 the worker whenever you like and start another with 'perdure worker &'; 'quit' ends it here.
"""


def play(folder: Path | None) -> int:
    """Begin in a folder, or go on in it; the conversation has the terminal until it ends."""
    place = folder or Path(tempfile.mkdtemp(prefix="perdure-demo-"))
    is_new = not (place / "perdure.yaml").exists()
    if is_new:
        begin(place)
    stage = Stage(place)
    try:
        stage.say(f"The project is in {place} and stays there.", "bold")
        begin_worker(stage)
        if is_new:
            record(stage, GROUPS)
        stage.say(CARD, "")
        environment = stage.environment(REQUESTER)
        del environment["COLUMNS"]  # the terminal is theirs
        return subprocess.run([*COMMAND, "repl"], cwd=place, env=environment, check=False).returncode
    except BrokenPromise as broken:
        stage.say(f"✗ {broken}", "bold red")
        return 1
    finally:
        stage.close()
