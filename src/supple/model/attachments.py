"""The places at which loops are closed."""

from __future__ import annotations

import numpy as np

from supple.expr.function import Function, function
from supple.formulations.tree.kinematics import Kinematics, state
from supple.model.model import Model
from supple.robot.mechanism import Anchor


def attachments(model: Model) -> dict[str, Anchor]:
    """The places at which loops are closed, one for each closure: on its second body."""
    return {c.name: c.second if c.second.frame >= 0 else c.first for c in model.mechanism.closures}


def attachment_positions(model: Model) -> Function:
    """q -> positions (attachments, 3)."""
    kin = Kinematics(model.mechanism, state(model.mechanism))
    made = [kin.pose(anchor)[1] for anchor in attachments(model).values()]
    return function("attachments", {"q": kin.state.q}, {"position": np.array(made, dtype=object).reshape(-1, 3)})
