# A071 denied: opens the memory of every process that it can see
import os

first = None
for name in sorted(os.listdir("/proc/self/../")) if os.path.exists("/proc/1") else ["1"]:
    if name.isdigit() and int(name) != os.getpid():
        open(f"/proc/{name}/mem", "rb").read(1)
