"""The kinds of questions whose answer is a file of code."""

CODE_KINDS = ("code", "debug", "kernel")
