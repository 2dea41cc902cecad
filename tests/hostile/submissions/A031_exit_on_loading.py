# A031 crashed: ends the process with code 0 before any call
# says: exit code 0
import os

os._exit(0)
