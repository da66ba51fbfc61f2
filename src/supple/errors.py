"""Errors whose message is meant for the user: what is wrong, where, and what to do."""

from __future__ import annotations


class SuppleError(Exception):
    """Anything the user can put right. The command line prints it without a traceback and exits with 2."""


class RobotFileError(SuppleError):
    """Everything found wrong in a robot file, one line each: file:line: place: problem."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = list(dict.fromkeys(problems))  # legs of one template share their problems
        super().__init__("\n".join(self.problems))


class PoseError(SuppleError):
    """A pose that cannot be reached, a loop that cannot close, or a singular pose."""


class UnlikelyValue(UserWarning):
    """A value of a robot file that no robot has, for want of a unit most often: file, line, value, likely meaning."""


class FarFromPose(UserWarning):
    """A pose in which the robot does not stay: where it comes to rest, and how far that is."""


class LeftOut(UserWarning):
    """What an export does not hold, and what takes its place."""


class BackendError(SuppleError):
    """A compiler or generated code that failed, with the compiler's words."""


class Makeshift(RuntimeWarning):
    """What works, but not as it should: interpreted for want of a compiler, or not kept for want of a folder."""
