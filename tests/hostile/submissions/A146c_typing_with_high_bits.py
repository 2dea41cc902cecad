# A146 denied: the same, with bits that the kernel ignores
# says: type into the terminal
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
request = ctypes.c_ulong(0x5412 | 1 << 32)
if libc.ioctl(0, request, ctypes.c_char_p(b"x")) < 0:
    raise OSError(ctypes.get_errno(), "ioctl")
