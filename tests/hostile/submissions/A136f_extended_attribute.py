# A136 denied: an extended attribute
# says: change a file's attributes
import os

os.setxattr("{canary}", "user.mark", b"x")
