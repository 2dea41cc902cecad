# A072 denied: changes the priority and the processors of its parent
# says: reach into another process
import os

os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)
