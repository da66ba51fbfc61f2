"""`Machine`: a robot file that is read once, and what follows from it, every stage made once and on one screen.

file --read--> Source --describe--> Description --assemble--> Mechanism --derive--> Equations --> Model
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self, TypeVar

from supple.errors import RobotFileError, SuppleError
from supple.expr.function import Array, parameters
from supple.expr.uncollected import uncollected
from supple.formulations import registry
from supple.formulations.record import Equations, Underived, Unsupported
from supple.formulations.registry import USUAL as USUAL  # for those that know the Machine only
from supple.model.firm import LARGE
from supple.model.full_damping import taken_out
from supple.model.memory import memory_of
from supple.model.model import Model
from supple.model.posture import posture
from supple.motion.description import Motion
from supple.motion.reader import read_motion
from supple.robot.assemble import assemble
from supple.robot.fingerprint import fingerprint
from supple.robot.kept_mechanism import kept_mechanism
from supple.robot.mechanism import Mechanism
from supple.robot.reader import Description, Source, describe, parse_robot, read_source

GALLERY = Path(__file__).parent / "gallery"
T = TypeVar("T")


def gallery() -> list[str]:
    """Names of the robots that ship with supple."""
    return sorted(p.stem for p in GALLERY.glob("*.yaml"))


def locate(robot: str | Path) -> Path:
    """The file of a gallery name or a path."""
    if isinstance(robot, str) and robot in gallery():
        return GALLERY / f"{robot}.yaml"
    path = Path(robot)
    try:
        there = path.exists()
    except OSError:
        there = False
    if not there and path.suffix not in (".yaml", ".yml"):
        close = get_close_matches(str(robot), gallery(), n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"the gallery has: {', '.join(gallery())}"
        raise SuppleError(f"there is no robot {str(robot)!r}; {hint}")
    return path


@dataclass(frozen=True)
class Kept:
    """Equations with symbols for some parameters of a robot, the symbols, and the numbers that they stand for."""

    equations: Equations
    symbols: Array
    values: tuple[float, ...]
    signs: tuple[int, ...] = ()  # what the robot file lets them be: 0 any number, 1 not below zero, 2 above zero


@dataclass(frozen=True, eq=False)
class Machine:
    """A robot file with values for its parameters; mechanisms, equations and models of it are made when first asked for.

    `settings` replace parameters of the file (text with a unit, or numbers in SI); parameters named in `keep` stay symbols,
    so that equations and what is generated from them have them as inputs."""

    source: Source = field(repr=False)
    settings: Mapping[str, Any] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    _made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        _ = self.description  # complaints about the file come at once
        _ = self.values

    @classmethod
    def read(
        cls, robot: str | Path, settings: Mapping[str, Any] | None = None, *, allow_outside: bool = False
    ) -> Machine:  # fmt: skip
        """The Machine of a gallery robot or a robot file; files that it names lie in its folder unless `allow_outside`."""
        return Machine(read_source(locate(robot), allow_outside=allow_outside), dict(settings or {}))

    @classmethod
    def parse(cls, text: str, settings: Mapping[str, Any] | None = None, file: str = "robot.yaml") -> Machine:
        """The Machine of a robot file's text."""
        return Machine(parse_robot(text, file), dict(settings or {}))

    # Variants -----------------------------------------------------------------------------------------------------

    def changed(self, settings: Mapping[str, Any]) -> Self:
        """The same robot with further parameters replaced."""
        return self._variant({**self.settings, **settings}, self.keep)

    def keeping(self, names: Sequence[str]) -> Self:
        """The same robot with these parameters as symbols; their values stay known."""
        return self if tuple(names) == self.keep else self._variant(self.settings, tuple(names))

    def _variant(self, settings: Mapping[str, Any], keep: tuple[str, ...]) -> Self:
        made = object.__new__(type(self))
        Machine.__init__(made, self.source, settings, keep)
        return made

    # Stages -------------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self.source.robot.name

    @cached_property
    def description(self) -> Description:
        """The file's records, and numbers for its parameters."""
        return describe(self.source, self.settings)

    @cached_property
    def symbols(self) -> Array:
        """What stands for the kept parameters."""
        return parameters(self.keep)

    @cached_property
    def values(self) -> tuple[float, ...]:
        """The numbers of the kept parameters."""
        known = self.description.parameters
        for name in self.keep:
            if name not in known:
                raise SuppleError(f"{self.name} has no parameter {name!r} to keep; it has: {', '.join(known) or 'none'}")
        return tuple(float(known[name].number) for name in self.keep)

    def mechanism(self, *, rigid: bool = False) -> Mechanism:
        """The tree of frames and its loops; `rigid` takes all flexibility out of it."""
        return self._once(("mechanism", rigid), lambda: self._assembled(rigid))

    def _assembled(self, rigid: bool) -> Mechanism:
        question = self._question(rigid)
        if not question:
            return assemble(self._symbolic, rigid)
        return kept_mechanism(question, lambda: assemble(self._symbolic, rigid))

    def _question(self, rigid: bool) -> tuple[str, ...]:
        """What a mechanism depends on besides files that the robot file names; nothing if it is made in no time."""
        written = self.source.robot.bodies.values()
        slow = any(body.plate is not None for body in written) and not any(body.fe is not None for body in written)
        if self.keep or not slow or not all(isinstance(x, (str, int, float)) for x in self.settings.values()):
            return ()
        source = self.source
        settings = [f"{name}={value!r}" for name, value in self.settings.items()]
        kind = ("rigid",) if rigid else ()
        return (source.sha256, source.robot.name, str(source.folder), str(source.outside), *kind, *settings)

    @cached_property
    def question(self) -> tuple[str, ...]:
        """What everything that is derived depends on, kept parameters included; nothing if that cannot be said."""
        plain = self.keeping(()) if self.keep else self
        digits = plain._digits()
        if digits is None or not all(isinstance(x, (str, int, float)) for x in self.settings.values()):
            return ()
        settings = [f"{name}={value!r}" for name, value in self.settings.items()]
        return (digits, self.source.sha256, *settings, "keep", *self.keep)

    def _digits(self, rigid: bool = False) -> str | None:
        """What tells its mechanism apart; None with symbols in it."""
        return self._once(("digits", rigid), lambda: fingerprint(self.mechanism(rigid=rigid)))

    def equations(self, formulation: str = USUAL, *, rigid: bool = False) -> Equations:
        """The equations of motion as a formulation writes them."""
        return self._once((formulation, rigid), lambda: self._derived(formulation, rigid))

    def model(self, formulation: str = USUAL, *, rigid: bool = False) -> Model:
        """The equations evaluated with numbers, those of kept parameters included."""
        plain = self.keeping(()) if self.keep else self
        return self._once(("model", formulation, rigid), lambda: plain._model(formulation, rigid))

    def _model(self, formulation: str, rigid: bool) -> Model:
        """Equations that were derived before are not derived again before somebody asks for what is not remembered. Full
        damping of robots with many coordinates stands beside them."""
        mechanism, method = self.mechanism(rigid=rigid), partial(registry.formulation, formulation)
        whole = mechanism.nv < LARGE or method().in_time == "closed forms only"
        thin, beside = (mechanism, ()) if whole else taken_out(mechanism)

        def derive() -> Equations:
            return self.equations(formulation, rigid=rigid) if thin is mechanism else self._derived(formulation, rigid, thin)

        memory = memory_of(mechanism, self._digits(rigid), formulation)
        if memory.known:
            return Model(Underived(formulation, thin, lambda: method().couple, derive), memory, mechanism, beside)
        made = Model(derive(), memory, mechanism, beside)
        memory.note()
        return made

    def kept(self, formulation: str = USUAL, *, rigid: bool = False) -> Kept | None:
        """The equations with the symbols of kept parameters in them; None if there are none."""
        if not self.keep:
            return None
        signs = tuple(self._sign(name) for name in self.keep)
        return Kept(self.equations(formulation, rigid=rigid), self.symbols, self.values, signs)

    def _sign(self, name: str) -> int:
        """What the robot file lets a parameter be: 0 any number, 1 not below zero, 2 above zero."""
        value = float(self.description.parameters[name].number)
        with warnings.catch_warnings(action="ignore"):
            refused = [not self._takes(name, x) for x in (0.0, -abs(value))]
        return 0 if value <= 0 or not refused[1] else 2 if refused[0] else 1

    def _takes(self, name: str, value: float) -> bool:
        try:
            describe(self.source, {**self.settings, name: value})
        except SuppleError:
            return False
        return True

    def motion(
        self, motion: str | Path | None = None, duration: float | None = None, cutoff: float | None = None
    ) -> Motion:  # fmt: skip
        """A motion: by its name in the robot file (None: its only one), or from a motion file (.yaml) or table (.csv), whose
        samples are filtered at a cutoff (Hz), if one is given."""
        chosen = self._only_motion() if motion is None else motion
        return read_motion(self.description, chosen, self._outline, self.point_at_home, duration, cutoff)

    def _only_motion(self) -> str:
        written = self.description.robot.motions
        if len(written) != 1:
            choice = f"it has: {', '.join(written)}" if written else "its file has none; name a file (.yaml, .csv)"
            raise SuppleError(f"choose a motion of {self.name}; {choice}")
        return str(next(iter(written)))

    def point_at_home(self, point: str, assembly: str | None = None) -> tuple[float, ...]:
        """Where a named point of the robot that does not bend is at home."""
        rigid = self.model(rigid=True)
        found = rigid.call("points", q=posture(rigid, None, assembly))["position"]
        return tuple(float(x) for x in found[list(rigid.mechanism.points).index(point)])

    @cached_property
    def _symbolic(self) -> Description:
        """The description with symbols for the parameters that are kept."""
        if not self.keep:
            return self.description
        return describe(self.source, {**self.settings, **dict(zip(self.keep, self.symbols, strict=True))})

    @property
    def _outline(self) -> Mechanism:
        """The robot without its flexibility, which is quicker to assemble; a robot that only bends is taken whole."""
        try:
            return self.mechanism(rigid=True)
        except RobotFileError:
            return self.mechanism()

    @uncollected()
    def _derived(self, formulation: str, rigid: bool, thin: Mechanism | None = None) -> Equations:
        """The equations of the mechanism, or of what is left of it."""
        mechanism = thin or self.mechanism(rigid=rigid)
        try:
            return registry.formulation(formulation).derive(mechanism)
        except Unsupported as reason:
            raise SuppleError(
                f"{mechanism.name}: the formulation {formulation!r} does not take this robot, because of {reason}"
            ) from reason

    def _once(self, key: Any, make: Callable[[], T]) -> T:
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made
