"""Full disks, killed runs, damaged and foreign checkpoints: files are there whole or not at all, and words say why."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import xarray
from limits import PATIENCE

from supple import delivery, private
from supple.api import Robot
from supple.backends import native
from supple.backends.compiler import find_compiler
from supple.checkpoints import Checkpoints
from supple.delivery import scratch, store, written_whole
from supple.errors import Makeshift, SuppleError
from supple.expr.function import Function, function, symbols
from supple.remembered import kept_file
from supple.storage import write_netcdf

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX files")
needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
as_root = pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="needs to become another user")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 48 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("disks cannot be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("suffix", [".nc", ".csv", ".mat", ".uff"])
def test_results_on_a_full_disk(suffix: str, small_disk: Path) -> None:
    found = Robot("cantilever").frf("tip", "tip", points=1001)
    with pytest.raises(SuppleError, match="cannot be written: No space left"):
        found.save(small_disk / f"a/b/responses{suffix}")
    assert list(small_disk.iterdir()) == []


def test_pictures_and_sources_on_a_full_disk(small_disk: Path) -> None:
    (small_disk / "filled").write_bytes(b"0" * 45_000)
    with pytest.raises(SuppleError, match="cannot be written: No space left"):
        Robot("cantilever").frf("tip", "tip").plot(small_disk / "picture.png")
    with pytest.raises(SuppleError, match=r"nothing was written.*No space left"):
        Robot("cantilever").generate("mass", "c", small_disk / "code")
    assert [p.name for p in small_disk.iterdir()] == ["filled"]


def test_names_with_slashes_are_written(tmp_path: Path) -> None:
    made = xarray.Dataset({"f1": (("leg1/q1",), [1.0, 2.0])}, {"leg1/q1": [0.0, 0.5]})
    write_netcdf(made, tmp_path / "x.nc")
    with xarray.open_dataset(tmp_path / "x.nc") as found:
        assert found["f1"].dims == ("leg1.q1",) and list(found["leg1.q1"].values) == [0.0, 0.5]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_pipes_are_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.csv")
    with pytest.raises(SuppleError, match=r"run\.csv cannot be written: run\.csv is a pipe or a device"):
        written_whole(tmp_path / "run.csv", lambda path: path.write_text("x"))
    assert (tmp_path / "run.csv").is_fifo() and [x.name for x in tmp_path.iterdir()] == ["run.csv"]


def test_a_failed_writer_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    old = written_whole(tmp_path / "x", lambda file: file.write_text("old"))

    def half(file: Path) -> None:
        file.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(SuppleError, match="No space left"):
        written_whole(old, half)
    with pytest.raises(OSError, match="No space left"):
        store(tmp_path, {"y": lambda file: file.write_text("new"), "x": half})
    assert [p.name for p in tmp_path.iterdir()] == ["x"] and old.read_text() == "old"


@posix
def test_what_a_killed_run_left_goes_with_the_next_and_what_another_uses_stays(tmp_path: Path) -> None:
    code = "import os, sys; from pathlib import Path; from supple.delivery import scratch\n"
    code += "with scratch(Path(sys.argv[1])) as f: (f / 'half').write_text('x'); os.kill(os.getpid(), 9)"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], timeout=PATIENCE)
    assert done.returncode == -signal.SIGKILL and len(list(tmp_path.iterdir())) == 1
    with scratch(tmp_path) as own:
        written_whole(tmp_path / "x", lambda file: file.write_text("whole"))
        assert sorted(tmp_path.iterdir()) == sorted([own, tmp_path / "x"])


# Checkpoints --------------------------------------------------------------------------------------------------------------


def kept(folder: Path) -> Checkpoints:
    made = Checkpoints(folder / "x.nc", "same")
    made.keep(0, b"state" * 20, 0, np.arange(24.0).reshape(4, 2, 3), {"a": [1]})
    made.keep(0, b"STATE" * 20, 4, np.arange(12.0).reshape(2, 2, 3), {"a": [2]})
    return made


@pytest.mark.parametrize("name", ["state-0.bin", "samples-0.f64"])
def test_every_damage_of_a_checkpoint_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    """Every cut and every flipped byte (every third of them) and an empty file."""
    kept(tmp_path)
    file = tmp_path / "x.nc.part" / name
    whole = file.read_bytes()
    harmed = [whole[:k] for k in range(0, len(whole), 3)]
    harmed += [whole[:k] + bytes([whole[k] ^ 0x10]) + whole[k + 1 :] for k in range(0, len(whole), 3)]
    for content in harmed:
        file.write_bytes(content)
        with pytest.raises(SuppleError, match=r"damaged or not one of yours \([^\n]*\); start again without --resume$"):
            Checkpoints(tmp_path / "x.nc", "same").kept(0)
    file.write_bytes(whole)
    state, samples, notes = Checkpoints(tmp_path / "x.nc", "same").kept(0) or (b"", np.zeros(0), {})
    assert state == b"STATE" * 20 and samples.shape == (6, 2, 3) and notes == {"a": [2]}


@pytest.mark.parametrize(
    "head",
    [
        {"size": 10**18}, {"size": -1}, {"size": True}, {"shape": [10**12, 10**12, 10**12]}, {"shape": [-1, 2, 3]},
        {"shape": "x"}, {"signature": "0" * 64}, {"signature": 5}, {"signature": "é"}, {"notes": {"a": [3]}}, {"more": 1},
        {"fingerprint": []},
    ],
    ids=str,
)  # fmt: skip
def test_crafted_checkpoints_are_refused(head: dict[str, object], tmp_path: Path) -> None:
    kept(tmp_path)
    file = tmp_path / "x.nc.part" / "state-0.bin"
    line, _, state = file.read_bytes().partition(b"\n")
    file.write_bytes(json.dumps({**json.loads(line), **head}).encode() + b"\n" + state)
    with pytest.raises(SuppleError, match="damaged or not one of yours"):
        Checkpoints(tmp_path / "x.nc", "same").kept(0)


def test_checkpoints_of_another_key_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has not our key cannot make a checkpoint that we go on from, though all its sums are right."""
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "theirs"))
    kept(tmp_path)
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "ours"))
    with pytest.raises(SuppleError, match="its signature is not ours"):
        Checkpoints(tmp_path / "x.nc", "same").kept(0)


