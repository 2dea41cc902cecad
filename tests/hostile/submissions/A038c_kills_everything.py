# A038 denied: kills every process that it can see
# says: send a signal
import os
import signal

os.kill(-1, signal.SIGKILL)
