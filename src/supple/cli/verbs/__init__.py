"""The verbs, a file each: NAME.py holds the command of that name. A new file is a new verb."""
