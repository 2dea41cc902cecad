"""Where a fork is unsafe, as on macOS: a fresh interpreter for the judge and each submission.

The zygote stays the process that starts, reaps and kills; it imports no torch then, each process
does. What a forked child would inherit comes as an order in JSON on the command line, where nothing
is secret, and as descriptors. From there on the two ways are one.

Stdlib only: the zygote loads this file by its path, and so does what it starts.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = ("-I", "-S", "-B", "-X", "utf8")  # no site-packages, no environment, no current folder
JUDGE, SUBMISSION = "judge", "submission"

Load = Callable[[str, str], ModuleType]


def spawn(role: str, order: dict[str, Any], descriptors: Iterable[int], wrap: Sequence[str]) -> int:
    """Start a process that runs `main`; its pid. Raises OSError.

    It inherits `descriptors`, by their numbers, and standard error. `wrap` goes before its command.
    """
    script = os.path.join(HERE, "zygote.py")
    line = [*wrap, sys.executable, *FLAGS, script, "spawned", role, json.dumps(order)]
    for descriptor in descriptors:
        os.set_inheritable(descriptor, True)
    try:
        # Not by subprocess, which would reap in our place.
        return os.posix_spawn(line[0], line, os.environ)
    finally:
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)


def wrap(policy: dict[str, Any], scratch: str) -> list[str]:
    """What goes before a submission's command; nothing where there is no sandbox."""
    if not policy["wrap"]:
        return []
    *first, last = policy["wrap"]
    # The rules are on real paths, and macOS's /tmp and /var are links.
    return [*first, last + os.path.realpath(scratch)]


def main(role: str, order: dict[str, Any], load: Load) -> None:
    """The life of a spawned process. `load` imports a module by its path."""
    sys.path.extend(order.pop("folders"))
    load("drill_child", os.path.join(HERE, "child", "__init__.py"))
    if role == JUDGE:
        session, launches = (socket.socket(fileno=order[name]) for name in ("session", "launches"))
        importlib.import_module("drill_child.sandbox").die_with_parent(order["parent"])
        judge = load("drill_judge", os.path.join(HERE, "judge_main.py"))
        root = os.path.dirname(os.path.dirname(HERE))
        judge.main(session, launches, order["scratch"], root, order["policy"])
    else:
        host = importlib.import_module("drill_child.host")
        importlib.import_module("drill_child.forbidden").prepare()
        host.run(**order)
