# A136 denied: utime and chown
# says: change a file's attributes
import os

try:
    os.utime("{canary}", (0, 0))
except OSError:
    pass
os.chown("{canary}", os.getuid(), -1)
