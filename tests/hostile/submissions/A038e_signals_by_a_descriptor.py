# A038 denied: has the kernel send a signal when a pipe is ready
# says: reach into another process
import fcntl
import os
import signal
import time

read, write = os.pipe()
fcntl.fcntl(read, fcntl.F_SETOWN, os.getppid())
fcntl.fcntl(read, fcntl.F_SETSIG, signal.SIGKILL)
fcntl.fcntl(read, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
os.write(write, b"x")
time.sleep(0.1)
