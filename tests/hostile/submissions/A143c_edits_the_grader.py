# A143 denied: writes into the grader
# says: open
open("{source}", "a").write("# changed")
