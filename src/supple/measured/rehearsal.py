"""A test rehearsed on a robot whose truth is known: what sensors would say in a pose, as responses or as records of blows.

The robot makes small motions about the pose at which it rests; its sensors are on it. Blows are haversines of random
strength and place; records are filtered below half the sampling rate, sampled, cut off at full scale, and noise is added."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import qr
from scipy.signal import firwin

from supple.errors import SuppleError
from supple.machine import Machine
from supple.measured import test_file as spec
from supple.measured.hammer import Blow
from supple.measured.instrumented import rows_of
from supple.measured.test import Channel, Pose, Test
from supple.measurements import Responses
from supple.model.algebra import one_thread
from supple.model.equilibrium import Equilibrium, equilibrium
from supple.model.mobility import check_regular
from supple.model.model import Model
from supple.model.ports import Ports
from supple.model.posture import posture
from supple.model.small_motions import SmallMotions, motions_between
from supple.robot.bodies.record import Array

ABOVE = 10.0  # times the highest frequency: modes up to there move, higher ones give way statically
OVERSAMPLED = 16
_FORGOTTEN = np.log(1e8)  # what comes later than two records is so many times weaker
_FILTER = (20, 8.0, 0.42)  # length in samples, Kaiser's beta, cutoff relative to the sampling rate
_AREA = (0.7, 1.3)  # N s: strength of blows
_FLOOR = 0.01  # of the strongest response of a kind: noise is at least that of a response so strong
_AGAIN = (0.02, 0.3)  # of a record later, and so strong, a blow that hits twice hits again


@dataclass(frozen=True)
class PoseTruth:
    """A robot with its sensors on at rest in a pose: small motions between exciters and sensors."""

    model: Model
    pose: Pose
    rest: Equilibrium
    outputs: tuple[Channel, ...]
    inputs: tuple[Channel, ...]  # hammers and shakers
    last_hz: float

    @cached_property
    def motions(self) -> SmallMotions:
        """All of them, on all modes."""
        inputs, outputs = (
            Ports(tuple(c.name for c in cs), ("",) * len(cs), rows_of(self.model, self.rest.q, cs, np.eye(self.model.nv)))
            for cs in (self.inputs, self.outputs)
        )
        return motions_between(self.model, self.rest, inputs, outputs, free=self.pose.free)

    def responses(self, frequencies_hz: Array) -> Array:
        """True responses (frequencies, outputs, inputs), each output differentiated as its sensor does."""
        orders = np.array([c.order for c in self.outputs])
        jw = 2j * np.pi * np.asarray(frequencies_hz)[:, None]
        made: Array = lower(self.motions, self.last_hz).response(frequencies_hz) * (jw**orders)[:, :, None]
        return made

    def places(self) -> dict[str, tuple[float, ...]]:
        """Where sensors and exciters are, in the base."""
        found = self.model.call("points", q=self.rest.q)["position"]
        names = list(self.model.mechanism.points)
        return {
            c.place: tuple(float(x) for x in found[names.index(c.place)])
            for c in (*self.outputs, *self.inputs) if c.joint is None
        }  # fmt: skip


def truth(robot: Machine, test: Test, pose: Pose) -> PoseTruth:
    """The PoseTruth of a robot that has the sensors of the test on (`instrumented`)."""
    model = robot.model()
    straight = posture(model, pose.at, pose.assembly)
    check_regular(model, straight)
    rate = test.written.record.samples / float(test.written.record.duration)
    inputs = shaking(test)
    return PoseTruth(model, pose, equilibrium(model, straight), test.outputs, inputs, max(test.band[1], rate / 2))


def shaking(test: Test) -> tuple[Channel, ...]:
    """The exciters that shake: hammers and shakers."""
    return tuple(c for c in test.inputs if test.written.exciters[c.place].kind != "force")


def lower(made: SmallMotions, last_hz: float) -> SmallMotions:
    """The same motions on the lower modes and on what the higher ones give way statically."""
    kept = max(12, int(np.sum(made.squares < (2 * np.pi * ABOVE * last_hz) ** 2)))
    if kept + made.B.shape[1] >= len(made.squares):
        return made
    static = made.B[kept:] / made.squares[kept:, None]
    Q = qr(static, mode="economic")[0]
    T = np.zeros((len(made.squares), kept + Q.shape[1]))
    T[:kept, :kept], T[kept:, kept:] = np.eye(kept), Q
    K, D, H = (T.T @ X @ T for X in (made.K, made.D, made.H))
    return replace(made, squares=np.diag(K), K=K, D=D, H=H, B=T.T @ made.B, C=made.C @ T)


# Responses --------------------------------------------------------------------------------------------------------------


def rehearsed_responses(pose: PoseTruth, test: Test, noise: float, rng: np.random.Generator) -> Responses:
    """Responses of averaged blows in noise, on the lines of the test's records up to the end of its band.

    noise: standard deviation of every single blow's response, relative to its root mean square (`_noisy`)."""
    record = test.written.record
    lines = np.arange(record.samples // 2 + 1) / float(record.duration)
    f = lines[(lines >= test.band[0]) & (lines <= test.band[1]) & (lines > 0)]
    if len(f) < 2:
        raise SuppleError(f"{test.file}: its band holds no line of its record ({1 / float(record.duration):.3g} Hz apart)")
    H = pose.responses(f)
    size = noise * _noisy(H, [c.order for c in pose.outputs]) / np.sqrt(2)
    drawn = rng.standard_normal((2, record.averages, *H.shape))
    each = H + size * (drawn[0] + 1j * drawn[1])
    mean = each.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        coherence = np.nan_to_num(np.abs(mean) ** 2 / (np.abs(each) ** 2).mean(axis=0))
    return Responses(
        f, mean, tuple(c.name for c in pose.outputs), tuple(c.name for c in pose.inputs),
        tuple(c.order for c in pose.outputs), coherence if record.averages > 1 else None,
    )  # fmt: skip


def _noisy(values: Array, orders: list[int]) -> Array:
    """Root mean squares over lines or samples (outputs, ...) to which noise is relative.

    A sensor that hardly moves is as noisy as others of its kind (of the same order): none is below _FLOOR of the strongest
    of them: responses that symmetry makes zero would else be known to within rounding."""
    own = np.sqrt((np.abs(values) ** 2).mean(axis=0))
    kinds = np.array(orders)
    least = np.empty_like(own)
    for order in set(orders):
        least[kinds == order] = _FLOOR * own[kinds == order].max()
    made: Array = np.maximum(own, least)
    return made


# Records ----------------------------------------------------------------------------------------------------------------


def rehearsed_blows(
    pose: PoseTruth, record: spec.Record, exciter: int, twice: int, noise: float, rng: np.random.Generator
) -> list[Blow]:  # fmt: skip
    """As many blows of an exciter as are averaged, and `twice` more that hit twice.

    noise: standard deviation of what is added to every record, relative to its root mean square (`_noisy`)."""
    count = record.averages + twice
    fine = float(record.duration) / record.samples / OVERSAMPLED
    forces = np.stack([_blow(record, k < twice, fine, rng) for k in range(count)], axis=1)
    moved = _moved(pose, exciter, forces, fine)
    orders, made = [c.order for c in pose.outputs], []
    for k in range(count):
        force, responses = _recorded(forces[:, [k]]), _recorded(moved[:, :, k])
        force = force + noise * _noisy(force, [-1]) * rng.standard_normal(force.shape)
        responses = responses + noise * _noisy(responses, orders) * rng.standard_normal(responses.shape)
        scale = np.inf if record.full_scale is None else float(record.full_scale)
        made.append(Blow(np.clip(force[:, 0], -scale, scale), responses, f"blow {k + 1}"))
    return made


def _blow(record: spec.Record, twice: bool, fine: float, rng: np.random.Generator) -> Array:
    """The force of a blow over fine steps: a haversine, and a weaker one if it hits twice."""
    count = record.samples * OVERSAMPLED
    width = max(2, round(float(record.pulse) * rng.uniform(0.9, 1.1) / fine))
    first = round(count * rng.uniform(0.01, 0.02)) + 10 * OVERSAMPLED
    made = rng.uniform(*_AREA) * _haversine(np.arange(count) - first, width, fine)
    if twice:
        again = np.arange(count) - first - 2 * width - round(_AGAIN[0] * count)
        made = made + _AGAIN[1] * rng.uniform(0.8, 1.2) * _haversine(again, width, fine)
    return made


def _haversine(steps: Array, width: int, fine: float) -> Array:
    """A haversine of area one that lasts `width` steps from step 0 on.

    Its slope is continuous: a kink, as that of a half-sine, would fold back from above the fine sampling rate."""
    inside = (steps >= 0) & (steps < width)
    return np.where(inside, 1.0 - np.cos(2 * np.pi * steps / width), 0.0) / (width * fine)


def _recorded(signals: Array) -> Array:
    """Signals (fine steps, channels) filtered below half the sampling rate and sampled."""
    length, beta, cutoff = _FILTER
    taps = firwin(length * OVERSAMPLED + 1, cutoff, fs=float(OVERSAMPLED), window=("kaiser", beta))
    half = len(taps) // 2
    padded = np.pad(signals, ((half, half), (0, 0)))
    return np.stack([np.convolve(x, taps, "valid")[::OVERSAMPLED] for x in padded.T], axis=1)


@one_thread
def _moved(pose: PoseTruth, exciter: int, forces: Array, step: float) -> Array:
    """What sensors feel (steps, outputs, blows) under forces (steps, blows), below the rate at which they are recorded.

    By responses at s = a + j w, where what comes later than twice the record is forgotten (Laplace's inversion by
    Fourier's); damping, structural damping too, is that of the responses."""
    count, blows = forces.shape
    a = _FORGOTTEN / (2 * count * step)
    fade = np.exp(-a * step * np.arange(count))[:, None]
    F = np.fft.rfft(forces * fade, n=2 * count, axis=0)
    hz = np.fft.rfftfreq(2 * count, step)
    hz = hz[hz <= 1 / (OVERSAMPLED * step)]
    H = _at(lower(pose.motions, pose.last_hz), exciter, a + 2j * np.pi * hz, np.array([c.order for c in pose.outputs]))
    felt = np.empty((count, len(pose.outputs), blows))
    for k in range(blows):
        felt[:, :, k] = np.fft.irfft(H * F[: len(hz), k, None], n=2 * count, axis=0)[:count] / fade
    return felt


def _at(made: SmallMotions, exciter: int, s: Array, orders: Array) -> Array:
    """Responses (lines, outputs) to an exciter at complex frequencies, each output differentiated as its sensor does."""
    one, given = np.eye(len(made.squares)), made.B[:, [exciter]]
    found = [made.C @ np.linalg.solve(made.K + 1j * made.H + x * made.D + x**2 * one, given) for x in s]
    out: Array = np.array(found)[:, :, 0] * s[:, None] ** orders
    return out
