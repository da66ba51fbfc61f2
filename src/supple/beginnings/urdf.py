"""URDF: links with their inertia, joints with axes, limits, damping and friction. Loops come from a loop file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from supple.beginnings.record import Brought, text_of
from supple.errors import SuppleError
from supple.robot.yaml_tree import printable

_JOINTS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "fixed"}
_MOST = 2000  # links


def read_urdf(path: Path) -> Brought:
    """The robot of a URDF file; entities and document types are refused."""
    text, file = text_of(path), printable(str(path))
    if re.search(r"<!(DOCTYPE|ENTITY)", text, re.I):
        raise SuppleError(f"{file}: document types and entities are refused; remove them")
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise SuppleError(f"{file}: is no XML: {printable(str(error))}") from error
    if root.tag != "robot":
        raise SuppleError(f"{file}: is no URDF: its first element is {printable(root.tag)!r}, not 'robot'")
    if len(root) > 2 * _MOST:
        raise SuppleError(f"{file}: has more than {2 * _MOST} parts")
    return _Urdf(root, file).brought()


class _Urdf:
    def __init__(self, root: ElementTree.Element, file: str) -> None:
        self.root, self.file = root, file
        self.missing: list[str] = []
        self.names: dict[str, str] = {}
        self.links = {self._name(x): x for x in root.findall("link")}
        self.joints = root.findall("joint")

    def _name(self, element: ElementTree.Element) -> str:
        """A name that robot files take; one that is changed is told."""
        written = element.get("name", "")
        if not written:
            raise SuppleError(f"{self.file}: a {element.tag} has no name")
        if written not in self.names:
            safe = re.sub(r"[^A-Za-z0-9_.\-]", "_", written)[:60]
            while safe in self.names.values() or safe in ("base", "0", "platform"):
                safe += "_"
            self.names[written] = safe
        return self.names[written]

    def brought(self) -> Brought:
        ends = [(j, self._end(j, "parent"), self._end(j, "child")) for j in self.joints]
        children = [child for _, _, child in ends]
        if len(set(children)) != len(children):
            twice = next(c for c in children if children.count(c) > 1)
            raise SuppleError(
                f"{self.file}: link {twice!r} hangs on two joints; URDF has no loops: put one into a loop file"
            )
        roots = [name for name in self.links if name not in set(children)]
        if len(roots) != 1:
            raise SuppleError(f"{self.file}: {len(roots)} links hang on nothing; there must be one, the base")
        made, actuators = {}, {}
        for joint, parent, child in self._in_order(ends, roots[0]):
            made[child], motor = self._link(joint, parent, child, roots[0])
            if motor is not None:
                actuators[made[child]["q"]] = motor
        bodies = {name: body for name in made if (body := self._body(name)) is not None}
        for name in bodies:
            made[name]["body"] = name
        self.missing += [
            "every link is rigid: URDF knows no sections; give bodies a beam, plate or fe",
            "closures of loops, if the robot has any: --loops FILE.yaml",
        ]
        last = list(made)[-1] if made else "base"
        robot = {
            "name": re.sub(r"[^\w.\-]", "_", self.root.get("name", "robot"), flags=re.A)[:60], "space": "spatial",
            "gravity": [0, 0, -9.81], "bodies": bodies, "links": made, "actuators": actuators,
            "points": {"tool": {"link": last}},
        }  # fmt: skip
        return Brought(robot, self.missing)

    def _end(self, joint: ElementTree.Element, side: str) -> str:
        found = joint.find(side)
        name = self.names.get(found.get("link", "")) if found is not None else None
        if name is None or name not in self.links:
            raise SuppleError(f"{self.file}: joint {printable(joint.get('name', ''))!r} has no {side} among the links")
        return name

    def _in_order(self, ends: list[tuple[Any, str, str]], root: str) -> list[tuple[Any, str, str]]:
        """Joints from the base outwards."""
        placed, left, made = {root}, list(ends), []
        while left:
            ready = [e for e in left if e[1] in placed]
            if not ready:
                raise SuppleError(f"{self.file}: links {left[0][1]!r} and {left[0][2]!r} hang on each other")
            made += ready
            placed |= {child for _, _, child in ready}
            left = [e for e in left if e[2] not in placed]
        return made

    def _link(self, joint: Any, parent: str, child: str, root: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
        kind = joint.get("type", "")
        if kind not in _JOINTS:
            raise SuppleError(
                f"{self.file}: joint of {child!r}: type {printable(kind)!r} is not taken; {', '.join(_JOINTS)} are"
            )
        xyz, rpy = self._origin(joint)
        made: dict[str, Any] = {"parent": "base" if parent == root else parent}
        if any(xyz):
            made["at"] = xyz
        if any(rpy):
            made["rotate"] = [{"z": rpy[2]}, {"y": rpy[1]}, {"x": rpy[0]}]
        if kind == "fixed":
            return made, None
        name = self._name(joint)
        axis = self._numbers(joint.find("axis"), "xyz", [1.0, 0.0, 0.0])
        made |= {"joint": _JOINTS[kind], "axis": axis, "q": name}
        limit = joint.find("limit")
        ends = [0.0, 0.0] if limit is None else [self._number(limit, "lower"), self._number(limit, "upper")]
        if kind != "continuous" and ends[0] < ends[1]:
            made["limits"] = ends
        elif kind != "continuous":
            self.missing.append(f"limits of {name}")
        if joint.find("mimic") is not None:
            self.missing.append(f"mimic of {name}: left out; tie the joints by a closure")
        return made, self._motor(joint, name)

    def _motor(self, joint: Any, name: str) -> dict[str, Any]:
        self.missing.append(f"inertia of the motor of {name}, and whether it has one at all")
        dynamics, made = joint.find("dynamics"), {}
        for key, word in (("damping", "viscous"), ("friction", "coulomb")):
            if dynamics is not None and (value := self._number(dynamics, key)):
                made[word] = value
        return made

    def _body(self, name: str) -> dict[str, Any] | None:
        inertial = self.links[name].find("inertial")
        mass = None if inertial is None else inertial.find("mass")
        if inertial is None or mass is None:
            self.missing.append(f"mass and inertia of link {name}")
            return None
        xyz, rpy = self._origin(inertial)
        tensor = inertial.find("inertia")
        inertia = np.zeros((3, 3))
        for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
            inertia[i, j] = inertia[j, i] = 0.0 if tensor is None else self._number(tensor, f"i{'xyz'[i]}{'xyz'[j]}")
        R = _turn(rpy)
        inertia = R @ inertia @ R.T
        entries = {
            f"{'xyz'[i]}{'xyz'[j]}": float(f"{inertia[i, j]:.9g}")
            for i in range(3)
            for j in range(i, 3)
            if abs(inertia[i, j]) > 1e-15
        }
        made: dict[str, Any] = {"mass": self._number(mass, "value"), "centre": xyz, "unphysical": "allowed"}
        return {"rigid": made | ({"inertia": entries} if entries else {})}

    def _origin(self, element: Any) -> tuple[list[float], list[float]]:
        origin = element.find("origin")
        return self._numbers(origin, "xyz", [0.0] * 3), self._numbers(origin, "rpy", [0.0] * 3)

    def _numbers(self, element: Any, key: str, usual: list[float]) -> list[float]:
        if element is None or element.get(key) is None:
            return usual
        try:
            found = [float(x) for x in element.get(key).split()]
        except ValueError:
            found = []
        if len(found) != 3 or not np.isfinite(found).all():
            raise SuppleError(f"{self.file}: {element.tag} {key}={printable(element.get(key))!r} must be three numbers")
        return found

    def _number(self, element: Any, key: str) -> float:
        try:
            found = float(element.get(key, "0"))
        except ValueError:
            found = float("nan")
        if not np.isfinite(found):
            raise SuppleError(f"{self.file}: {element.tag} {key}={printable(element.get(key, ''))!r} is no number")
        return found


def _turn(rpy: list[float]) -> np.ndarray[Any, Any]:
    """Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    made: np.ndarray[Any, Any] = z @ y @ x
    return made
