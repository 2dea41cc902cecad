# A008 denied: starts a program by posix_spawn
# says: start another
import os

os.posix_spawn("/bin/sleep", ["sleep", "60", "{mark}"], {})
