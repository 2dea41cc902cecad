# A128 denied: a socket by the C library, with the error told
# says: open a network connection
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
number = libc.socket(2, 1, 0)
if number < 0:
    raise OSError(ctypes.get_errno(), "socket")
