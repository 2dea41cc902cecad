# A072 denied: pidfd_open and pidfd_getfd of its parent
# says: reach into another process
import os

handle = os.pidfd_open(os.getppid())
