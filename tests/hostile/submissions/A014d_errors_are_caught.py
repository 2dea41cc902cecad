# A014 resource_limit|time_limit: fills the disk, and goes on when it is full
number = 0
while True:
    try:
        with open(f"{number}", "wb") as file:
            file.write(bytes(8 << 20))
    except OSError:
        pass
    number += 1
