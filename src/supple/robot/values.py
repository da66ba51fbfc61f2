"""Values of a robot file: parameters, legs' own lists, and every quantity checked against its field."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel

from supple.errors import SuppleError
from supple.robot.body_entries import Plate
from supple.robot.description import Parameter, RobotFile
from supple.robot.fields import FileRecord, Q
from supple.robot.plausible import unusual
from supple.robot.quantity import (
    TAKEN,
    Quantity,
    QuantityError,
    Value,
    dimension_text,
    evaluate,
    fits,
    is_number,
    names_in,
    parse,
)
from supple.robot.units import DIMENSIONS, Dimension
from supple.robot.yaml_tree import FileTree, Path_

UNKNOWN = Value(None, None)  # of a parameter with a problem of its own; what depends on it is not judged
_LARGEST = 1e30  # of a value in SI units, and of its inverse
_PLAIN = (type(None), str, bool, int)  # what has no quantities in it
_ANY = Q("any")
_COUNTERS = ("i", "n")  # what a leg calls its number and the number of legs


@dataclass
class Scope:
    """Where quantities are evaluated: the file, and the problems found on the way."""

    tree: FileTree
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)  # on values that are allowed but unlikely

    def note(self, path: Path_, text: str) -> None:
        self.problems.append(self.tree.problem(path, text))

    def value(self, quantity: Quantity, rule: Q, known: Mapping[str, Value], path: Path_) -> Value:
        """The value of a quantity, or UNKNOWN with its problem noted."""
        if any(known.get(n) is UNKNOWN for n in names_in(quantity)):
            return UNKNOWN
        try:
            value = evaluate(quantity, known)
            check_value(value, rule)
        except (QuantityError, OverflowError) as error:
            self.note(path, str(error))
            return UNKNOWN
        said = unusual(float(value.number), rule.kind or rule.dimension) if is_number(value.number) else None
        if said:
            self.remarks.append(self.tree.problem(path, said))
        return value


def check_value(value: Value, rule: Q) -> None:
    """Raises QuantityError if a value does not fit its field."""
    check_dimension(value, rule.dimension)
    x: Any = value.number
    if not is_number(x):
        if rule.whole:
            raise QuantityError("must be a number, not a kept parameter")
        return  # a symbol that the caller keeps
    if x != 0 and not 1 / _LARGEST <= abs(float(x)) <= _LARGEST:
        raise QuantityError(f"is out of range: numbers lie between {1 / _LARGEST:g} and {_LARGEST:g} in SI units")
    if rule.whole and x != int(x):
        raise QuantityError("must be a whole number")
    if rule.above is not None and not x > rule.above:
        raise QuantityError("must be positive" if rule.above == 0 else f"must be above {rule.above:g}")
    if rule.least is not None and not x >= rule.least:
        raise QuantityError("must not be negative" if rule.least == 0 else f"must be at least {rule.least:g}")
    if rule.below is not None and not x < rule.below:
        raise QuantityError(f"must be below {rule.below:g}")
    if rule.most is not None and not x <= rule.most:
        raise QuantityError(f"must be at most {rule.most:g}")


@cache
def _dimensions(wanted: str) -> tuple[Dimension, ...]:
    return tuple(DIMENSIONS[name] for name in wanted.split(" or ") if name in DIMENSIONS)


def check_dimension(value: Value, wanted: str) -> None:
    """Raises QuantityError if a value's units make none of the wanted dimensions ("angle or length")."""
    allowed = _dimensions(wanted)
    if not allowed or any(fits(value, dims) for dims in allowed):
        return
    article = "an" if wanted[0] in "aeiou" else "a"
    text = f"must be {article} {wanted}, but the units given make {dimension_text(value.dimension)}"
    if value.dimension == DIMENSIONS["frequency"] and "rate" in wanted:
        text += "; write rad/s (1 Hz is 2*pi rad/s)"
    raise QuantityError(text)


