# A136 denied: flags of a file, for which a descriptor that only reads is enough
# says: change a file's attributes
import fcntl
import os
import struct

open("mine", "w").close()
file = os.open("mine", os.O_RDONLY)
for request, data in (
    (0x40086602, struct.pack("q", 0xC0)),  # FS_IOC_SETFLAGS, and as 32-bit programs ask
    (0x40046602, struct.pack("i", 0xC0)),
    (0x40087602, struct.pack("q", 1)),  # FS_IOC_SETVERSION
    (0x401C5820, struct.pack("=IIII12x", 0x40, 0, 0, 0)),  # FS_IOC_FSSETXATTR
    (0x40806685, bytes(128)),  # FS_IOC_ENABLE_VERITY
    (0x800C6613, bytes(12)),  # FS_IOC_SET_ENCRYPTION_POLICY
):
    try:
        fcntl.ioctl(file, request, data)
    except PermissionError as error:
        last = error
raise last
