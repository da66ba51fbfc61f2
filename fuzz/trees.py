"""Mutations of what a file says, written out again whole: trees of YAML files, named arrays of npz, mat and netCDF files."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fuzz.mutations import VALUES

Arrays = dict[str, Any]
_ODD = f'[null, true, 0, -1, 1, 1e300, -1e-300, 1e12, {10**30}, "", [], {{}}, [[]], {{"x": 1}}]'


@lru_cache(maxsize=256)
def _parsed(content: bytes) -> str:
    """A YAML file as JSON; numbers stay as they are written."""
    from ruamel.yaml import YAML

    return json.dumps(YAML(typ="safe", pure=True).load(content.decode()), default=str)


def yaml_tree(chance: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """One to four mutations of the tree of a YAML file, written as JSON, which YAML takes."""
    tree, foreign = json.loads(_parsed(content)), json.loads(_parsed(chance.choice(others)))
    for _ in range(chance.choice((1, 1, 2, 3, 4))):
        places = list(_places(tree))
        if not places:
            break
        chance.choice(_TREE)(chance, *chance.choice(places), places, list(_places(foreign)))
    return json.dumps(tree, indent=chance.choice((None, 1))).encode()


def _places(tree: Any) -> Any:
    """Every (container, key) of a tree."""
    if isinstance(tree, dict | list):
        for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
            yield tree, key
            yield from _places(tree[key])


def _copy(tree: Any) -> Any:
    return json.loads(json.dumps(tree))


def _drop(chance: Random, here: Any, key: Any, own: Any, foreign: Any) -> None:
    del here[key]


def _set(chance: Random, here: Any, key: Any, own: Any, foreign: Any) -> None:
    here[key] = chance.choice(
        (None, True, 0, -1, 1, 1e300, -1e-300, 1e12, 10**30, "", [], {}, [[]], {"x": 1}, chance.choice(VALUES))
    )


def _scale(chance: Random, here: Any, key: Any, own: Any, foreign: Any) -> None:
    if isinstance(here[key], int | float) and not isinstance(here[key], bool):
        here[key] *= chance.choice((-1, 0, 10, 0.1, 1e-6, 1e6, 1e-12, 1e12, 2, 3))
    elif isinstance(here[key], str):
        here[key] = chance.choice(("-", "0*", "1e9 ", "2*", "(")) + here[key]


def _other(chance: Random, here: Any, key: Any, own: Any, foreign: Any) -> None:
    """What stands elsewhere in the tree."""
    there, other = chance.choice(own)
    try:
        here[key] = _copy(there[other])
    except (KeyError, IndexError):  # it was dropped by an earlier mutation
        del here[key]


def _foreign(chance: Random, here: Any, key: Any, own: Any, foreign: Any) -> None:
    there, other = chance.choice(foreign)
    if isinstance(here, dict) and isinstance(other, str):
        here[other] = _copy(there[other])
    else:
        here[key] = _copy(there[other])


def _rename(chance: Random, here: Any, key: Any, own: Any, foreign: Any) -> None:
    if isinstance(here, dict):
        keys = [k for _, k in own if isinstance(k, str)]
        here[chance.choice(keys)] = here.pop(key)


def _twice(chance: Random, here: Any, key: Any, own: Any, foreign: Any) -> None:
    if isinstance(here, list):
        here.insert(key, _copy(here[key]))
    else:
        here[f"{key}{chance.choice(('', '2', '/', ' ', '$', '_', '1/x'))}"] = _copy(here[key])


def _wrap(chance: Random, here: Any, key: Any, own: Any, foreign: Any) -> None:
    here[key] = chance.choice(([here[key]], {str(key): here[key]}, [here[key], here[key]]))


_TREE: tuple[Callable[..., None], ...] = (
    _drop,
    _set,
    _set,
    _scale,
    _scale,
    _scale,
    _other,
    _foreign,
    _rename,
    _twice,
    _wrap,
)


# Named arrays -----------------------------------------------------------------------------------------------------------


def arrays(read: Callable[[bytes], Arrays], write: Callable[[Arrays], bytes]) -> Callable[..., bytes]:
    """The mutation of named arrays that `read` and `write` bring out of and into a file."""

    def changed(chance: Random, content: bytes, others: Sequence[bytes]) -> bytes:
        named = dict(read(content))
        for _ in range(chance.choice((1, 1, 2, 3))):
            if named:
                chance.choice(_ARRAYS)(chance, named, chance.choice(sorted(named)))
        try:
            return write(named)
        except (TypeError, ValueError, OSError, RuntimeError):  # arrays that the format does not know
            return content[: chance.randrange(len(content))]

    return changed


def _gone(chance: Random, named: Arrays, key: str) -> None:
    del named[key]


def _called(chance: Random, named: Arrays, key: str) -> None:
    named[chance.choice([*named, "K", "M", "nodes", "modes", "xyz", "supple", "x"])] = named.pop(key)


def _entry(chance: Random, named: Arrays, key: str) -> None:
    a = np.array(named[key])
    if a.size and a.dtype.kind in "fiu":
        a = a.astype(float) if a.dtype.kind == "f" else a
        kinds = {"i": (0, -1, 1, 7), "u": (0, 1, 7)}.get(a.dtype.kind) or (0, -1, np.nan, np.inf, 1e300, -1e300, 1e-300, 1e6)
        a.flat[chance.randrange(a.size)] = chance.choice(kinds)
        named[key] = a


def _sized(chance: Random, named: Arrays, key: str) -> None:
    a = np.asarray(named[key])
    if a.dtype.kind in "fiu":
        factor = chance.choice((-1, 0, 1, 2, 10))
        named[key] = a * a.dtype.type(1 if factor < 0 and a.dtype.kind == "u" else factor)


def _shaped(chance: Random, named: Arrays, key: str) -> None:
    a = np.asarray(named[key])
    ways = [a.ravel(), a.T, a[None], a.reshape(-1)[:0], a[:-1] if a.ndim else a, np.concatenate([a, a]) if a.ndim else a]
    named[key] = chance.choice(ways)


def _typed(chance: Random, named: Arrays, key: str) -> None:
    a = np.asarray(named[key])
    kind = chance.choice(("f4", "i8", "c16", "U8", "?", "u1", "S4", ">f8"))
    try:
        named[key] = a.astype(kind)
    except (TypeError, ValueError):
        named[key] = np.zeros(a.shape, kind)


def _exchanged(chance: Random, named: Arrays, key: str) -> None:
    other = chance.choice(sorted(named))
    named[key], named[other] = named[other], named[key]


_ARRAYS: tuple[Callable[[Random, Arrays, str], None], ...] = (
    _gone, _called, _entry, _entry, _entry, _sized, _shaped, _typed, _exchanged,
)  # fmt: skip


def read_npz(content: bytes) -> Arrays:
    with np.load(io.BytesIO(content), allow_pickle=False) as data:
        return {k: data[k] for k in data.files}


def write_npz(named: Mapping[str, Any]) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **named)
    return stream.getvalue()


def read_mat(content: bytes) -> Arrays:
    from scipy.io import loadmat

    return {k: v.toarray() if hasattr(v, "toarray") else v for k, v in loadmat(io.BytesIO(content)).items() if k[0] != "_"}


def write_mat(named: Mapping[str, Any]) -> bytes:
    from scipy.io import savemat

    stream = io.BytesIO()
    savemat(stream, dict(named))
    return stream.getvalue()


def read_nc(content: bytes) -> Arrays:
    import h5py

    with h5py.File(io.BytesIO(content), "r") as file:
        return {k: file[k][()] for k in file}


def write_nc(named: Mapping[str, Any]) -> bytes:
    import h5py

    with TemporaryDirectory() as folder:
        path = Path(folder) / "made.nc"
        with h5py.File(path, "w") as file:
            for name, value in named.items():
                file[name] = value
        return path.read_bytes()
