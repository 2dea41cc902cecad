"""How submissions are shut in: the tier that this machine allows, chosen once a session.

    3  bubblewrap around all processes; Landlock, seccomp and limits on each submission
    2  Landlock, seccomp and limits on each submission; on macOS sandbox-exec and limits
    1  limits and the judge's clock alone

The session chooses, the zygote applies, every report names it.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

from grader.isolation import accelerator as gpu
from grader.isolation import bubblewrap, folders, seatbelt, seccomp
from grader.isolation.calls import Limits, limits_of
from grader.isolation.child import landlock

PLATFORM: str = sys.platform
"""Tests set another, to go its ways with real processes as far as this system allows."""

SYSTEM_NAMES = {"linux": "Linux", "darwin": "macOS"}
NAMES = {
    3: "bubblewrap, Landlock (ABI {abi}), seccomp and limits",
    2: "Landlock (ABI {abi}), seccomp and limits",
    1: "limits alone",
}
MACOS_SANDBOX = "sandbox-exec and limits"
SCRATCH_BYTES = 64 << 20
FIRST_UID = 0x70000000
"""As root each session's submissions get a user that nothing else belongs to."""

PROCESSES = 3 * Limits().threads
"""Threads included, where the user is only ours. The first process of a submission lives on while
another repeats its calls, and a third is asked for what it gives alone."""


OF_A_GPU = {
    True: "no wall around the GPU's driver, a large part of the kernel, and around compilers: the "
    "code starts programs, which are shut in as it is",
    False: "no wall around the GPU's driver, a large part of the kernel; compilers cannot be run, "
    "for nothing bounds their number here: use bubblewrap, or root",
}


@dataclass(frozen=True)
class Policy:
    """`lacking` says why the tier is not higher.

    `landlock` is the ABI to be used, 0 for none; `program` the seccomp filter in base64,
    `load_call` the system call that loads it, `listens` whether the judge is asked, `tried` what
    each of its system calls tries; `uid` the user to become, 0 for none; `processes` how many
    that user may have, threads included, 0 for no bound of ours. `wrap` goes before the command of
    a submission that is spawned, as `seatbelt.command` describes; `bounds_memory` is false where
    the judge must look at the memory, because the system keeps no limit on it. `untested` names
    the system where no one ever saw this hold.

    `accelerator` is what a GPU's submission runs on (`accelerator.CUDA`), "" for all others;
    `driven` are its devices. Where it `compiles`, programs in the folders `programs` may be run, by
    the variables `environment`.
    """

    tier: int
    lacking: str = ""
    landlock: int = 0
    readable: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    program: str = ""
    load_call: int = 0
    listens: bool = False
    tried: tuple[tuple[int, str], ...] = ()
    uid: int = 0
    processes: int = 0
    wrap: tuple[str, ...] = ()
    bounds_memory: bool = True
    untested: str = ""
    accelerator: str = ""
    driven: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    compiles: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)

    def encode(self) -> bytes:
        """For the zygote."""
        return json.dumps(asdict(self)).encode()

    def layers(self, seconds: float) -> tuple[str, ...]:
        """What protects this machine while code of a question with this limit runs, and what does
        not; a line that every report shows begins with "no "."""
        limits = limits_of(seconds, self.accelerator)
        name = MACOS_SANDBOX if self.wrap else NAMES[self.tier].format(abi=self.landlock)
        untested = (
            (f"no test of this on {self.untested} yet: its layers are written for it, and untested "
             "there",) if self.untested else ()
        )  # fmt: skip
        looked = "" if self.bounds_memory else " (looked at ten times a second)"
        known = (
            f"tier {self.tier} of 3: {name}",
            *untested,
            "separate process, without your environment variables; the reference stays in another",
            f"limits: {seconds:g} s, {limits.memory_bytes >> 30} GiB of memory a process{looked}, "
            f"{limits.output_bytes >> 20} MiB printed, files of {limits.file_bytes >> 20} MiB",
        )
        if self.tier > 1:
            shut = (
                "shut: the network, files but its own and those of Python and torch, other "
                + ("processes" if self.compiles else "processes and programs"),
                "left: a kernel shared with the code, which is not a virtual machine",
            )
            driver = (OF_A_GPU[self.compiles],) if self.accelerator else ()
            lower = (f"no bubblewrap ({self.lacking}): it can learn which files exist, not read "
                     "them",) if self.tier == 2 else ()  # fmt: skip
            return (*known, *shut, *driver, *lower)
        root = ("drill runs as root: the code runs as another user, without root's powers",)
        return (
            *known,
            f"no file or network sandbox ({self.lacking}): grade only code that you trust",
            "so the code can read and change your files (the reference's source too, by other "
            "means than Python's own), go online, start programs, and stop or kill your processes",
            *(root if self.uid else ()),
        )


