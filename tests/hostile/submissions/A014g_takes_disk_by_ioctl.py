# A014 runtime_error: takes disk ahead by the requests of XFS, which other file systems know too
import errno
import fcntl
import os
import struct

file = os.open("hidden", os.O_CREAT | os.O_RDWR)
os.unlink("hidden")
room = struct.pack("=hhiqqiI16x", 0, 0, 0, 0, 8 << 30, 0, 0)
# RESVSP, UNRESVSP, each in 64 bits too, ZERO_RANGE; then copies that share the blocks, FIEMAP.
for request in (0x40305828, 0x40305829, 0x4030582A, 0x4030582B, 0x40305839, 0xC020660B):
    try:
        fcntl.ioctl(file, request, room)
    except OSError as error:
        last = error
        if error.errno != errno.ENOTTY:
            raise ValueError(f"a leak: {error}") from None
    else:
        raise ValueError(f"a leak: {os.fstat(file).st_blocks} blocks by {request:#x}")
for request in (0x40049409, 0x4020940D, 0xC0189436):
    try:
        fcntl.ioctl(file, request, bytes(64))
    except OSError as error:
        if error.errno != errno.EOPNOTSUPP:
            raise ValueError(f"a leak: {error}") from None
raise last
