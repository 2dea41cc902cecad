# A038 denied: a lease, by which whoever opens the file next has to wait
# says: reach into another process
import fcntl
import os

held = os.open(f"/proc/{os.getpid()}/statm", os.O_RDONLY)
fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)
