# A038 denied: asks not to be killed with its parent, by bits that the kernel ignores
# says: change the system
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(ctypes.c_ulong(1 | 1 << 32), 0, 0, 0, 0) < 0:
    raise OSError(ctypes.get_errno(), "prctl")
