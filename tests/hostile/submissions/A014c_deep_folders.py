# A014 resource_limit: folders in folders without end
import os

while True:
    os.mkdir("d")
    os.chdir("d")
