"""pydantic's findings in the words of a robot file, and the part of a file that is sound all the same."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from supple.robot.description import RobotFile
from supple.robot.yaml_tree import FileTree, Path_

_WORDS = {
    "missing": "is missing; add it",
    "string_pattern_mismatch": "must be a name of letters, digits, _ . - (at most 64), such as leg1 or q11",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "string_too_long": "must be shorter",
    "string_unicode": "holds characters that are no text",
}
_WANTED = {  # a part of another kind than the field asks for
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "keys, like {key: value}",
    "model_type": "keys, like {key: value}",
    "literal_error": "a word",
    "quantity": "a number",
}
_ROUNDS = 40


class Finding:
    """One of pydantic's errors, at its place in the file."""

    def __init__(self, found: Mapping[str, Any], tree: FileTree, root: type[BaseModel] = RobotFile) -> None:
        self.root = root
        self.kind = str(found["type"])
        self.loc = tuple(found["loc"])
        self.path = path_in_file(self.loc, tree)
        self.message = str(found["msg"])
        self.context = found.get("ctx", {})
        self.given = found.get("input")

    @property
    def other_kind(self) -> bool:
        """Whether the file has a list, keys or a scalar where this branch wants another of the three."""
        if self.kind == "quantity":
            return isinstance(self.given, (list, dict))
        if self.kind == "literal_error":
            return isinstance(self.given, (list, dict))
        return self.kind in _WANTED

    def words(self) -> str:
        bound = self.context.get("le", self.context.get("ge"))
        match self.kind:
            case "extra_forbidden":
                return f"unknown key; {self.hint()}"
            case "literal_error":
                return f"must be one of {self.context.get('expected', '')}"
            case "too_short" | "too_long":
                wanted = self.context.get("min_length", self.context.get("max_length"))
                return f"needs {wanted} values; has {self.context.get('actual_length')}"
            case "less_than_equal":
                return f"must be at most {bound}"
            case "greater_than_equal":
                return f"must be at least {bound}"
        return _WORDS.get(self.kind, self.message[:1].lower() + self.message[1:])

    def hint(self) -> str:
        allowed = _keys_at(self.loc[:-1], self.root)
        close = get_close_matches(str(self.loc[-1]), allowed, n=1)
        if close:
            return f"did you mean {close[0]!r}?"
        return f"known here: {', '.join(allowed)}" if allowed else "remove it"


def structure_problems(error: ValidationError, tree: FileTree, root: type[BaseModel] = RobotFile) -> list[str]:
    """pydantic's findings, one line each, with the file's lines and a did-you-mean for misspelt keys."""
    findings = [Finding(found, tree, root) for found in error.errors(include_url=False)]
    meant = {(*f.path[:-1], f.hint().split("'")[1]) for f in findings if f.kind == "extra_forbidden" and "'" in f.hint()}
    lines = []
    for finding in findings:
        if finding.kind == "missing" and finding.path in meant:
            continue  # there, but misspelt
        if not finding.other_kind:
            lines.append((finding.path, finding.words()))
        elif not any(f is not finding and _inside(f, finding) for f in findings):
            lines.append((finding.path, _unlike(f for f in findings if f.path == finding.path)))
    return [tree.problem(path, text) for path, text in dict.fromkeys(lines)]


def _inside(finding: Finding, branch: Finding) -> bool:
    """Whether a finding tells more about the same part than that a branch of its type wants another kind."""
    return not finding.other_kind and finding.path[: len(branch.path)] == branch.path


def _unlike(findings: Iterable[Finding]) -> str:
    every = list(findings)
    wanted = dict.fromkeys(_WANTED[f.kind] for f in every if f.kind in _WANTED)
    kind = {list: "a list", dict: "keys", type(None): "nothing"}.get(type(every[0].given), "a single value")
    return f"must be {' or '.join(wanted)}, not {kind}"


def path_in_file(loc: Sequence[Any], tree: FileTree) -> Path_:
    """The part of a pydantic location that names keys of the file (union branches are dropped)."""
    path: Path_ = ()
    for index, part in enumerate(loc):
        last = index == len(loc) - 1
        if (*path, part) in tree.lines or (last and isinstance(part, str) and _is_key(part)):
            path = (*path, part)
    return path


def _is_key(part: str) -> bool:
    """Whether the last part of a location is a key that the file lacks, not the name of a union's branch."""
    return part.isidentifier() and part not in ("str", "Body", "Parameter", "Signal", "PointSpace", "Round")


def _keys_at(loc: tuple[Any, ...], root: type[BaseModel]) -> list[str]:
    """The keys allowed at a pydantic location."""
    models: list[Any] = [root]
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
    records = [m for m in models if isinstance(m, type) and issubclass(m, BaseModel)]
    return [info.alias or key for model in records for key, info in model.model_fields.items()]


def _inner_types(annotation: Any) -> list[Any]:
    origin = get_origin(annotation)
    if origin is Union or str(origin) == "<class 'types.UnionType'>":
        return [t for a in get_args(annotation) for t in _inner_types(a)]
    if hasattr(annotation, "__metadata__"):
        return _inner_types(get_args(annotation)[0])
    return [annotation]


# What is left ---------------------------------------------------------------------------------------------


def well_formed(tree: FileTree, error: ValidationError) -> RobotFile | None:
    """The robot without its malformed parts, so that the values of all others can be judged too."""
    value = copy.deepcopy(tree.value)
    for _ in range(_ROUNDS):
        for found in error.errors(include_url=False):
            _drop(value, path_in_file(found["loc"], tree))
        if "space" not in value:
            value["space"] = "spatial"
        try:
            return RobotFile.model_validate(value)
        except ValidationError as again:
            error = again
    return None


def _drop(value: Any, path: Path_) -> None:
    """Removes the part at `path`: a key, the list an item is in, or the part that lacks the key."""
    chain = [value]
    for part in path:
        here = chain[-1]
        inside = (
            part in here if isinstance(here, dict) else isinstance(here, list) and isinstance(part, int) and part < len(here)
        )
        if not inside:
            break
        chain.append(here[part])
    depth = len(chain) - 1
    while depth > 0 and not isinstance(chain[depth - 1], dict):
        depth -= 1
    if depth > 0:
        del chain[depth - 1][path[depth - 1]]
