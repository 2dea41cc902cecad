# A068 denied: lists the folder that holds the reference
import os

print(os.listdir(os.path.dirname("{source}")))
