# A015 resource_limit: one file that grows
# says: wrote more to files
with open("large", "wb") as file:
    while True:
        file.write(bytes(1 << 20))
