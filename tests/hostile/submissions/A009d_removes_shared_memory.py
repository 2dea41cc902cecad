# A009 denied: removes shared memory that others hold
# says: make shared memory
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.shmctl(-1, 0, None) < 0:
    raise OSError(ctypes.get_errno(), "shmctl")