def start() -> Literal["fork", "spawn"]:
    """How the judge and the submissions come to be."""
    return "fork" if PLATFORM == "linux" else "spawn"


def outer(
    scratch: str, extra: Sequence[str], highest: int, accelerator: str = ""
) -> tuple[list[str], str]:
    """What to put before the zygote's command; if nothing, why. Tried, not guessed.

    `scratch` is the folder for the submissions' own, `extra` more folders that the judge reads.
    """
    if PLATFORM != "linux":
        return [], "only Linux has it"
    if highest < 3:
        return [], "asked for no bubblewrap"
    try:
        seen = folders.mounted([*extra, *gpu.mounted()] if accelerator else extra)
        size = gpu.SCRATCH_BYTES if accelerator else SCRATCH_BYTES
        devices = gpu.devices() if accelerator else ()
        line = bubblewrap.command(bubblewrap.find(), seen, scratch, size, devices)
        bubblewrap.check(line)
    except bubblewrap.Unavailable as error:
        return [], str(error)
    return line, ""


def inner(lacking: str, highest: int = 3, abi: int | None = None, accelerator: str = "") -> Policy:
    """The strictest policy that works here, behind what `outer` found.

    Tests ask for a lower tier by `highest` (0: not even a user of its own), and for an older
    Landlock by `abi`.
    """
    if PLATFORM != "linux":
        return _elsewhere(highest)
    root = highest > 0 and hasattr(os, "geteuid") and os.geteuid() == 0
    uid = FIRST_UID + os.getpid() if root else 0
    processes = PROCESSES if root or not lacking else 0  # of one user, who must be ours alone
    open_policy = Policy(1, lacking, uid=uid, processes=processes)
    # Compilers are processes, and only a bound on those of a user who is ours keeps them few.
    compiles = bool(accelerator) and (processes > 0 or highest < 2)
    if accelerator:
        # CUDA reserves address space by the terabyte, so the judge looks at the memory.
        open_policy = replace(
            open_policy,
            accelerator=accelerator,
            bounds_memory=False,
            compiles=compiles,
            environment=gpu.environment() if compiles else {},
        )
    if highest < 2:
        return replace(open_policy, lacking="asked for no sandbox")
    version = min(landlock.abi(), abi or landlock.abi())
    if not version:
        return replace(open_policy, lacking="this kernel has no Landlock (Linux 5.13 has)")
    try:
        filter_ = seccomp.program(bool(accelerator), compiles)
    except seccomp.Unavailable as error:
        return replace(open_policy, lacking=str(error))
    return replace(
        open_policy,
        tier=2 if lacking else 3,
        landlock=version,
        readable=(*folders.readable(), *folders.opened(gpu.readable() if accelerator else ())),
        devices=(*folders.DEVICES, *(gpu.WRITABLE if accelerator else ())),
        driven=tuple(gpu.devices()) if accelerator else (),
        programs=tuple(folders.opened(gpu.programs())) if compiles else (),
        program=base64.b64encode(filter_.code).decode(),
        load_call=filter_.load_call,
        listens=filter_.listens,
        tried=tuple(filter_.tried.items()),
    )


def _elsewhere(highest: int) -> Policy:
    """The strictest policy on another system than Linux."""
    name = SYSTEM_NAMES.get(PLATFORM, PLATFORM)
    policy = Policy(1, "asked for no sandbox", bounds_memory=False, untested=name)
    if highest < 2:
        return policy
    if PLATFORM != "darwin":
        return replace(policy, lacking="this system has no sandbox that drill knows")
    try:
        program = seatbelt.find()
        rules = seatbelt.profile(folders.readable_on_macos(), folders.programs())
        seatbelt.check(program, rules, sys.executable, folders.libraries())
    except seatbelt.Unavailable as error:
        return replace(policy, lacking=str(error))
    wrap = tuple(seatbelt.command(program, rules))
    return replace(policy, tier=2, lacking="only Linux has it", wrap=wrap)
