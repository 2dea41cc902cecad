# A068 denied: a second name for it in its own folder
import os

os.link("{source}", "mine")
print(open("mine").read())
