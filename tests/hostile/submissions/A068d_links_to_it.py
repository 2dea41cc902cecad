# A068 denied: a link in its own folder that leads to the reference
import os

os.symlink("{source}", "link")
print(open("link").read())
