# A128 crashed: a socket by the 32-bit interface, whose numbers are others
import ctypes
import mmap
import os
import platform

if platform.machine() != "x86_64":
    os.abort()
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
# mov eax, 359 (socket); mov ebx, 2; mov ecx, 1; xor edx, edx; int 0x80; ret
page.write(bytes.fromhex("53b867010000bb02000000b90100000031d2cd805bc3"))
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
raise SystemError(f"a leak: {call()}")
