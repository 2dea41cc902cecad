# A071 denied: environment, memory and descriptors of its parent
import os

parent = os.getppid()
refused = 0
for name in ("environ", "mem", "maps", "cmdline", "fd", "root", "cwd"):
    try:
        path = f"/proc/{parent}/{name}"
        os.listdir(path) if name in ("fd", "root", "cwd") else open(path, "rb").read(1)
    except OSError as error:
        last, refused = error, refused + 1
if refused < 7:
    raise SystemError("a leak of its parent")
raise last
