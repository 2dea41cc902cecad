# A138 denied: chroot into a folder of its own
# says: change the system
import os

os.mkdir("root")
os.chroot("root")
