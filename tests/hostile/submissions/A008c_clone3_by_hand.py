# A008 runtime_error|denied: forks by clone3, whose flags a filter cannot see
import ctypes
import struct

arguments = ctypes.create_string_buffer(struct.pack("<11Q", 0, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0))
libc = ctypes.CDLL(None, use_errno=True)
pid = libc.syscall(435, arguments, 88)
if pid == 0:
    libc.pause()
if pid < 0:
    raise OSError(ctypes.get_errno(), "clone3")
