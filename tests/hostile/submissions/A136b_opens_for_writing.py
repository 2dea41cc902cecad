# A136 denied: opens a file so that it is cut
# says: open
open("{canary}", "w").close()
