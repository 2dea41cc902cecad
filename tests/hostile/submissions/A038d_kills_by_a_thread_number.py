# A038 denied: a signal to a thread of the grader
# says: send a signal
import os

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.tgkill(os.getppid(), os.getppid(), 9) < 0:
    raise OSError(ctypes.get_errno(), "tgkill")
