# A136 denied: cuts a file by its path
# says: change a file's attributes
import os

os.truncate("{canary}", 1)