# Parameters -----------------------------------------------------------------------------------------------


def parameter_values(robot: RobotFile, scope: Scope, settings: Mapping[str, Any]) -> dict[str, Value]:
    """Values of the named parameters: defaults of the file, replaced by settings, in order of dependence."""
    written = {k: p.value if isinstance(p, Parameter) else p for k, p in robot.parameters.items()}
    raw = scope.tree.value.get("parameters")
    values = {name: UNKNOWN for name in (raw if isinstance(raw, dict) else ()) if name not in TAKEN}
    _check_settings(settings, values, scope.tree.file)
    for name in written:
        if name in TAKEN or (name in _COUNTERS and robot.legs):
            what = "counts the legs" if name in _COUNTERS else "is a unit, constant or function"
            scope.note(("parameters", name), f"{name} {what}; choose another name")
    written = {name: quantity for name, quantity in written.items() if name not in TAKEN}
    defaults = _in_order(written, scope, values)
    if not settings:
        return defaults
    return _in_order(written, scope, values, {k: s for k, s in settings.items() if s is not None}, defaults)


def _in_order(
    written: Mapping[str, Quantity],
    scope: Scope,
    unknown: Mapping[str, Value],
    settings: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Value] | None = None,
) -> dict[str, Value]:
    """Values of the parameters, each after those it depends on; settings replace what is written."""
    settings, defaults, values = settings or {}, defaults or {}, dict(unknown)
    pending = {k: _parsed_setting(k, settings[k]) if k in settings else q for k, q in written.items()}
    while pending:
        ready = [k for k, q in pending.items() if q is None or not (names_in(q) & pending.keys())]
        if not ready:
            for name in pending:
                scope.note(("parameters", name), "depends on itself; give one of these parameters a number")
            break
        for name in ready:
            quantity = pending.pop(name)
            if quantity is None:
                kept = defaults[name].dimension if name in defaults else None
                values[name] = Value(settings[name], kept)  # a symbol that the caller keeps
            elif name in settings:
                values[name] = _setting(name, quantity, defaults[name], values)
            else:
                values[name] = scope.value(quantity, Q("any"), values, ("parameters", name))
    return values


def _check_settings(settings: Mapping[str, Any], known: Mapping[str, Value], file: str) -> None:
    lines = []
    for name in settings:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            every = f"it has: {', '.join(known)}" if known else "it has none"
            hint = f"did you mean {close[0]!r}?" if close else every
            lines.append(f"{file}: there is no parameter {name!r}; {hint}")
    if lines:
        raise SuppleError("\n".join(lines))


def _parsed_setting(name: str, given: Any) -> Quantity | None:
    """The quantity set for a parameter, or None for a symbol."""
    if not isinstance(given, (str, numbers.Real)):
        return None
    try:
        return parse(given)
    except QuantityError as error:
        raise SuppleError(f"parameter {name}: {str(given)[:60]!r} {error}") from error


def _setting(name: str, given: Quantity, default: Value, known: Mapping[str, Value]) -> Value:
    """The value set for a parameter; a bare number has the units of the file's default."""
    if any(known.get(n) is UNKNOWN for n in names_in(given)):
        return UNKNOWN
    try:
        value = evaluate(given, known)
        check_value(value, Q("any"))
        if value.dimension is None:
            return Value(value.number, default.dimension)
        if default.dimension not in (None, value.dimension):
            wanted = dimension_text(default.dimension)
            raise QuantityError(f"makes {dimension_text(value.dimension)}; the robot file has {wanted}")
    except (QuantityError, OverflowError) as error:
        raise SuppleError(f"parameter {name}: {given.text[:60]!r} {error}") from error
    return value


