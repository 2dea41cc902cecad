# A009 denied: shared memory of System V, which outlives a process
# says: make shared memory
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.shmget(0x6D61726B, 1 << 20, 0o1666) < 0:
    raise OSError(ctypes.get_errno(), "shmget")
