# A143 denied: writes into the installed torch
# says: open
import torch

with open(torch.__file__, "a") as file:
    file.write("# changed")
