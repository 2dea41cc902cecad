# A143 denied: puts a module where Python looks for modules
# says: open
import os

import torch

folder = os.path.dirname(os.path.dirname(torch.__file__))
open(os.path.join(folder, "{mark}.pth"), "w").write("import os")
