# A132 denied: lists the home folder
import os

print(os.listdir(os.path.dirname("{home}")))
