# A132 denied: reads a file of the home folder
# says: open
print(open("{home}").read())
