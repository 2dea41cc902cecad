"""`drill watch`: a loop that never waits for the disk, the grader or the keyboard alone."""
