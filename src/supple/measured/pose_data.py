"""What was measured in a pose, as modes and responses: given ones, or modes extracted from the responses."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from supple.errors import SuppleError
from supple.measured.extraction import extracted
from supple.measured.gathered import modes_in, responses_in, table_of
from supple.measured.test import Pose, Test
from supple.measurements import MeasuredModes, Responses


@dataclass(frozen=True)
class PoseData:
    """Modes of a pose (without channels where only frequencies are known), its responses in the band, and remarks.

    extracted: whether the modes come from these responses."""

    pose: Pose
    modes: MeasuredModes | None
    responses: Responses | None
    extracted: bool = False
    notices: tuple[str, ...] = ()

    @property
    def has_shapes(self) -> bool:
        return self.modes is not None and len(self.modes.outputs) > 0


def pose_data(test: Test, pose: Pose, count: int | None = None) -> PoseData:
    """The PoseData of a pose. count: how many modes there are, if they are to be extracted and that is known."""
    responses = responses_in(test, pose)
    modes = _deviating(modes_in(test, pose), pose) or _of_table(test, pose)
    notices = () if responses is None else responses.notices
    if responses is not None:
        responses = replace(responses.within(test.band), notices=())
    if modes is None and responses is not None:
        try:
            return PoseData(pose, extracted(responses, count=count).modes, responses, True, notices)
        except SuppleError as error:
            return PoseData(pose, None, responses, False, (*notices, f"{pose.name}: no modes were extracted: {error}"))
    return PoseData(pose, modes, responses, False, (*notices, *(modes.notices if modes else ())))


def _deviating(modes: MeasuredModes | None, pose: Pose) -> MeasuredModes | None:
    """Modes with the deviations of the test file where none are known."""
    if modes is None:
        return None
    f, ratio = float(pose.written.frequency_deviation), float(pose.written.damping_deviation)
    damped = modes.damping_ratios > 0
    return replace(
        modes, frequency_deviation=f * modes.frequencies_hz,
        damping_deviation=np.where(damped, ratio * modes.damping_ratios, np.nan),
    )  # fmt: skip


def _of_table(test: Test, pose: Pose) -> MeasuredModes | None:
    table = table_of(test, pose)
    if table is None:
        return None
    w, z = 2 * np.pi * table.frequencies_hz, np.nan_to_num(table.ratios)
    loose = np.where(z > 0, table.ratio_deviation, np.nan)
    none = np.zeros((0, len(w)), dtype=complex)
    poles = w * (-z + 1j * np.sqrt(1 - z**2))
    return MeasuredModes(poles, none, none.T, (), (), table.frequency_deviation, loose)
