"""Numbers of a mechanism whose bodies exist in numbers only, made once for every set of values and kept by question."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from supple.machine import Machine
from supple.model.algebra import Array
from supple.remembered import key_of, recalled, remember
from supple.robot.kept_mechanism import file_digest
from supple.robot.named_files import files_noted, note_files


def record_question(robot: Machine) -> tuple[str, ...]:
    """What numbers of a mechanism depend on besides values of kept parameters and named files; nothing if that cannot be
    said."""
    if not all(isinstance(x, (str, int, float)) for x in robot.settings.values()):
        return ()
    source = robot.source
    settings = [f"{name}={value!r}" for name, value in robot.settings.items()]
    return (source.sha256, source.robot.name, str(source.folder), str(source.outside), *settings, "keep", *robot.keep)


def kept_numbers(question: tuple[str, ...], what: str, values: Array, make: Callable[[], Array]) -> Array:
    """Numbers that answer a question for values of parameters (to the last bit), made if they are not remembered; so are
    those whose files have changed."""
    if not question:
        return make()
    key = key_of("records", what, *question, values.tobytes().hex())
    answer = recalled(key)
    if answer is not None and all(file_digest(Path(path)) == known for path, known in answer.words["files"]):
        note_files(Path(path) for path, _ in answer.words["files"])
        return answer.arrays["numbers"]
    with files_noted() as seen:
        made = make()
    remember(key, {"files": [[str(path), file_digest(path)] for path in dict.fromkeys(seen)]}, {"numbers": made})
    return made
