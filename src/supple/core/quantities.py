"""Numbers that people ask of a pose or a design by name: f1, stiffness(tool), deflection(tool), torque, dexterity, mass ...

Each is computed for whole batches from what the core answers; `QUANTITIES` says what there is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from supple.backends.interpreter import interpret
from supple.core.compiled import EQUILIBRIA, LINEAR, POSTURES
from supple.core.core import Answers, Core
from supple.core.drives import NEEDED, moved_by_drives
from supple.core.fibres import FibreStress
from supple.errors import SuppleError
from supple.expr.function import Function, function
from supple.expr.node import Scalar, add
from supple.model.algebra import Array, eigh
from supple.model.damped import damped
from supple.model.ports import MOVED, in_plane
from supple.robot.mechanism import Frame
from supple.robot.written import si

_WRITTEN = re.compile(
    r"^\s*([A-Za-z_]+?)(\d*)\s*(?:\(\s*([^()]*?)\s*\))?\s*(?:\.(\w+))?\s*(?:@\s*([0-9.eE+-]+)\s*(?:Hz)?)?\s*$"
)


@dataclass(frozen=True)
class Quantity:
    """A named number of every pose: what the core must answer for it, and how it follows."""

    name: str
    unit: str
    about: str
    stage: int
    wanted: frozenset[str]
    modes: int
    of: Callable[[Core, Answers, Array], Array]  # core, answers, p (n rows) -> (n,)
    low_is_bad: bool = True  # which end of its range is the worst
    kind: str = ""  # of QUANTITIES
    index: int = 0  # of its mode or its point
    part: int | None = None  # of its direction or actuator
    fibres: tuple[FibreStress, ...] = ()  # of a stress: where it may be largest


def quantity(core: Core, written: str) -> Quantity:
    """The Quantity that a user writes as f1, stiffness, stiffness(tool).x, torque(q11), mass ..."""
    parsed = _WRITTEN.match(written)
    word = parsed[1] if parsed else ""
    if parsed is None or word not in QUANTITIES:
        close = get_close_matches(word, QUANTITIES, n=1)
        hint = (
            f"did you mean {close[0]}?"
            if close
            else f"there are: {', '.join(f'{k} ({v[0]})' for k, v in QUANTITIES.items())}"
        )
        raise SuppleError(f"there is no quantity {written!r}; {hint}")
    number, inside, part = parsed[2], parsed[3] or "", parsed[4] or ""
    if number and word not in ("f", "damping"):
        raise SuppleError(f"the quantity {written!r}: {word} has no number; write {word}")
    if (parsed[5] is not None) != (word == "receptance"):
        raise SuppleError(
            f"the quantity {written!r}: receptances have a frequency, as in receptance(tool).z@40 Hz, others none"
        )
    return QUANTITIES[word][1](core, written.strip(), number, inside, part)


# Each kind -----------------------------------------------------------------------------------------------------------


def _frequency(core: Core, name: str, number: str, inside: str, part: str) -> Quantity:
    most = len(core.structure.linear.independent)
    _no(name, inside, part)
    k = int(number) if number else 1
    if not 1 <= k <= most:
        raise SuppleError(f"{core.robot.name} has modes 1 to {most}, not {name}")

    def of(core: Core, answers: Answers, p: Array) -> Array:
        squares = answers["squares"][:, k - 1]
        made: Array = np.sign(squares) * np.sqrt(np.abs(squares)) / (2 * np.pi)
        return made

    return Quantity(name, "Hz", f"natural frequency {k}", LINEAR, frozenset(), k, of, kind="f", index=k - 1)


def _stiffness(core: Core, name: str, number: str, inside: str, part: str) -> Quantity:
    point = _point(core, inside)
    used = in_plane(core.model)
    if part and (part not in MOVED or MOVED.index(part) not in used):
        raise SuppleError(f"the quantity {name!r}: a point has {', '.join(MOVED[k] for k in used)}, not {part!r}")
    row = 6 * list(core.model.mechanism.points).index(point)
    unit = "N m/rad" if part.startswith("r") else "N/m"

    def of(core: Core, answers: Answers, p: Array) -> Array:
        C = compliance(answers, row)
        if part:
            along = MOVED.index(part)
            return 1.0 / C[:, along, along]
        moved = [k for k in used if k < 3]
        return 1.0 / _largest(C[:, moved][:, :, moved])

    about = f"stiffness of {point} along {part}" if part else f"least stiffness of {point} in any direction"
    along = MOVED.index(part) if part else None
    return Quantity(
        name, unit, about, LINEAR, frozenset({"points", "T", "K"}), 0, of, kind="stiffness", index=row // 6, part=along
    )  # fmt: skip


def _largest(C: Array) -> Array:
    good = np.isfinite(C).all(axis=(1, 2))
    made = np.full(len(C), np.nan)
    made[good] = np.linalg.eigvalsh(0.5 * (C[good] + np.swapaxes(C[good], 1, 2)))[:, -1]
    return made


def compliance(answers: Answers, row: int) -> Array:
    """(n, 6, 6) compliance of the point whose twist begins at this row of `points`."""
    A = answers["points"][:, row : row + 6] @ answers["T"]
    good = np.isfinite(A).all(axis=(1, 2)) & np.isfinite(answers["K"]).all(axis=(1, 2))
    made = np.full((len(A), 6, 6), np.nan)
    K = 0.5 * (answers["K"][good] + np.swapaxes(answers["K"][good], 1, 2))
    made[good] = A[good] @ np.linalg.solve(K, np.swapaxes(A[good], 1, 2))
    return made


def _damping(core: Core, name: str, number: str, inside: str, part: str) -> Quantity:
    k = _frequency(core, name, number, inside, part).index

    def of(core: Core, answers: Answers, p: Array) -> Array:
        made = np.full(len(answers.status), np.nan)
        for n in np.flatnonzero(answers.answered):
            K, M, D, H = (answers[key][n] for key in ("K", "M", "D", "H"))
            squares, V = eigh(0.5 * (K + K.T), M)
            omega = np.sign(squares) * np.sqrt(np.abs(squares))
            made[n] = damped(omega, V.T @ D @ V, V.T @ H @ V, k + 1)[0][k]
        return made

    wanted = frozenset({"M", "K", "D", "H"})
    return Quantity(name, "1", f"damping ratio of mode {k + 1}", LINEAR, wanted, 0, of, index=k)


def _receptance(core: Core, name: str, number: str, inside: str, part: str) -> Quantity:
    point, used = _point(core, inside), in_plane(core.model)
    if part not in MOVED or MOVED.index(part) not in used:
        raise SuppleError(f"the quantity {name!r}: write receptance({point}).{MOVED[used[0]]}@40 Hz")
    row = 6 * list(core.model.mechanism.points).index(point) + MOVED.index(part)
    parsed = _WRITTEN.match(name)
    assert parsed is not None
    w = 2 * np.pi * si(parsed[5], "number", f"the quantity {name!r}")

    def of(core: Core, answers: Answers, p: Array) -> Array:
        A = (answers["points"][:, row : row + 1] @ answers["T"]).astype(complex)
        made = np.full(len(A), np.nan)
        good = answers.answered & np.isfinite(A).all(axis=(1, 2))
        K, M, D, H = (answers[key][good] for key in ("K", "M", "D", "H"))
        X = np.linalg.solve(K + 1j * H + 1j * w * D - w**2 * M, np.swapaxes(A[good], 1, 2))
        made[good] = np.abs(A[good] @ X)[:, 0, 0]
        return made

    unit = "rad/(N m)" if part.startswith("r") else "m/N"
    about = f"amplitude of {point} along {part} for a unit force there at {w / (2 * np.pi):g} Hz"
    wanted = frozenset({"points", "T", "K", "M", "D", "H"})
    return Quantity(name, unit, about, LINEAR, wanted, 0, of, low_is_bad=False)


def _deflection(core: Core, name: str, number: str, inside: str, part: str) -> Quantity:
    point = _point(core, inside)
    k = list(core.model.mechanism.points).index(point)
    if part and part not in MOVED[:3]:
        raise SuppleError(f"the quantity {name!r}: a deflection has x, y, z, not {part!r}")

    servos = list(core.model.servos)

    def of(core: Core, answers: Answers, p: Array) -> Array:
        moved = answers["bent_places"][:, k] - answers["places"][:, k]
        if servos and answers.loads.any():
            moved = moved + moved_by_drives(answers, servos, 6 * k)[:, :3]
        return moved[:, MOVED.index(part)] if part else np.linalg.norm(moved, axis=1)

    about = f"deflection of {point} under weight and loads" + (f" along {part}" if part else "")
    along = MOVED.index(part) if part else None
    wanted = frozenset({"places", "bent_places"}) | (NEEDED if servos else frozenset())
    stage = LINEAR if servos else EQUILIBRIA
    return Quantity(name, "m", about, stage, wanted, 0, of, low_is_bad=False, kind="deflection", index=k, part=along)


def _place(core: Core, name: str, number: str, inside: str, part: str) -> Quantity:
    point = _point(core, inside)
    k, along = list(core.model.mechanism.points).index(point), MOVED[:3].index(part) if part in MOVED[:3] else -1
    if along < 0:
        raise SuppleError(f"the quantity {name!r}: write place({point}).x, .y or .z")

    def of(core: Core, answers: Answers, p: Array) -> Array:
        return answers["places"][:, k, along]

    about = f"place of {point} along {part}, undeformed"
    return Quantity(name, "m", about, POSTURES, frozenset({"places"}), 0, of, kind="place", index=k, part=along)


def _torque(core: Core, name: str, number: str, inside: str, part: str) -> Quantity:
    _no(name, "", part)
    active = [core.model.names[i] for i in core.model.active]
    if inside and inside not in active:
        raise SuppleError(f"{core.robot.name} has no actuator {inside!r}; it has: {', '.join(active) or 'none'}")
    units = {
        core.model.mechanism.coordinates[i].unit for i in core.model.active if not inside or core.model.names[i] == inside
    }

    def of(core: Core, answers: Answers, p: Array) -> Array:
        if inside:
            return answers["tau"][:, active.index(inside)]
        return np.abs(answers["tau"]).max(axis=1, initial=0.0) if len(active) else np.zeros(len(answers.status))

    unit = "N m" if units == {"rad"} else "N" if units == {"m"} else "N, N m"
    about = f"holding force of {inside}" if inside else "largest holding force of an actuator"
    own = active.index(inside) if inside else None
    return Quantity(name, unit, about, EQUILIBRIA, frozenset({"tau"}), 0, of, low_is_bad=False, kind="torque", part=own)


def _dexterity(core: Core, name: str, number: str, inside: str, part: str) -> Quantity:
    _no(name, "", part)
    point = _point(core, inside)
    row = 6 * list(core.model.mechanism.points).index(point)
    rows = [row + k for k in in_plane(core.model) if k < 3]

    def of(core: Core, answers: Answers, p: Array) -> Array:
        sizes = np.full((len(answers.status), min(len(rows), len(core.model.active))), np.nan)
        moves = _driven(core, answers)
        good = np.isfinite(moves).all(axis=(1, 2))
        sizes[good] = np.linalg.svd(answers["straight_points"][good][:, rows] @ moves[good], compute_uv=False)
        made: Array = sizes[:, -1] / sizes[:, 0]
        return made

    about = f"least over largest speed of {point} for unit speeds of the actuators"
    return Quantity(name, "1", about, POSTURES, frozenset({"straight_points", "J"}), 0, of)


def _driven(core: Core, answers: Answers) -> Array:
    """(n, nv, actuators) motions of the undeformed robot for unit speeds of its actuators."""
    active = list(core.model.active)
    kinds = [c.kind for c in core.model.mechanism.coordinates]
    follow = [i for i in range(core.model.nv) if kinds[i] not in ("active", "elastic")]
    made = np.zeros((len(answers.status), core.model.nv, len(active)))
    made[:, active, np.arange(len(active))] = 1.0
    J = answers["J"]
    good = np.isfinite(J).all(axis=(1, 2))
    made[~good] = np.nan
    if follow and J.shape[1]:
        moves = made[good]
        moves[:, follow] = -np.linalg.pinv(J[good][:, :, follow]) @ J[good][:, :, active]
        made[good] = moves
    return made


def _mass(core: Core, name: str, number: str, inside: str, part: str) -> Quantity:
    _no(name, inside, part)
    f = interpret(mass_function(core))

    def of(core: Core, answers: Answers, p: Array) -> Array:
        made: Array = np.broadcast_to(f(p=core.parameters.inputs(p))["mass"], (len(p), 1))[:, 0]
        return made

    return Quantity(name, "kg", "mass of all bodies", POSTURES, frozenset(), 0, of, low_is_bad=False, kind="mass")


def mass_function(core: Core) -> Function:
    """p -> mass of all bodies."""
    total: Scalar = 0
    for frame in core.parameters.mechanism.frames:
        total = add(total, frame.body.mass)
    return function("mass", {"p": core.parameters.symbols}, {"mass": [total]})


def _stress(core: Core, name: str, number: str, inside: str, part: str) -> Quantity:
    _no(name, "", part)
    used = name.startswith("utilisation")
    made = tuple(FibreStress(core, frame, used) for frame in _stressed(core, name, inside, used))

    def of(core: Core, answers: Answers, p: Array) -> Array:
        inner = core.parameters.inputs(p)
        found: Array = np.max([one(answers["q"], inner) for one in made], axis=0)
        return found

    what = "largest stress (von Mises)" + (" over yield stress" if used else "")
    about = f"{what} in the beams of {inside}" if inside else f"{what} in a beam"
    return Quantity(
        name, "1" if used else "Pa", about, EQUILIBRIA, frozenset({"q"}), 0, of, low_is_bad=False, kind="stress", fibres=made
    )  # fmt: skip


def _stressed(core: Core, name: str, inside: str, used: bool) -> list[Frame]:
    """Frames of beams whose stresses are known; of one link, or all; with a yield stress if that is used."""
    every = [f for f in core.parameters.mechanism.frames if f.body.fibres is not None and f.body.fibres.form[0]]
    frames = [f for f in every if f.link == inside or not inside]
    if used:
        frames = [f for f in frames if f.body.fibres is not None and f.body.fibres.limit is not None]
    if not frames:
        listed = ", ".join(dict.fromkeys(f.link for f in every)) or "none"
        if used and any(f.link == inside or not inside for f in every):
            raise SuppleError(f"{core.robot.name}: {name}: no yield stress is known; give `yield` under materials")
        raise SuppleError(f"{core.robot.name}: {name}: no such link of beams; it has: {listed}")
    return frames


Make = Callable[[Core, str, str, str, str], Quantity]
QUANTITIES: dict[str, tuple[str, Make]] = {
    "f": ("f1, f2, ...: natural frequencies", _frequency),
    "damping": ("damping1, damping2, ...: damping ratios", _damping),
    "receptance": ("receptance(POINT).z@40 Hz: amplitude for a unit force at a frequency", _receptance),
    "stiffness": ("least stiffness of a point; stiffness(POINT).x", _stiffness),
    "deflection": ("of a point under weight and loads; deflection(POINT).z", _deflection),
    "torque": ("largest holding force; torque(ACTUATOR)", _torque),
    "dexterity": ("least over largest speed of a point", _dexterity),
    "place": ("place(POINT).x", _place),
    "mass": ("of all bodies", _mass),
    "stress": ("largest in a beam, von Mises; stress(LINK)", _stress),
    "utilisation": ("stress over yield stress; utilisation(LINK)", _stress),
}


def _point(core: Core, inside: str) -> str:
    names = list(core.model.mechanism.points)
    if inside in names:
        return inside
    if inside or len(names) != 1:
        hint = f"as in stiffness({names[0]}); it has: {', '.join(names)}" if names else "it has none"
        raise SuppleError(f"choose a point of {core.robot.name}, {hint}")
    return names[0]


def _no(name: str, inside: str, part: str) -> None:
    if inside or part:
        raise SuppleError(f"the quantity {name!r} takes no {'point' if inside else 'direction'}")


def evaluated(
    core: Core, quantities: Sequence[Quantity], poses: Array, p: Array | None, loads: Array | None, threads: int, *,
    also: frozenset[str] = frozenset(), modes: int = 0,
) -> tuple[Answers, list[Array]]:  # fmt: skip
    """Answers to a batch of poses, with what else is wanted of them and so many modes at least, and the values (n,) of
    quantities."""
    stage = max((q.stage for q in quantities), default=POSTURES)
    wanted = also.union(*(q.wanted for q in quantities))
    answers = core.answer(
        poses,
        p,
        loads=loads,
        stage=stage,
        modes=max(modes, *(q.modes for q in quantities), 0),
        wanted=wanted,
        threads=threads,
    )
    rows = np.array([core.robot.values]) if p is None else np.atleast_2d(p)
    rows = np.broadcast_to(rows, (len(answers.status), rows.shape[1]))
    return answers, [np.where(answers.answered, q.of(core, answers, rows), np.nan) for q in quantities]
