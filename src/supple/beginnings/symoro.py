"""SYMORO's parameter files (.par): geometry in the notation of Khalil and Kleinfinger, inertial parameters, friction."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from supple.beginnings.record import Brought, text_of
from supple.errors import SuppleError
from supple.robot.quantity import TAKEN
from supple.robot.yaml_tree import printable

_LIST = re.compile(r"^\s*(\w+)\s*=\s*\{([^}]*)\}", re.M)
_NUMBER = re.compile(r"^\s*(\w+)\s*=\s*(\d{1,9})\b", re.M | re.A)
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*", re.A)
_EXPRESSION = re.compile(r"[\w\s.+\-*/^()]*", re.A)
_GEOMETRY = {"gamma": "gamma", "b": "b", "alpha": "alpha", "d": "d", "theta": "theta", "r": "r"}
_INERTIA = ("xx", "xy", "xz", "yy", "yz", "zz")
_TYPICAL = {"m": "1 kg", "length": "0.1 m", "angle": "0 rad", "other": "0"}


def read_par(path: Path, values: dict[str, str] | None = None) -> Brought:
    """The robot of a .par file; symbols without a value get one that is said to be missing."""
    text = re.sub(r"\(\*.*?\*\)", "", text_of(path), flags=re.S)
    table = {k.lower(): [x.strip() for x in body.split(",")] for k, body in _LIST.findall(text)}
    sizes = {k.lower(): int(n) for k, n in _NUMBER.findall(text)}
    frames = len(table.get("sigma", ()))
    if not 1 <= frames <= 200 or len(table.get("ant", ())) != frames:
        raise SuppleError(f"{printable(str(path))}: is no SYMORO file: Sigma and Ant must be lists of the same length")
    for key, entries in table.items():
        bad = [x for x in entries if len(x) > 200 or not _EXPRESSION.fullmatch(x)]
        if bad:
            raise SuppleError(f"{printable(str(path))}: {key}: {printable(bad[0])!r} is no number or expression")
    links, joints = sizes.get("nl", frames), sizes.get("nj", frames)
    if not 1 <= links <= joints <= frames:
        raise SuppleError(
            f"{printable(str(path))}: NL = {links} links and NJ = {joints} joints do not fit the {frames} frames of Sigma"
        )
    return _Par(path.stem, table, links, joints, values or {}).brought()


class _Par:
    def __init__(self, name: str, table: dict[str, list[str]], links: int, joints: int, values: dict[str, str]) -> None:
        self.name, self.table, self.links, self.joints, self.values = name, table, links, joints, values
        self.parameters: dict[str, Any] = {}
        self.missing: list[str] = []

    def brought(self) -> Brought:
        count = len(self.table["sigma"])
        links = {str(j): self._link(j) for j in range(1, count + 1)}
        bodies = {f"body{j}": b for j in range(1, self.links + 1) if (b := self._body(j))}
        for j in range(1, self.links + 1):
            if f"body{j}" in bodies:
                links[str(j)]["body"] = f"body{j}"
        closures = {}
        for k in range(self.links + 1, self.joints + 1):
            other = k + self.joints - self.links
            closures[f"loop{k - self.links}"] = {"joint": "fixed", "from": {"link": str(other)}, "to": {"link": str(k)}}
        actuators = {
            f"q{j}": a for j in range(1, count + 1) if self._at("mu", j) == "1" and (a := self._actuator(j)) is not None
        }
        gravity = [self._value(x, "other", "gravity") for x in self.table.get("g", ["0", "0", "0"])[:3]]
        self.missing.append("every link is rigid: SYMORO files know no sections; give bodies a beam, plate or fe")
        if closures:
            self.missing.append("guesses of the joint values with which the loops close: add assembly:")
        robot = {
            "name": self.name, "space": "spatial", "gravity": gravity, "parameters": self.parameters, "bodies": bodies,
            "links": links, "closures": closures, "actuators": actuators, "points": {"tool": {"link": str(self.links)}},
        }  # fmt: skip
        return Brought(robot, self.missing)

    def _at(self, key: str, j: int) -> str:
        entries = self.table.get(key, [])
        return entries[j - 1] if j <= len(entries) and entries[j - 1] else "0"

    def _link(self, j: int) -> dict[str, Any]:
        sigma = self._at("sigma", j)
        if sigma not in ("0", "1", "2"):
            raise SuppleError(f"Sigma of joint {j}: {printable(sigma)!r} is none of 0 (revolute), 1 (prismatic), 2 (fixed)")
        before = self._at("ant", j)
        if not before.isdigit() or int(before) >= j:
            raise SuppleError(f"Ant of joint {j}: {printable(before)!r} is no link before it")
        made: dict[str, Any] = {"a": "base" if before == "0" else before, "sigma": int(sigma)}
        moves = {"0": "theta", "1": "r"}.get(sigma)
        if moves:
            made["q"] = f"q{j}"
        for key in _GEOMETRY:
            written = self._at(key, j)
            if key != moves and written not in ("0", "0.0"):
                what = "angle" if key in ("gamma", "alpha", "theta") else "length"
                made[key] = self._value(written, what, f"{key} of joint {j}")
        return made

    def _body(self, j: int) -> dict[str, Any] | None:
        """A rigid body; entries that only repeat their own name (XX1) are taken as not given."""
        given = {k: self._given(k, j) for k in ("m", "mx", "my", "mz", *_INERTIA)}
        if given["m"] is None:
            self.missing.append(f"mass of link {j}")
        if all(x is None for x in given.values()):
            return None
        inertia = {k: x for k in _INERTIA if (x := given[k]) not in (None, "0")}
        moments = [given[k] or "0" for k in ("mx", "my", "mz")]
        made: dict[str, Any] = {"mass": given["m"] or "0", "unphysical": "allowed"}
        if any(x != "0" for x in moments):
            made["first_moments"] = moments
        return {"rigid": made | ({"inertia_at_origin": inertia} if inertia else {})}

    def _given(self, key: str, j: int) -> str | None:
        written = self._at(key, j)
        if written.lower() == f"{key}{j}" and written not in self.values:
            return None
        return self._value(written, "m" if key == "m" else "other", f"{key} of link {j}")

    def _actuator(self, j: int) -> dict[str, Any]:
        made = {}
        for key, word in (("ia", "inertia"), ("fv", "viscous"), ("fs", "coulomb")):
            written = self._at(key, j)
            if written.lower() == f"{key}{j}" and written not in self.values:
                self.missing.append(f"{word} of motor {j} ({written})")
            elif written != "0":
                made[word] = self._value(written, "other", f"{key} of joint {j}")
        return made

    def _value(self, written: str, what: str, where: str) -> str:
        """An expression of a robot file; its symbols become parameters."""
        for name in _NAME.findall(written):
            if name.lower() in ("pi", "sin", "cos", "sqrt", "e"):
                continue
            safe = f"{name}_" if name in TAKEN else name
            if safe not in self.parameters:
                known = self.values.get(name)
                self.parameters[safe] = known if known is not None else _TYPICAL[what]
                if known is None:
                    self.missing.append(f"value of {name}, {where}: {_TYPICAL[what]} is written; --set {name}=...")
            written = re.sub(rf"\b{re.escape(name)}\b", safe, written)
        return written.replace("Pi", "pi") or "0"
