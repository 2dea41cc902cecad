# A072 denied: takes the open files of its parent
# says: reach into another process
import os
import resource

resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (3, 3))
