"""`python -m drills` is `drill`."""

import sys
from pathlib import Path

if not getattr(sys.flags, "safe_path", False):
    # Python put the current folder first: a click.py or torch.py there is someone's homework.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from drills.cli import main

main()
