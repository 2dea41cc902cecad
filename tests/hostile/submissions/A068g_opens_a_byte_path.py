# A068 denied: opens it by a path of bytes, relative and with detours
import os

path = os.path.relpath("{source}").replace("/", "/./").encode()
print(open(path, "rb").read())
