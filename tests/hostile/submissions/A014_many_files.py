# A014 resource_limit: files of 8 MB until the disk is full
# says: wrote more to files
number = 0
while True:
    with open(f"{number}", "wb") as file:
        file.write(bytes(8 << 20))
    number += 1
