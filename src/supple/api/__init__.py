"""What `import supple` gives: `Robot`, whose methods are the verbs of the command line."""

from supple.api.robot import Robot, compare, differences

__all__ = ["Robot", "compare", "differences"]
