# A008 denied: forks by the bare system call, past the C library
# says: start another process
import ctypes
import os
import platform

CLONE = {"x86_64": 56, "aarch64": 220}[platform.machine()]
libc = ctypes.CDLL(None, use_errno=True)
pid = libc.syscall(CLONE, 17, 0, 0, 0, 0)
if pid == 0:
    libc.pause()
if pid < 0:
    raise OSError(ctypes.get_errno(), "clone")