def leg_scope(robot: RobotFile, name: str, index: int, parameters: Mapping[str, Value], scope: Scope) -> dict[str, Value]:
    """What values of leg number index+1 may refer to: parameters, i, n, its entry of every varied list."""
    leg = robot.legs[name]
    known = {**parameters, "i": Value(index + 1, None), "n": Value(leg.count, None)}
    for key, entries in leg.vary.items():
        path = ("legs", name, "vary", key)
        if key in TAKEN or key in _COUNTERS:
            scope.note(path, f"{key} is a unit, constant, function or counter; choose another name")
        if len(entries) != leg.count:
            scope.note(path, f"needs {leg.count} values, one per leg; has {len(entries)}")
            known[key] = UNKNOWN
        elif varied_bodies(robot, name, key) is None:
            known[key] = scope.value(entries[index], Q("any"), {**known}, (*path, index))
    raw = scope.tree.at(("legs", name, "vary"))
    for key in raw if isinstance(raw, dict) else ():
        known.setdefault(key, UNKNOWN)  # a varied list with a problem of its own
    return known


def varied_bodies(robot: RobotFile, leg: str, key: str) -> list[str] | None:
    """The bodies that a varied list of a leg names, one per leg; None if it holds values."""
    names = [entry.text.strip() for entry in robot.legs[leg].vary.get(key, ())]
    return names if names and all(name in robot.bodies for name in names) else None


# All values -----------------------------------------------------------------------------------------------


def check_values(robot: RobotFile, parameters: Mapping[str, Value], scope: Scope) -> None:
    """Notes everything wrong with the values of the file, the varied values of every leg included."""
    for key in type(robot).model_fields:
        if key not in ("parameters", "legs"):
            resolve(getattr(robot, key), parameters, (key,), scope, _rule_of(RobotFile, key))
    for name, leg in robot.legs.items():
        for index in range(leg.count):
            known = leg_scope(robot, name, index, parameters, scope)
            for part in ("links", "closures", "actuators", "points"):
                resolve(getattr(leg, part), known, ("legs", name, part), scope)


def resolve(part: Any, known: Mapping[str, Value], path: Path_, scope: Scope, rule: Q | None = None) -> Any:
    """`part` with every quantity replaced by its number; what does not fit is noted in the scope."""
    if type(part) in _PLAIN:
        return part
    if isinstance(part, Quantity):
        return scope.value(part, rule or _ANY, known, path).number
    if isinstance(part, FileRecord):
        values = {}
        for key, written, own in _fields(type(part)):
            values[key] = resolve(getattr(part, key), known, (*path, written), scope, own)
        made = type(part).model_construct(**values)
        for where, problem in _faults(part, made):
            scope.note((*path, *where), problem)
        return made
    if isinstance(part, dict):
        return {k: resolve(v, known, (*path, k), scope, rule) for k, v in part.items()}
    if isinstance(part, (list, tuple)):
        return [resolve(v, known, (*path, i), scope, rule) for i, v in enumerate(part)]
    return part


def _faults(part: FileRecord, made: Any) -> list[tuple[Path_, str]]:
    """What does not fit together in a part whose values are numbers."""
    if isinstance(part, Plate):
        from supple.robot.plate_entries import plate_faults  # needs what makes meshes, which takes time to import

        return plate_faults(made)
    return list(part.faults(made))


@cache
def _fields(model: type[BaseModel]) -> tuple[tuple[str, str, Q | None], ...]:
    """Fields of a record: their names, how they are written, and their rules."""
    return tuple((key, info.alias or key, _rule_of(model, key)) for key, info in model.model_fields.items())


def _rule_of(model: type[BaseModel], key: str) -> Q | None:
    info = model.model_fields[key]
    return _rule_in(info.annotation) or next((m for m in info.metadata if isinstance(m, Q)), None)


def _rule_in(annotation: Any) -> Q | None:
    """The quantity rule inside a field's type (of its elements, for lists and dicts)."""
    for meta in getattr(annotation, "__metadata__", ()):
        if isinstance(meta, Q):
            return meta
    for argument in get_args(annotation):
        rule = _rule_in(argument)
        if rule is not None:
            return rule
    return None