@posix
def test_links_in_the_place_of_checkpoints_are_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    part = tmp_path / "x.nc.part"
    part.mkdir(mode=0o700)
    (part / "samples-0.f64").symlink_to(precious)
    kept(tmp_path)
    assert precious.read_text() == "mine"
    shutil.rmtree(part)
    part.symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(SuppleError, match="is a link"):
        kept(tmp_path)
    part.unlink()
    part.mkdir()
    part.chmod(0o777)
    with pytest.raises(SuppleError, match="may be written by other users"):
        kept(tmp_path)


@posix
def test_a_first_checkpoint_that_fails_leaves_nothing_and_offers_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SuppleError, match=r"No space left on device; nothing is kept$"):
        kept(tmp_path)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    kept(tmp_path)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SuppleError, match="go on with --resume"):
        Checkpoints(tmp_path / "x.nc", "same").keep(0, b"3", 6, np.ones((1, 2, 3)), {})
    assert Checkpoints(tmp_path / "x.nc", "same").kept(0) is not None


# The user's own folder ----------------------------------------------------------------------------------------------------


def product() -> Function:
    q = symbols("q", 2)
    return function("product", {"q": q}, {"y": [q[0] * q[1]]})


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(private, "_told", set())
    return tmp_path / "cache"


@posix
@needs_compiler
def test_a_cache_that_others_may_write_is_refused(cache: Path) -> None:
    native.native(product())
    cache.chmod(0o777)
    with pytest.raises(SuppleError, match=r"may be written by other users.*chmod go-w"):
        native.native(product())


@as_root
@needs_compiler
def test_a_cache_of_another_user_is_refused(cache: Path) -> None:
    cache.mkdir()
    os.chown(cache, 12345, 12345)
    with pytest.raises(SuppleError, match="belongs to another user"):
        native.native(product())


