"""Checkpoints of simulations that go on: kept beside the result, signed by the user's key, and trusted only so."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.delivery import store
from supple.errors import SuppleError
from supple.private import not_private, signature, signing_folder

Array = NDArray[np.float64]
_HEAD = 1_000_000  # bytes of the first line of a state
_STATE = 1_000_000_000  # bytes of a state
_AGAIN = "start again without --resume"


class Checkpoints:
    """A folder beside the result that holds the state and the samples of a simulation under way.

    Samples are only ever appended; the state, which says how many of them count, is replaced in one step. So a
    checkpoint costs what is new, and is whole at any moment. A state is a line of JSON and its bytes; its signature is
    over both and over the samples."""

    def __init__(self, result: Path, fingerprint: str) -> None:
        self.folder = result.with_name(result.name + ".part")
        self.fingerprint = fingerprint
        self._sums: dict[int, tuple[int, Any]] = {}  # group -> how many samples are kept, and their SHA-256

    def keep(self, group: int, state: bytes, before: int, samples: Array, notes: Any) -> None:
        """Add samples (count, lanes, row), `before` of which there were already, and replace the state."""
        new = not self.folder.exists()
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._check_folder()
            if before == 0:  # nothing of an earlier simulation, no link of anybody's
                self._state(group).unlink(missing_ok=True)
                self._samples(group).unlink(missing_ok=True)
            data, width = np.ascontiguousarray(samples, dtype=float).tobytes(), math.prod(samples.shape[1:])
            self._append(group, before * width, data)
            summed = self._summed(group, before, width)
            summed.update(data)
            shape = [before + len(samples), *samples.shape[1:]]
            about = {"fingerprint": self.fingerprint, "shape": shape, "size": len(state), "notes": notes}
            signed = self._signed(about, state, summed)
            content = json.dumps({"signature": signed, **about}).encode() + b"\n" + state
            store(self.folder, {self._state(group).name: lambda file: file.write_bytes(content)})
            self._sums[group] = (shape[0], summed)
        except OSError as problem:
            offer = "what was kept before is still there: make room and go on with --resume"
            if not self.there():
                offer = "nothing is kept"
                if new:
                    self.remove()
            reason = problem.strerror or problem
            raise SuppleError(f"the checkpoint in {self.folder} cannot be written: {reason}; {offer}") from problem

    def _append(self, group: int, numbers: int, data: bytes) -> None:
        """Write samples after the first `numbers` numbers."""
        with self._samples(group).open("r+b" if numbers else "xb") as stream:
            stream.seek(8 * numbers)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())

    def _summed(self, group: int, count: int, width: int) -> Any:
        """SHA-256 of the first samples of a group."""
        known, summed = self._sums.get(group, (0, hashlib.sha256()))
        if known == count:
            return summed.copy()
        return hashlib.sha256(_samples_of(self._samples(group), [count, width]).tobytes())

    def kept(self, group: int) -> tuple[bytes, Array, Any] | None:
        """State, samples and notes of a group, or None if there are none; damaged, foreign ones and those of another
        simulation are an error."""
        file = self._state(group)
        try:
            if not file.is_file():
                return None
            self._check_folder()
            about, state = _parted(file)
            samples = _samples_of(self._samples(group), about["shape"])
            signed = about.pop("signature")
            summed = hashlib.sha256(samples.tobytes())
            if not hmac.compare_digest(signed, self._signed(about, state, summed)):
                raise ValueError("its signature is not ours")
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError, MemoryError) as problem:
            reason = _reason(problem)
            raise SuppleError(f"{file}: the checkpoint is damaged or not one of yours ({reason}); {_AGAIN}") from problem
        if about["fingerprint"] != self.fingerprint:
            raise SuppleError(
                f"{self.folder} belongs to another simulation (robot, motion or options differ); "
                f"give the same ones, or {_AGAIN}"
            )
        self._sums[group] = (len(samples), summed)
        return state, samples, about["notes"]

    def there(self) -> bool:
        return self.folder.is_dir() and any(self.folder.glob("state-*.bin"))

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _state(self, group: int) -> Path:
        return self.folder / f"state-{group}.bin"

    def _samples(self, group: int) -> Path:
        return self.folder / f"samples-{group}.f64"

    def _check_folder(self) -> None:
        """Others must not be able to put files or links of theirs where we write and read."""
        fault = "is a link" if self.folder.is_symlink() else not_private(self.folder)
        if fault is not None:
            raise SuppleError(f"{self.folder} {fault}: checkpoints are not kept there; remove it, or write to another file")

    def _signed(self, about: dict[str, Any], state: bytes, samples: Any) -> str:
        told = json.dumps(about, sort_keys=True).encode()
        return str(signature(signing_folder(), b"checkpoint", told, state, samples.digest()))


def _parted(file: Path) -> tuple[dict[str, Any], bytes]:
    """What a state file says, and its bytes; ValueError if it is not one."""
    with file.open("rb") as stream:
        line = stream.readline(_HEAD)
        about = json.loads(line)
        if not isinstance(about, dict) or set(about) != {"signature", "fingerprint", "shape", "size", "notes"}:
            raise ValueError("it is no state of a simulation")
        sizes = [about["size"], *(about["shape"] if isinstance(about["shape"], list) else [None])]
        if len(sizes) != 4 or not all(type(n) is int and n >= 0 for n in sizes) or about["size"] > _STATE:
            raise ValueError("its sizes cannot be")
        if not isinstance(about["signature"], str) or not about["signature"].isascii():
            raise ValueError("its signature is not ours")
        state = stream.read(about["size"])
        if len(state) != about["size"] or stream.read(1):
            raise ValueError("it is cut off or goes on")
    return about, state


def _samples_of(file: Path, shape: list[int]) -> Array:
    """The first samples of a file; ValueError if there are fewer."""
    count = math.prod(shape)
    if not file.is_file() or file.stat().st_size < 8 * count:
        raise ValueError("samples are missing")
    return np.fromfile(file, dtype=float, count=count).reshape(shape)


def _reason(problem: BaseException) -> str:
    if isinstance(problem, OSError):
        return problem.strerror or str(problem)
    unread = isinstance(problem, (json.JSONDecodeError, UnicodeDecodeError, KeyError))
    return "it is no state of a simulation" if unread else str(problem)
