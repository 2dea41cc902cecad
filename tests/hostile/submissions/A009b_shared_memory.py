# A009 denied: files below /dev/shm
# says: open /dev/shm
number = 0
while True:
    with open("/dev/shm/{mark}-" + str(number), "wb") as file:
        file.write(bytes(8 << 20))
    number += 1
