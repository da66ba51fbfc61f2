"""Rigid arms against Pinocchio (Carpentier et al. 2019), a peer that shares no code with supple."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from robots import build
from scipy.spatial.transform import Rotation

from supple.model.model import Model

pin = pytest.importorskip("pinocchio")

GRAVITY = (1.3, -2.4, -9.1)


@dataclass(frozen=True)
class Link:
    """One link of an arm: where its joint sits, how it moves, and what it carries."""

    joint: str
    axis: tuple[float, ...]
    at: np.ndarray
    angles: np.ndarray  # about z, then y, then x, each turned by the one before
    mass: float
    centre: np.ndarray
    inertia: np.ndarray  # about the centre

    def text(self, index: int) -> str:
        parent = f"link{index - 1}" if index else "base"
        turn = ", ".join(f"{{{k}: {float(x)!r}}}" for k, x in zip("zyx", self.angles, strict=True))
        axis = "" if self.joint == "spherical" else f"axis: {list(self.axis)}, "
        entries = {
            k: float(self.inertia["xyz".index(k[0]), "xyz".index(k[1])]) for k in ("xx", "yy", "zz", "xy", "xz", "yz")
        }
        body = f"{{rigid: {{mass: {self.mass!r}, centre: {self.centre.tolist()}, inertia: {entries}}}}}".replace("'", "")
        return (
            f"  link{index}: {{parent: {parent}, at: {self.at.tolist()}, rotate: [{turn}], joint: {self.joint}, {axis}"
            f"q: q{index}, body: {body}}}\n"
        )

    def peer_joint(self) -> Any:
        if self.joint == "spherical":
            return pin.JointModelSpherical()
        made = pin.JointModelRevoluteUnaligned if self.joint == "revolute" else pin.JointModelPrismaticUnaligned
        return made(np.array(self.axis) / np.linalg.norm(self.axis))


def arm(joints: list[str], seed: int) -> list[Link]:
    """An arm of random links; inertias are those of three pairs of point masses, so that they are physical."""
    rng = np.random.default_rng(seed)
    links = []
    for joint in joints:
        spread = rng.uniform(-0.2, 0.2, (3, 3))
        inertia = sum(0.5 * (x @ x * np.eye(3) - np.outer(x, x)) for x in spread)
        links.append(
            Link(
                joint,
                tuple(rng.uniform(-1, 1, 3).tolist()),
                rng.uniform(-0.5, 0.5, 3),
                rng.uniform(-3, 3, 3),
                float(rng.uniform(0.5, 5)),
                rng.uniform(-0.2, 0.2, 3),
                inertia,
            )
        )
    return links


def ours(links: list[Link]) -> Model:
    text = f"space: spatial\ngravity: {list(GRAVITY)}\nlinks:\n" + "".join(k.text(i) for i, k in enumerate(links))
    driven = "".join(f"  q{i}: {{}}\n" for i, link in enumerate(links) if link.joint != "spherical")
    return build(text + "actuators:\n" + driven)


def theirs(links: list[Link]) -> Any:
    model = pin.Model()
    model.gravity.linear = np.array(GRAVITY)
    at = 0
    for i, link in enumerate(links):
        R = Rotation.from_euler("ZYX", link.angles).as_matrix()
        at = model.addJoint(at, link.peer_joint(), pin.SE3(R, link.at), f"q{i}")
        model.appendBodyToJoint(at, pin.Inertia(link.mass, link.centre, link.inertia), pin.SE3.Identity())
    return model


def random_state(model: Model, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """q of ours, q of theirs (quaternions w last), v and a."""
    rng = np.random.default_rng(seed)
    q, peer = rng.uniform(-3, 3, model.mechanism.nq), np.zeros(model.mechanism.nq)
    for frame in model.mechanism.frames:
        if frame.motion == "spherical":
            q[frame.q] /= np.linalg.norm(q[frame.q])
            peer[frame.q] = np.roll(q[frame.q], -1)
        else:
            peer[frame.q] = q[frame.q]
    return q, peer, rng.uniform(-3, 3, model.nv), rng.uniform(-10, 10, model.nv)


ARMS = {
    "6R": ["revolute"] * 6,
    "RPR": ["revolute", "prismatic", "revolute", "prismatic"],
    "with a ball": ["revolute", "spherical", "prismatic", "spherical", "revolute"],
}


@pytest.fixture(scope="module", params=[(name, seed) for name in ARMS for seed in range(2)], ids=str)
def both(request: pytest.FixtureRequest) -> tuple[Model, Any]:
    name, seed = request.param
    links = arm(ARMS[name], seed)
    return ours(links), theirs(links)


def close_to(found: np.ndarray, truth: np.ndarray) -> bool:
    return bool(np.abs(found - truth).max() < 1e-10 * np.abs(truth).max())


@pytest.mark.parametrize("seed", range(3))
def test_inverse_dynamics(both: tuple[Model, Any], seed: int) -> None:
    """f(q, v, a) against pinocchio's rnea."""
    model, peer = both
    q, peer_q, v, a = random_state(model, seed)
    assert close_to(model.forces(q, v, a), pin.rnea(peer, peer.createData(), peer_q, v, a))


@pytest.mark.parametrize("seed", range(3))
def test_mass_matrix(both: tuple[Model, Any], seed: int) -> None:
    """M(q) against pinocchio's crba, which fills the upper triangle."""
    model, peer = both
    q, peer_q, _, _ = random_state(model, seed)
    M = np.triu(pin.crba(peer, peer.createData(), peer_q))
    assert close_to(model.mass(q), M + np.triu(M, 1).T)


@pytest.mark.parametrize("seed", range(3))
def test_forward_dynamics(both: tuple[Model, Any], seed: int) -> None:
    """forward(tau) against pinocchio's aba; spherical joints are passive."""
    model, peer = both
    q, peer_q, v, _ = random_state(model, seed)
    tau = np.random.default_rng(seed).uniform(-20, 20, len(model.active))
    applied = np.zeros(model.nv)
    applied[model.active] = tau
    assert close_to(model.forward(q, v, tau).a, pin.aba(peer, peer.createData(), peer_q, v, applied))


def test_energies(both: tuple[Model, Any]) -> None:
    """Kinetic energy, and the potential energy of weight, against pinocchio's."""
    model, peer = both
    q, peer_q, v, _ = random_state(model, 5)
    found = model.energy(q, v)
    assert found["kinetic"].sum() == pytest.approx(pin.computeKineticEnergy(peer, peer.createData(), peer_q, v), rel=1e-12)
    assert found["gravity"].sum() == pytest.approx(pin.computePotentialEnergy(peer, peer.createData(), peer_q), rel=1e-10)
