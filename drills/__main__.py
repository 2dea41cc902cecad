"""`python -m drills` is `drill`."""

from drills.cli import main

main()
