# A014 resource_limit: fills a folder that nobody may list
# says: wrote more to files
import os

os.mkdir("shut", 0o300)
number = 0
while True:
    with open(f"shut/{number}", "wb") as file:
        file.write(bytes(8 << 20))
    number += 1
