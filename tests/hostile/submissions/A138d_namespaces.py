# A138 denied: a user namespace of its own, to be root in
# says: change the system
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000) < 0:
    raise OSError(ctypes.get_errno(), "unshare")
