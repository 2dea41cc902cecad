# A136 denied: chmod
# says: change a file's attributes
import os

os.chmod("{canary}", 0o777)
