"""FMU: a robot as a simulation model for other tools, for model exchange and co-simulation (FMI 2.0, or 3.0).

The archive holds the model description, C99 sources without any dependency, and a library for this platform where there
is a C compiler. The library uses no instructions beyond the platform's least, so that it runs on other machines.
"""

from __future__ import annotations

import hashlib
import io
import platform
import sys
import uuid
import warnings
import zipfile
from functools import cache
from pathlib import Path

from supple.backends.compiler import find_compiler, portable_library
from supple.backends.stepping.plant_text import stepping_source
from supple.backends.targets.files import deliver
from supple.backends.targets.fmu_description import DESCRIPTIONS, build_description_3
from supple.backends.targets.fmu_model import check_parts, model_header
from supple.backends.targets.fmu_variables import FmuParts, Variables, variables
from supple.backends.targets.heading import NOTICE
from supple.backends.targets.names import reserved, word
from supple.delivery import scratch
from supple.errors import Makeshift, SuppleError

GENERATION = "supple"
VERSIONS = tuple(DESCRIPTIONS)
_IDENTIFIER = 28  # characters; functions add a word of theirs
_SOURCES = {"2.0": ("fmi2.h", "fmi2.c"), "3.0": ("fmi3.h", "fmi3.c")}
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same robot gives the same archive


def write_fmu(parts: FmuParts, folder: Path, *, version: str = "2.0") -> Path:
    """The path of the FMU of a robot, IDENTIFIER.fmu in `folder`; without a C compiler it has sources only (said)."""
    check_version(version)
    check_parts(parts)
    name = identifier(parts.robot)
    files = {file: text.encode("ascii") for file, text in _texts(parts, variables(parts), name, version).items()}
    if find_compiler() is None:
        warnings.warn(
            f"no C compiler found: {name}.fmu holds sources only, which not every tool can compile. "
            "Install gcc or clang, or `pip install 'supple[cc]'`, and write it again.",
            Makeshift,
            stacklevel=2,
        )
    else:
        files |= _binary(files, name, version)
    return deliver(folder, {f"{name}.fmu": _archive(files)})[0]


def check_version(version: str) -> None:
    """Raises SuppleError for a version of FMI that is not written."""
    if version not in VERSIONS:
        raise SuppleError(f"there is no FMI {version!r} here; choose {' or '.join(VERSIONS)}")


def identifier(robot: str) -> str:
    """The modelIdentifier: a name for C, for files and for the robot."""
    name = word(robot, _IDENTIFIER) or "robot"
    if name[0].isdigit() or name.lower().startswith(("supple", "fmi", "fp_", "model_")):
        name = word(f"robot_{name}", _IDENTIFIER)
    taken = reserved("c") | reserved("files")
    return f"{name[: _IDENTIFIER - 6].rstrip('_')}_robot" if name in taken or name.lower() in taken else name


def _texts(parts: FmuParts, variables: Variables, name: str, version: str) -> dict[str, str]:
    """Every text of the archive by its path; the token is made of what the library depends on."""
    fixed = {f"sources/{file}": _source(file) for file in ("robot.h", *_SOURCES[version])}
    fixed["sources/stepping.h"] = f"/* {NOTICE} */\n{stepping_source(parts.plant.stages)}"
    draft = model_header(parts, variables, name, "") + "".join(fixed.values()) + repr(variables)
    token = f"{{{uuid.UUID(bytes=hashlib.sha256(draft.encode()).digest()[:16])}}}"
    described = DESCRIPTIONS[version](parts, variables, name, token, GENERATION)
    texts = {"modelDescription.xml": described, "sources/model.h": model_header(parts, variables, name, token), **fixed}
    if version == "3.0":
        texts["sources/buildDescription.xml"] = build_description_3(name)
    return texts


@cache
def _source(name: str) -> str:
    return (Path(__file__).parent / "fmu_sources" / name).read_text(encoding="ascii")


def _binary(files: dict[str, bytes], name: str, version: str) -> dict[str, bytes]:
    """The library of this platform, by its path in the archive."""
    place, suffix = _platform(version)
    with scratch() as build:
        for path, content in files.items():
            if path.startswith("sources/"):
                (build / Path(path).name).write_bytes(content)
        made = build / (name + suffix)
        portable_library(build / _SOURCES[version][-1], made)
        return {f"binaries/{place}/{name}{suffix}": made.read_bytes()}


def _platform(version: str) -> tuple[str, str]:
    """Where the standard wants the library of this machine, and its suffix."""
    wide = sys.maxsize > 2**32
    arm = platform.machine().lower() in ("aarch64", "arm64")
    system, suffix = {"win32": ("win", ".dll"), "darwin": ("darwin", ".dylib")}.get(sys.platform, ("linux", ".so"))
    if version == "2.0":
        return f"{system}{64 if wide else 32}", suffix
    architecture = ("aarch64" if wide else "aarch32") if arm else ("x86_64" if wide else "x86")
    return f"{architecture}-{'windows' if system == 'win' else system}", suffix


def _archive(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if path.startswith("binaries/") else 0o644) << 16
            archive.writestr(entry, content)
    return made.getvalue()


__all__ = ["VERSIONS", "identifier", "write_fmu"]