@posix
@needs_compiler
def test_a_planted_library_does_not_run(cache: Path) -> None:
    """Neither under a right key with a plausible signature, nor with a signature of another library."""
    native.native(product())
    (path,) = cache.rglob("*.so")
    key = path.name.split("-")[0]
    good = path.read_bytes()
    path.with_name(f"{key}-{'0' * 32}.so").write_bytes(b"planted")
    path.unlink()  # not written in place: it is loaded
    path.write_bytes(b"planted")
    assert native.native(product())(q=[3.0, 7.0])["y"][0] == 21.0
    assert not [p for p in cache.rglob("*.so") if p.read_bytes() == b"planted"]
    other = cache / "ff" / f"{'f' * 32}-{path.name.split('-')[1]}"
    other.parent.mkdir(mode=0o700, exist_ok=True)
    other.write_bytes(good)
    assert kept_file("f" * 32, ".so") is None and not other.exists()
    path.parent.chmod(0o777)  # others may change what stands there, however well it is signed
    assert kept_file(key, ".so") is None
    assert native.native(product())(q=[3.0, 7.0])["y"][0] == 21.0
    again = kept_file(key, ".so")
    assert again is not None and again.parent == cache


@posix
@needs_compiler
@pytest.mark.parametrize("lack", ["home", "folder"])
def test_without_a_cache_there_is_a_makeshift_said_once(
    lack: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lack == "home":
        monkeypatch.setattr(private, "cache_directory", lambda: None)
    else:
        monkeypatch.setenv("SUPPLE_CACHE", "/proc/nowhere/cache")
    with pytest.warns(Makeshift, match="kept in .*supple-.* until that is cleared") as told:
        native.native(product())
        native.native(product())
    assert len(told) == 1
    (folder,) = tmp_path.glob("supple-*")
    assert re.fullmatch(r"[0-9a-f]{32}-[0-9a-f]{32}\.so", next(folder.rglob("*.so")).name)
    assert folder.stat().st_mode & 0o077 == 0


@posix
def test_a_makeshift_that_another_could_write_is_not_used(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private, "cache_directory", lambda: None)
    planted = tmp_path / f"supple-{os.geteuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    with pytest.warns(Makeshift):
        (folder,) = private.private_folders()
    assert folder != planted and folder.stat().st_mode & 0o077 == 0


def test_scratch_folders_cannot_be_entered_by_others(tmp_path: Path) -> None:
    with delivery.scratch(tmp_path) as folder:
        assert os.name == "nt" or folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()


# Compilers ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ['gcc "x', "'", "''"])
def test_a_stray_quote_in_the_name_of_the_compiler_is_told(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPPLE_CC", text)
    with pytest.raises(SuppleError, match=r"SUPPLE_CC is .*; (write|name) a"):
        find_compiler()


SLOW_COMPILER = """#!/bin/sh
case "$*" in *-dM*) exit 0;; esac
sleep 100000 &
echo $! > "$0.$$"
wait
"""
INTERRUPTED = """
import signal, sys, threading
from supple.backends.compiler import shared_libraries
signal.signal(signal.SIGINT, signal.default_int_handler)
started, start = [], threading.Thread.start
def slowly(thread):
    start(thread)
    started.append(thread)
    while len(started) == 2:  # interrupted before it is known that the last one began
        pass
if "starting" in sys.argv:
    threading.Thread.start = slowly
try:
    shared_libraries([("int a;", ()), ("int b;", ())])
except KeyboardInterrupt:
    print("interrupted")
"""


@posix
@pytest.mark.parametrize("while_", ["starting", "waiting"])
def test_an_interrupt_ends_compilers_and_all_that_they_started(tmp_path: Path, cache: Path, while_: str) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text(SLOW_COMPILER)
    compiler.chmod(0o700)
    environment = {**os.environ, "SUPPLE_CC": str(compiler)}
    command = [sys.executable, "-c", INTERRUPTED, while_]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    while len([p for p in tmp_path.glob("cc.*") if p.read_text().strip()]) < 2 and process.poll() is None:
        pass
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=PATIENCE)
    assert said.strip() == "interrupted"
    for file in tmp_path.glob("cc.*"):
        with pytest.raises(ProcessLookupError):
            for _ in range(10_000_000):
                os.kill(int(file.read_text()), 0)
    kept = [p for p in cache.rglob("*") if p.is_file() and p.name != "key"]
    assert len(kept) == 1 and kept[0].suffix == ".npz"  # what the compiler says of itself: no library, nothing half made
