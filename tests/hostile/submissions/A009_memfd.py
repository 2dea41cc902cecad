# A009 denied: files in memory that no folder holds
# says: make shared memory
import os

kept = []
while True:
    kept.append(os.memfd_create("drill"))
    os.write(kept[-1], bytes(1 << 20))
