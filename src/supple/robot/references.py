"""Names in a robot file that stand for other parts of it: bodies, materials, sections, links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from supple.robot.description import Body, Leg, Link, RobotFile
from supple.robot.values import varied_bodies
from supple.robot.yaml_tree import FileTree, Path_

BASE = ("base", "0")


@dataclass(frozen=True)
class _Place:
    """A template entry: its path, the leg it is a template of, and what it holds."""

    path: Path_
    template: str
    part: Any


def reference_problems(robot: RobotFile, tree: FileTree, whole: bool) -> list[str]:
    """What refers to nothing, hangs on nothing, or is used by nothing (if the file is `whole`)."""
    made = _References(robot, tree, whole)
    made.check_bodies()
    if whole and not made.problems:
        made.check_unused()
    if not made.hidden:
        made.check_links()
    return made.problems


class _References:
    def __init__(self, robot: RobotFile, tree: FileTree, whole: bool) -> None:
        self.robot = robot
        self.hidden = not whole and _misspelt(tree.value)
        self.tree = tree
        self.problems: list[str] = []
        self.links: dict[tuple[str, str], _Place] = {
            (place.template, str(place.path[-1])): place for place in self.entries("links")
        }
        self.used: set[str] = set()

    def entries(self, section: str) -> Iterator[_Place]:
        for name, part in getattr(self.robot, section).items():
            yield _Place((section, name), "", part)
        for template, leg in self.robot.legs.items():
            for name, part in getattr(leg, section).items():
                yield _Place(("legs", template, section, name), template, part)

    def written(self, *path: str) -> set[str]:
        """Names under a key as written, those with problems of their own included."""
        part = self.tree.at(path)
        return set(part) if isinstance(part, dict) else set()

    def missing(self, name: str, section: str) -> bool:
        """Whether a section lacks a name; one under a misspelt key may hold it."""
        return name not in self.written(section) and not self.hidden

    def note(self, path: Path_, text: str, name: str, known: Iterable[str], otherwise: str) -> None:
        close = get_close_matches(name, sorted(known), n=1)
        hint = f"did you mean {close[0]!r}?" if close else otherwise
        self.problems.append(self.tree.problem(path, f"{text}; {hint}"))

    # Bodies ------------------------------------------------------------------------------------------------

    def check_bodies(self) -> None:
        for name, body in self.robot.bodies.items():
            self.check_body(body, ("bodies", name))
        for place in self.entries("links"):
            body, varied = place.part.body, None
            if place.template and isinstance(body, str):
                varied = varied_bodies(self.robot, place.template, body)
            for one in [body] if varied is None else varied:
                self.check_body(one, (*place.path, "body"))
        if self.robot.platform is not None:
            self.check_body(self.robot.platform.body, ("platform", "body"))

    def check_body(self, body: str | Body | None, path: Path_) -> None:
        if isinstance(body, str):
            self.used.add(body)
            if self.missing(body, "bodies"):
                known = self.written("bodies")
                self.note(path, f"there is no body {body!r}", body, known, "define it under bodies")
        elif body is not None:
            for key in ("beam", "plate", "fe"):
                self.check_uses(getattr(body, key), (*path, key))
            ribs = body.plate.stiffeners if body.plate is not None else []
            for number, rib in enumerate(ribs):
                self.check_uses(rib, (*path, "plate", "stiffeners", number))

    def check_uses(self, part: Any, path: Path_) -> None:
        """Notes a material, section or attachment that a body names and nobody defines."""
        for kind in ("material", "section"):
            name = getattr(part, kind, None)
            if name is not None and self.missing(name, f"{kind}s"):
                text, known = f"there is no {kind} {name!r}", self.written(f"{kind}s")
                self.note((*path, kind), text, name, known, f"define it under {kind}s")
        root = getattr(part, "root", None)
        if root is not None and root not in part.attachments:
            text = f"there is no attachment {root!r}"
            self.note((*path, "root"), text, root, part.attachments, "name it under attachments")

    def check_unused(self) -> None:
        for name in self.robot.bodies:
            if name not in self.used:
                text = "is not connected: no link carries it; add a link or remove it"
                self.problems.append(self.tree.problem(("bodies", name), text))
        if not self.robot.links and not self.robot.legs and self.robot.platform is None:
            self.problems.append(self.tree.problem(("links",), "there are no links; a robot needs at least one"))

    # Links -------------------------------------------------------------------------------------------------

    def check_links(self) -> None:
        for place in self.entries("links"):
            if place.path[-1] in (*BASE, "platform"):
                text = f"the name {place.path[-1]} is taken; choose another"
                self.problems.append(self.tree.problem(place.path, text))
            key = "a" if place.part.a is not None else "parent"
            self.check_link(place, getattr(place.part, key), (*place.path, key))
        for place in self.entries("closures"):
            for key, anchor in (("from", place.part.first), ("to", place.part.second)):
                self.check_link(place, anchor.link, (*place.path, key, "link"))
        for place in self.entries("points"):
            self.check_link(place, place.part.link, (*place.path, "link"))
        self.check_chains()

    def check_link(self, place: _Place, name: str, path: Path_) -> None:
        if name not in {*BASE, *self.names(place.template)} and self.leg_link(name) is None:
            known = self.names(place.template)
            listed = f"known here: base, {', '.join(sorted(known)[:12])}".rstrip(", ")
            self.note(path, f"there is no link {name!r}", name, known, listed)

    def leg_link(self, name: str) -> tuple[str, str] | None:
        """Template and link of a full name such as leg2/rod, if there is such a leg and link."""
        leg, _, own = name.partition("/")
        for template in self.written("legs"):
            count = self.robot.legs[template].count if template in self.robot.legs else 64
            if own in self.written("legs", template, "links") and leg in {f"{template}{k + 1}" for k in range(count)}:
                return template, own
        return None

    def names(self, template: str) -> set[str]:
        own = self.written("legs", template, "links") if template else set()
        platform = {"platform"} if "platform" in self.tree.value else set()
        return self.written("links") | own | platform

    def owner(self, name: str, template: str) -> _Place | None:
        """The template entry a link's name stands for, if it is a well-formed link."""
        full = self.leg_link(name)
        if full is not None:
            return self.links.get(full)
        return self.links.get((template, name)) or self.links.get(("", name))

    def check_chains(self) -> None:
        """Notes links that only hang on each other."""
        grounded: set[Path_] = set()
        for place in self.entries("links"):
            seen: set[Path_] = set()
            here: _Place | None = place
            while here is not None and here.path not in seen and here.path not in grounded:
                seen.add(here.path)
                here = self.owner(_parent(here.part), here.template) if _parent(here.part) not in BASE else None
            if here is None or here.path in grounded:
                grounded |= seen
            else:
                text = "which never reaches the base; let the chain start there"
                self.problems.append(self.tree.problem(place.path, f"hangs on {_parent(place.part)!r}, {text}"))


def _misspelt(value: dict[str, Any]) -> bool:
    """Whether a section of the file, or of a leg, may hide under a misspelt key."""
    legs = value.get("legs")
    parts = list(legs.values()) if isinstance(legs, dict) else []
    leg_keys = [k for leg in parts if isinstance(leg, dict) for k in leg]
    return not (value.keys() <= RobotFile.model_fields.keys() and set(leg_keys) <= Leg.model_fields.keys())


def _parent(link: Link) -> str:
    return str(link.a if link.a is not None else link.parent)
