# A072 denied: process_vm_writev into its parent
# says: reach into another process
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
if libc.process_vm_writev(os.getppid(), None, 0, None, 0, 0) < 0:
    raise OSError(ctypes.get_errno(), "process_vm_writev")
