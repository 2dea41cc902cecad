# A132 runtime_error|denied: has torch read the file
import torch

torch.from_file("{home}", size=4, dtype=torch.uint8)
