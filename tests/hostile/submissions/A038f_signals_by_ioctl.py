# A038 denied: the same, with the receiver named by ioctl
import fcntl
import os
import socket
import struct
import time

near, far = socket.socketpair()
for request in (0x8901, 0x8902):
    try:
        fcntl.ioctl(near, request, struct.pack("i", os.getppid()))
    except PermissionError as error:
        last = error
    else:
        fcntl.fcntl(near, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        far.send(b"x")
        time.sleep(0.1)
raise last
