"""`Reduced`: small motions of a robot at a pose on its lower modes, and their exact derivatives by kept parameters.

    (s^2 M + s D + K + j H) y = B^T u,   displacements at sensors = C y

T holds mass-normalised modes, and for those left out responses to slow forces at the inputs, so M = 1 and K = diag(squares)
there. A change of the robot pushes the motions left out too: what sensors see of that is in derivatives, as if it were slow.
Motions satisfy A v = 0 (loops and held actuators); where A moves with a parameter, the forces of the constraints enter the
derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh

from supple.errors import PoseError, SuppleError
from supple.measured.held import Held
from supple.measured.instrumented import row_slopes, rows_of
from supple.measured.parametric import Family, ParametricModel, Shifted
from supple.measured.test import Channel, Pose
from supple.model.algebra import Array, null_space, one_thread
from supple.model.equilibrium import Equilibrium, equilibrium
from supple.model.mobility import check_regular
from supple.model.posture import posture

ABOVE = 3.0  # times the highest frequency asked for: modes up to there are kept
_LEAST = 12
_MOMENTS = 4  # of the modes left out: what they give way to slow forces, in powers of the squared frequency


@dataclass(frozen=True)
class Reduced:
    """Matrices of a pose on the motions T (columns over generalised velocities), and derivatives (parameters first)."""

    squares: Array
    D: Array
    H: Array
    B: Array  # inputs x motions
    C: Array  # outputs x motions
    T: Array
    q: Array
    modes: int  # the first ones of T, lowest first; static responses follow
    M_p: Array
    K_p: Array
    D_p: Array
    H_p: Array
    B_p: Array
    C_p: Array
    far_p: Array  # (3, parameters, outputs, motions): what of K + jH, D and M pushes motions left out, seen by the sensors

    @property
    def frequencies_hz(self) -> Array:
        made: Array = np.sqrt(np.maximum(self.squares[: self.modes], 0.0)) / (2 * np.pi)
        return made

    def of_channels(self, outputs: list[int], inputs: list[int]) -> Reduced:
        """The same motions seen and pushed at some of the channels."""
        return replace(
            self, B=self.B[inputs], C=self.C[outputs], B_p=self.B_p[:, inputs], C_p=self.C_p[:, outputs],
            far_p=self.far_p[:, :, outputs],
        )  # fmt: skip


class PoseModel:
    """A robot with kept parameters at one pose of a test, evaluated at values of them."""

    def __init__(
        self, family: Family, pose: Pose, outputs: Sequence[Channel], inputs: Sequence[Channel], last_hz: float,
        above: float = ABOVE,
    ) -> None:  # fmt: skip
        self.family, self.pose, self.last_hz, self.above = family, pose, last_hz, above
        self.outputs, self.inputs = list(outputs), list(inputs)
        nominal = family.at(np.array(family.kept.values))
        self.straight = posture(nominal, pose.at, pose.assembly)
        check_regular(nominal, self.straight)
        self.near: Array | None = None
        self.evaluations = 0

    def rest(self, model: ParametricModel) -> Equilibrium:
        """The equilibrium at a value of the parameters, sought from the last one."""
        if self.family.geometric:  # the pose is kept; actuators and all that follows move with the parameters
            self.straight = posture(model, self.pose.at, self.pose.assembly)
            return equilibrium(model, self.straight)
        start = self.straight if self.near is None else self.near
        try:
            found = equilibrium(model, start)
        except PoseError:
            if self.near is None:
                raise
            found = equilibrium(model, self.straight)
        self.near = found.q
        return found

    @one_thread
    def reduced(self, p: Array, gradient: bool = True, directions: Array | None = None) -> Reduced:
        """The Reduced at a value of the parameters; directions (rows over parameters): along which derivatives are taken,
        instead of along each parameter."""
        self.evaluations += 1
        model = self.family.at(p)
        rest = self.rest(model)
        free = self.pose.free
        servo = {} if free else model.servos
        J = model.jacobian(rest.q)
        A = J if free else np.vstack([J, model.held([i for i in model.active if i not in servo])])
        Z, _, _ = null_space(A)
        whole = _Whole(model, rest, servo)
        T, squares, modes, far = self._basis(model, rest, Z, whole)
        rows = rows_of(model, rest.q, [*self.outputs, *self.inputs], T)
        C, B = rows[: len(self.outputs)], rows[len(self.outputs) :]
        D, H = T.T @ whole.D @ T, T.T @ whole.H @ T
        none = np.zeros((0, *D.shape))
        made = Reduced(squares, D, H, B, C, T, rest.q, modes, none, none, none, none, np.zeros((0, *B.shape)),
                       np.zeros((0, *C.shape)), np.zeros((3, 0, *C.shape)))  # fmt: skip
        along = np.eye(len(p)) if directions is None else directions
        return self._with_gradient(model, rest, made, whole, A, far, along) if gradient else made

    def _basis(self, model: ParametricModel, rest: Equilibrium, Z: Array, whole: _Whole) -> tuple[Array, Array, int, _Far]:
        """T, its squares, how many of it are modes, and the motions left out."""
        if not Z.shape[1]:
            raise SuppleError(f"{model.mechanism.name} has nothing that moves with its actuators held; set them free")
        K = Z.T @ whole.K @ Z
        M = Z.T @ whole.M @ Z
        K, M = 0.5 * (K + K.T), 0.5 * (M + M.T)
        try:
            squares, V = eigh(K, M)
        except np.linalg.LinAlgError as error:
            raise PoseError(model.massless(M, Z)) from error
        limit = (2 * np.pi * self.above * self.last_hz) ** 2
        kept = max(int(np.sum(squares < limit)), min(_LEAST, len(squares)))
        modes, others = Z @ V[:, :kept], Z @ V[:, kept:]
        left = _Far(others, squares[kept:], np.zeros((len(others), 0)), np.zeros(0))
        forces = rows_of(model, rest.q, self.inputs, others) if self.inputs else np.zeros((0, len(squares) - kept))
        if not forces.size:
            return modes, squares[:kept], kept, left
        far = np.vstack([forces / squares[kept:] ** k for k in range(1, _MOMENTS + 1)])  # of high modes, slowly pushed
        Q = _orthonormal(far.T)
        high, turn = eigh((Q.T * squares[kept:]) @ Q)
        pushed = others @ (Q @ turn)
        return (
            np.hstack([modes, pushed]),
            np.concatenate([squares[:kept], high]),
            kept,
            replace(left, kept=pushed, high=high),
        )

    def _with_gradient(
        self, model: ParametricModel, rest: Equilibrium, made: Reduced, whole: _Whole, A: Array, far: _Far, along: Array
    ) -> Reduced:  # fmt: skip
        back = np.linalg.pinv(A.T) if len(A) else np.zeros((0, model.nv))
        loops = model.mechanism.equations
        held = {key: (back @ _symmetric(getattr(whole, key)) @ made.T)[:loops] for key in ("M", "K", "D", "H")}
        rows = rows_of(model, rest.q, [*self.outputs, *self.inputs], np.eye(model.nv)) if loops else None
        held_rows = (back @ rows.T)[:loops] if rows is not None else None
        found: dict[str, list[Array]] = {k: [] for k in ("M_p", "K_p", "D_p", "H_p", "B_p", "C_p", "far_p")}
        seen = far.seen(lambda motions: rows_of(model, rest.q, self.outputs, motions), whole.H)
        moved = Held(model, rest, whole.held_K, self.straight, list(self.pose.at))
        for dp in along:
            for key, value in self._along(moved, made, held, held_rows, seen, dp).items():
                found[key].append(value)
        whole_far = np.array(found.pop("far_p")).reshape(len(along), 3, *made.C.shape).swapaxes(0, 1)
        return replace(made, far_p=whole_far, **{k: np.array(v) for k, v in found.items()})  # type: ignore[arg-type]

    def _along(
        self, moved: Held, made: Reduced, held: dict[str, Array], held_rows: Array | None, seen: Array, dp: Array
    ) -> dict[str, Array]:  # fmt: skip
        """Derivatives along a change of the parameters, the shift of the equilibrium included."""
        T, model, rest = made.T, moved.model, moved.rest
        dq, forces = moved.shift(dp)
        dlam = forces[: len(rest.reactions)]
        shifted = Shifted(model, rest.q, rest.reactions, dq, dlam, dp)
        wide = {
            "M": shifted.call("inertia", direction=T.T)["f"].T,
            "K": shifted.call("stiffness", held=True, direction=T.T)["f"].T,
            "D": 0.0 * T if shifted.still("damping") else shifted.call("damping", direction=T.T)["f"].T,
            "H": 0.0 * T if shifted.still("loss") else shifted.call("loss", direction=T.T)["f"].T,
        }
        if not self.pose.free:
            for i, slope in shifted.servos().items():
                wide["K"][i] += slope * T[i]
        turning = shifted.call("closure_motion", v=T.T)["velocity"].T if model.mechanism.closures else None
        out = {f"{key}_p": T.T @ value for key, value in wide.items()}
        everything = [*self.outputs, *self.inputs]
        rows = row_slopes(shifted, everything, T)
        if turning is not None and held_rows is not None:
            for key, S in held.items():
                cross = S.T @ turning
                out[f"{key}_p"] = out[f"{key}_p"] - cross - cross.T
            rows = rows - held_rows.T @ turning
        out = {key: 0.5 * (value + value.T) for key, value in out.items()}
        out["far_p"] = np.array([seen @ (wide["K"] + 1j * wide["H"]), seen @ wide["D"], seen @ wide["M"]])
        return out | {"C_p": rows[: len(self.outputs)], "B_p": rows[len(self.outputs) :]}


@dataclass(frozen=True)
class _Far:
    """Motions that a Reduced leaves out (columns), their squares, and of them those that it keeps as responses to forces."""

    motions: Array
    squares: Array
    kept: Array
    high: Array

    def seen(self, rows: Callable[[Array], Array], H: Array) -> Array:
        """What outputs (rows) see of forces (columns, one for each coordinate) that push these motions slowly."""
        loss = np.einsum("ik,ij,jk->k", self.motions, H, self.motions) if H.any() else 0.0
        all_of_them = (rows(self.motions) / (self.squares + 1j * loss)) @ self.motions.T
        loss = np.einsum("ik,ij,jk->k", self.kept, H, self.kept) if H.any() else 0.0
        made: Array = all_of_them - (rows(self.kept) / (self.high + 1j * loss)) @ self.kept.T
        return made


class _Whole:
    """M, D, K and H of the tree at an equilibrium."""

    def __init__(self, model: ParametricModel, rest: Equilibrium, servo: dict[int, float]) -> None:
        self.M, self.D = model.mass(rest.q), model.damping(rest.q)
        self.K = model.stiffness(rest.q, rest.reactions)
        self.held_K = self.K.copy()
        self.K[list(servo), list(servo)] += list(servo.values())
        self.H = model.loss_stiffness(rest.q)


def _symmetric(S: Array) -> Array:
    """The symmetric part: K of turning frames has another one along motions that open loops."""
    made: Array = 0.5 * (S + S.T)
    return made


def _orthonormal(columns: Array) -> Array:
    """Orthonormal columns that span these, each taken as of unit size, without those that are rounding."""
    sizes = np.linalg.norm(columns, axis=0)
    U, singular, _ = np.linalg.svd(columns[:, sizes > 0] / sizes[sizes > 0], full_matrices=False)
    made: Array = U[:, singular > 1e-8 * singular.max(initial=0.0)]
    return made
