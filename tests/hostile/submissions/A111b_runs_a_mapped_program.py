# A111 crashed|wrong_answer|time_limit|denied: machine code of its own in memory that may be executed
import mmap

page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex("b83c000000bf000000000f05"))
import ctypes
import platform

if platform.machine() == "x86_64":
    ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()


def softmax(x, dim=-1):
    return x
