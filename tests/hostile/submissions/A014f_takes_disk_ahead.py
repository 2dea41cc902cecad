# A014 runtime_error: takes disk without writing, in files that nobody sees any more
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
number = 0
while True:
    file = os.open(f"{number}", os.O_CREAT | os.O_RDWR)
    os.unlink(f"{number}")
    if libc.fallocate(file, 0, ctypes.c_long(0), ctypes.c_long(60 << 20)) < 0:
        raise OSError(ctypes.get_errno(), "fallocate")
    number += 1
