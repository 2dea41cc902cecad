"""What runs inside a submission's process.

The zygote loads this folder by its path under another package name, so that neither `grader` nor
anything of it is importable there. Modules here import the standard library, numpy and torch only,
and each other by relative imports. The judge imports `wire`, and `counting` for functions of ours.
"""
