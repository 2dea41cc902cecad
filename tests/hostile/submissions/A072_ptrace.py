# A072 denied: attaches to its parent
# says: reach into another process
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
if libc.ptrace(16, os.getppid(), 0, 0) < 0:
    raise OSError(ctypes.get_errno(), "ptrace")
