# A038 denied: stops the process that started it
# says: send a signal
import os
import signal

os.kill(os.getppid(), signal.SIGSTOP)
