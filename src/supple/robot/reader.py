"""From a robot file to a `Description`: every problem of the file in one go, each with its line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from supple.errors import RobotFileError, SuppleError
from supple.robot.description import Parameter, Q, Robot
from supple.robot.quantity import CONSTANTS, DIMENSIONS, UNITS, Quantity, QuantityError, Value, describe, evaluate, fits, names, parse
from supple.robot.yaml_tree import Path_, Tree, read_text, read_tree


@dataclass(frozen=True)
class Description:
    """A robot file that is well-formed: its records, its parameters, and where each part stands."""

    robot: Robot
    parameters: Mapping[str, Value]
    tree: Tree


def read(path: Path, settings: Mapping[str, Any] | None = None) -> Description:
    """The Description of a robot file, with parameters replaced by `settings` (text, numbers or symbols)."""
    return describe_text(read_text(path), path.name, settings, path.stem)


def describe_text(text: str, file: str, settings: Mapping[str, Any] | None = None, name: str = "robot") -> Description:
    tree = read_tree(text, file)
    if not isinstance(tree.value, dict):
        raise RobotFileError([f"{file}:1: must hold keys such as space, links and bodies, not a {_kind(tree.value)}"])
    try:
        robot = Robot.model_validate(tree.value)
    except ValidationError as error:
        raise RobotFileError(_unique([*tree.problems, *structure_problems(error, tree)])) from error
    if not robot.name:
        robot = robot.model_copy(update={"name": name})
    problems = list(tree.problems)
    parameters = _parameters(robot, tree, settings or {}, problems)
    problems += value_problems(robot, parameters, tree)
    if problems:
        raise RobotFileError(_unique(problems))
    return Description(robot, parameters, tree)


# Structure -----------------------------------------------------------------------------------------------------------


def structure_problems(error: ValidationError, tree: Tree) -> list[str]:
    """pydantic's findings, one line each, with the file's lines and a did-you-mean for misspelt keys."""
    lines = []
    for found in error.errors():
        path = _path_in_file(tuple(found["loc"]), tree)
        lines.append(tree.problem(path, _in_words(found, path)))
    return lines


def _path_in_file(loc: tuple[Any, ...], tree: Tree) -> Path_:
    """The part of a pydantic location that names keys of the file (union branches are dropped)."""
    path: Path_ = ()
    for part in loc:
        if (*path, part) in tree.lines:
            path = (*path, part)
        elif isinstance(part, str) and not part.startswith(("function", "list[", "tuple[", "literal[", "constrained")):
            if part in ("str", "Body", "Parameter", "[key]") or part[:1].isupper():
                continue
            path = (*path, part)
    return path


def _in_words(found: Mapping[str, Any], path: Path_) -> str:
    kind, message = found["type"], str(found["msg"])
    if kind == "extra_forbidden":
        key = str(found["loc"][-1])
        allowed = _keys_at(tuple(found["loc"][:-1]))
        close = get_close_matches(key, allowed, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known here: {', '.join(allowed)}" if allowed else "remove it"
        return f"unknown key; {hint}"
    if kind == "missing":
        return "is missing"
    if kind == "string_pattern_mismatch":
        return "must be a name of letters, digits, _ . - (at most 64), such as leg1 or q11"
    if kind in ("model_type", "dict_type"):
        return "must hold keys, like {mass: 1 kg}"
    if kind.startswith("literal_error"):
        return f"must be one of {found.get('ctx', {}).get('expected', '')}"
    return message[:1].lower() + message[1:]


def _keys_at(loc: tuple[Any, ...]) -> list[str]:
    """The keys allowed at a pydantic location."""
    models: list[Any] = [Robot]
    for part in loc:
        following: list[Any] = []
        for model in models:
            if isinstance(model, type) and issubclass(model, BaseModel):
                if model.__name__ == part:
                    following.append(model)
                for key, info in model.model_fields.items():
                    if part in (key, info.alias):
                        following += _inner_types(info.annotation)
            elif get_origin(model) is dict:
                following += _inner_types(get_args(model)[1])
            elif get_origin(model) in (list, tuple):
                following += [t for a in get_args(model) for t in _inner_types(a)]
        models = following or models
    keys = []
    for model in models:
        if isinstance(model, type) and issubclass(model, BaseModel):
            keys += [info.alias or key for key, info in model.model_fields.items()]
    return keys


def _inner_types(annotation: Any) -> list[Any]:
    origin = get_origin(annotation)
    if origin is Union or str(origin) == "<class 'types.UnionType'>":
        return [t for a in get_args(annotation) for t in _inner_types(a)]
    if hasattr(annotation, "__metadata__"):
        return _inner_types(get_args(annotation)[0])
    return [annotation]


# Values --------------------------------------------------------------------------------------------------------------


def _parameters(robot: Robot, tree: Tree, settings: Mapping[str, Any], problems: list[str]) -> dict[str, Value]:
    """Values of the named parameters: defaults of the file, replaced by settings, in order of dependence."""
    written = {k: p.value if isinstance(p, Parameter) else p for k, p in robot.parameters.items()}
    unknown = [k for k in settings if k not in written]
    if unknown:
        close = get_close_matches(unknown[0], written, n=1)
        known = ", ".join(written) or "none"
        hint = f"did you mean {close[0]!r}?" if close else f"this robot's parameters are: {known}"
        raise SuppleError(f"{tree.file}: no parameter {unknown[0]!r}; {hint}")
    for name in written:
        if name in UNITS or name in CONSTANTS:
            problems.append(tree.problem(("parameters", name), f"{name} is a unit or constant; choose another name"))
    values: dict[str, Value] = {}
    pending: dict[str, Quantity] = {}
    for name, quantity in written.items():
        setting = settings.get(name)
        if setting is None:
            pending[name] = quantity
        elif isinstance(setting, (str, int, float)):
            try:
                pending[name] = parse(setting)
            except QuantityError as error:
                raise SuppleError(f"parameter {name}: {setting!r} {error}") from error
        else:
            values[name] = Value(setting, None)
    while pending:
        ready = [k for k, q in pending.items() if not (names(q) & pending.keys())]
        if not ready:
            for name in pending:
                problems.append(tree.problem(("parameters", name), "depends on itself"))
                values[name] = Value(1, None)
            break
        for name in ready:
            values[name] = _evaluated(pending.pop(name), Q("any"), values, ("parameters", name), tree, problems)
    return values


def _evaluated(
    quantity: Quantity, rule: Q, scope: Mapping[str, Value], path: Path_, tree: Tree, problems: list[str]
) -> Value:
    try:
        value = evaluate(quantity, scope)
        check(value, rule)
        return value
    except (QuantityError, OverflowError) as error:
        problems.append(tree.problem(path, str(error)))
        return Value(1, None)


def check(value: Value, rule: Q) -> None:
    """Raises QuantityError if a value does not fit its field."""
    wanted = DIMENSIONS.get(rule.dimension)
    if wanted is not None and not fits(value, wanted):
        article = "an" if rule.dimension[0] in "aeiou" else "a"
        raise QuantityError(f"must be {article} {rule.dimension}, but the units given make {describe(value.dimension)}")
    x = value.number
    if not isinstance(x, (int, float)) and not hasattr(x, "numerator"):
        if rule.whole:
            raise QuantityError("must be a number, not a kept parameter")
        return  # a symbol that the caller keeps
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


def value_problems(robot: Robot, parameters: Mapping[str, Value], tree: Tree) -> list[str]:
    """Everything wrong with the values of the file, the varied values of every leg included."""
    problems: list[str] = []
    for key in type(robot).model_fields:
        if key not in ("parameters", "legs"):
            resolve(getattr(robot, key), parameters, (key,), tree, problems, _rule_of(Robot, key))
    for name, leg in robot.legs.items():
        for index in range(leg.count):
            scope = leg_scope(robot, name, index, parameters, tree, problems)
            for part in ("links", "closures", "actuators", "points"):
                resolve(getattr(leg, part), scope, ("legs", name, part), tree, problems)
    return problems


def leg_scope(
    robot: Robot, name: str, index: int, parameters: Mapping[str, Value], tree: Tree, problems: list[str]
) -> dict[str, Value]:
    """What values of leg number index+1 may refer to: parameters, i, n, and its entry of every varied list."""
    leg = robot.legs[name]
    scope = {**parameters, "i": Value(index + 1, None), "n": Value(leg.count, None)}
    for key, entries in leg.vary.items():
        path = ("legs", name, "vary", key)
        if key in UNITS or key in CONSTANTS or key in ("i", "n"):
            problems.append(tree.problem(path, f"{key} is a unit or constant; choose another name"))
        if len(entries) != leg.count:
            problems.append(tree.problem(path, f"needs {leg.count} values, one per leg; has {len(entries)}"))
            scope[key] = Value(1, None)
        else:
            scope[key] = _evaluated(entries[index], Q("any"), {**scope}, (*path, index), tree, problems)
    return scope


def _rule_of(model: type[BaseModel], key: str) -> Q | None:
    return _rule_in(model.model_fields[key].annotation) or next(
        (m for m in model.model_fields[key].metadata if isinstance(m, Q)), None
    )


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


def resolve(
    part: Any, scope: Mapping[str, Value], path: Path_, tree: Tree, problems: list[str], rule: Q | None = None
) -> Any:
    """`part` with every quantity replaced by its number in `scope`; what does not fit is added to problems."""
    if isinstance(part, Quantity):
        return _evaluated(part, rule or Q("any"), scope, path, tree, problems).number
    if isinstance(part, BaseModel):
        values = {}
        for key, info in type(part).model_fields.items():
            written = info.alias or key
            values[key] = resolve(
                getattr(part, key), scope, (*path, written), tree, problems, _rule_of(type(part), key)
            )
        return type(part).model_construct(**values)
    if isinstance(part, dict):
        return {k: resolve(v, scope, (*path, k), tree, problems, rule) for k, v in part.items()}
    if isinstance(part, (list, tuple)):
        return [resolve(v, scope, (*path, i), tree, problems, rule) for i, v in enumerate(part)]
    return part


def _kind(value: Any) -> str:
    return {list: "list", str: "text", type(None): "nothing"}.get(type(value), "number")


def _unique(lines: list[str]) -> list[str]:
    return list(dict.fromkeys(lines))
