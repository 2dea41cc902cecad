# A128 crashed|denied: a socket by the numbers of x32
import ctypes
import os
import platform

if platform.machine() != "x86_64":
    os.abort()
libc = ctypes.CDLL(None, use_errno=True)
number = libc.syscall(41 | 0x40000000, 2, 1, 0)
if number >= 0:
    raise SystemError("a leak: a socket")
raise PermissionError(1, os.strerror(ctypes.get_errno()))
