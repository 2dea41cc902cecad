# A138 denied: mounts something over the folder
# says: change the system
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(b"none", b"{folder}", b"tmpfs", 0, None) < 0:
    raise OSError(ctypes.get_errno(), "mount")
