"""What a submission needs beyond the rest where it runs on a GPU of NVIDIA's.

Two things are let in: the driver, which is reached by its devices and a few facts about them, and
the compilers that Triton and torch's extension loader start. What the driver asks for while it
starts is not documented in one place; each entry was seen by people who shut CUDA in elsewhere,
and none has been tried here.
"""

from __future__ import annotations

import glob
import importlib.util
import os
import shutil
import sys
import sysconfig

CUDA = "cuda"
"""Tests have the CPU stand in for it: "stand-in", or "absent"; see `child.devices`."""

CONTROLS = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
PARTS = "/dev/nvidia-caps/nvidia-cap[0-9]*"  # by which part of a GPU that is split is reached
WRITABLE = ("/proc/self/task",)  # the driver names its threads: refused, it does not start
FACTS = (
    "/proc/devices",
    "/proc/driver/nvidia",
    "/proc/driver/nvidia-uvm",
    "/proc/modules",
    "/sys/bus/pci",
    "/sys/class",
    "/sys/dev",
    "/sys/devices",
    "/sys/kernel/mm",
    "/sys/module",
)
COMPILING = ("/usr/include", "/usr/local/include", "/usr/share", "/etc/ld.so.conf")
SYSTEM_PROGRAMS = ("/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/lib", "/usr/libexec", "/lib64")
START = ("/etc/passwd", os.path.join(sys.prefix, "pyvenv.cfg"))
"""Read by whatever starts: the user's name, and Python's own description of its folder."""
TOOLKITS = ("CUDA_HOME", "CUDA_PATH")
KEPT_VARIABLES = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")
SCRATCH_BYTES = 1 << 30  # a build leaves tens of megabytes; the same for all submissions together


def devices() -> list[str]:
    """The nodes of the driver that are here: /dev/nvidia0 and on, and those that control it."""
    whole = sorted(glob.glob("/dev/nvidia[0-9]*"))
    parts = sorted(glob.glob(PARTS)) if whole else []
    return [*whole, *filter(os.path.exists, CONTROLS), *parts]


def toolkit() -> str:
    """The folder of nvcc's toolkit; "" where there is none."""
    named = [os.environ.get(name, "") for name in TOOLKITS]
    nvcc = shutil.which("nvcc")
    beside = os.path.dirname(os.path.dirname(os.path.realpath(nvcc))) if nvcc else ""
    usual = (*named, "/usr/local/cuda", beside)
    return next((path for path in usual if os.path.isfile(f"{path}/bin/nvcc")), "")


def programs() -> list[str]:
    """Folders whose programs may be run: compilers, assemblers, linkers, ninja, Python's own."""
    found = [*SYSTEM_PROGRAMS, toolkit(), sysconfig.get_path("scripts"), "/usr/local/bin"]
    return list(dict.fromkeys(path for path in (*found, *_packages()) if path))


def readable() -> list[str]:
    """What may be read besides: facts about the devices, headers, and the programs themselves."""
    headers = [sysconfig.get_path(name) for name in ("include", "platinclude")]
    named = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    libraries = ["/usr/local/nvidia", *filter(os.path.isabs, named)]  # the driver's, in containers
    parts = (FACTS, COMPILING, headers, libraries, programs(), START)
    return list(dict.fromkeys(path for part in parts for path in part))


def mounted() -> list[str]:
    """What the judge's side must find in bubblewrap for all that."""
    return [path for path in (*readable(), "/sys") if not path.startswith("/proc")]


def environment() -> dict[str, str]:
    """By which compilers are found, and find themselves: by a bare name a driver of GCC's that is
    one of several links to it misses its own parts in bubblewrap."""
    folders = [sysconfig.get_path("scripts"), "/usr/local/bin", "/usr/bin", "/bin", "/sbin"]
    found = {}
    for name, usual in (("CC", "gcc"), ("CXX", "g++")):
        compiler = shutil.which(os.environ.get(name) or usual)
        if compiler:
            found[name] = compiler
    if toolkit():
        folders.insert(0, os.path.join(toolkit(), "bin"))
        found["CUDA_HOME"] = toolkit()
    return {**found, "PATH": os.pathsep.join(folders)}


def _packages() -> list[str]:
    """Folders of installed packages that hold programs: ptxas comes with Triton."""
    specs = (importlib.util.find_spec(name) for name in ("triton", "nvidia"))
    return [
        os.path.realpath(folder)
        for spec in specs
        if spec is not None
        for folder in spec.submodule_search_locations or ()
    ]
