"""Limits of actuators as a motion file writes them."""

from __future__ import annotations

from supple.motion.channels import Setting
from supple.robot.motions import ActuatorLimits
from supple.robot.yaml_tree import Path_

LIMITS = ("speed", "acceleration", "force")


def read_limits(
    written: ActuatorLimits | None, setting: Setting, actuators: list[str], path: Path_
) -> dict[str, dict[str, float]]:  # fmt: skip
    """Most speed, acceleration and force by actuator, in SI; what has no limit is left out."""
    made: dict[str, dict[str, float]] = {}
    for order, key in enumerate(LIMITS):
        given = None if written is None else getattr(written, key)
        entries = given if isinstance(given, dict) else {} if given is None else dict.fromkeys(actuators, given)
        for name, quantity in entries.items():
            here = (*path, key, name) if isinstance(given, dict) else (*path, key)
            for actuator in setting.expanded(name, actuators, "actuator", here):
                what = setting.effort(actuator) if key == "force" else setting.dimension(actuator, order + 1)
                made.setdefault(key, {})[actuator] = setting.number(quantity, what, here)
    return made
