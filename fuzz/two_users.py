"""python -m fuzz two_users: one user of a machine tries to make another run code, or lose files, through supple.

The attacker leaves libraries that would run as soon as they are loaded, checkpoints, links and programs wherever the victim
may look: in a cache that is the attacker's or that all may write, in the place of temporary caches, beside results, in the
robot's folder. The victim then simulates. No code of the attacker's may run and no file of the victim's may change. Both
users are numbers without names or homes; becoming them needs the rights to do so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from fuzz.children import prepare, started

VICTIM, ATTACKER = 51001, 51002
EVIL = """#include <stdio.h>
__attribute__((constructor)) static void run(void) { FILE *f = fopen("MARKER", "w"); if (f) fclose(f); }
"""
_RUN = ("simulate", "five_bar_elastic", "--motion", "line", "--duration", "20 ms", "-o")


class Ground:
    """A folder that both users may write, as /tmp is, with a folder of the victim's own in it."""

    def __init__(self, root: Path) -> None:
        self.shared, self.own, self.ran = root / "shared", root / "own", root / "marks" / "ran"
        for folder, mode, user in ((self.shared, 0o1777, 0), (self.own, 0o700, VICTIM), (self.ran.parent, 0o777, 0)):
            folder.mkdir(parents=True)
            os.chown(folder, user, user)
            folder.chmod(mode)
        self.library = root / "evil.so"
        text = root / "evil.c"
        text.write_text(EVIL.replace("MARKER", str(self.ran)))
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(self.library), str(text)], check=True)
        self.library.chmod(0o644)

    def victim(self, cache: Path | str, *words: str, folder: Path | None = None) -> tuple[int | None, str]:
        """How a simulation of the victim's ends, and what it says."""
        return self._as(VICTIM, (*_RUN, str((folder or self.own) / "run.nc"), *words), cache, folder or self.own)

    def _as(self, user: int, words: tuple[str, ...], cache: Path | str, folder: Path) -> tuple[int | None, str]:
        own = {"SUPPLE_CACHE": str(cache), "TMPDIR": str(self.shared), "HOME": "/nonexistent"}

        def become() -> None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            os.chdir(folder)

        return started(words, own, become).wait()

    def plant(self, folder: Path, names: list[str], user: int = ATTACKER) -> None:
        """Evil libraries under good names, and under a good key with another signature, on shelves of the attacker's."""
        for name in (*names, *(f"{n.split('-')[0]}-{'0' * 32}.so" for n in names)):
            shelf = (folder / name).parent
            shelf.mkdir(exist_ok=True)
            os.chown(shelf, user, user)
            (folder / name).unlink(missing_ok=True)
            shutil.copy(self.library, folder / name)
            os.chown(folder / name, user, user)


def _cache(ground: Ground, name: str, user: int, mode: int, names: list[str]) -> Path:
    folder = ground.shared / name
    folder.mkdir()
    ground.plant(folder, names)
    os.chown(folder, user, user)
    folder.chmod(mode)
    return folder


def cache_of_the_attacker(ground: Ground, names: list[str]) -> tuple[int, int | None]:
    return 2, ground.victim(_cache(ground, "theirs", ATTACKER, 0o755, names))[0]


def cache_that_all_may_write(ground: Ground, names: list[str]) -> tuple[int, int | None]:
    return 2, ground.victim(_cache(ground, "open", VICTIM, 0o777, names))[0]


def cache_that_all_could_write(ground: Ground, names: list[str]) -> tuple[int, int | None]:
    return 0, ground.victim(_cache(ground, "once open", VICTIM, 0o700, names))[0]


def temporary_cache(ground: Ground, names: list[str]) -> tuple[int, int | None]:
    _cache(ground, f"supple-{VICTIM}", ATTACKER, 0o755, names)
    return 0, ground.victim("/proc/nowhere")[0]


def checkpoints(ground: Ground, names: list[str]) -> tuple[int, int | None]:
    part = ground.own / "run.nc.part"
    part.mkdir()
    for name in ("state-0.bin", "samples-0.f64"):
        (part / name).write_bytes(b'{"signature": "0"}\n' + b"0" * 4000)
    for path in (part, *part.iterdir()):
        os.chown(path, VICTIM, VICTIM)  # unpacked by the victim
    part.chmod(0o700)
    return 2, ground.victim(ground.own / "cache", "--resume")[0]


def folder_of_checkpoints(ground: Ground, names: list[str]) -> tuple[int, int | None]:
    precious = ground.own / "precious"
    precious.write_text("mine")
    os.chown(precious, VICTIM, VICTIM)
    part = ground.shared / "run.nc.part"
    part.mkdir()
    (part / "samples-0.f64").symlink_to(precious)
    for path in (part, part / "samples-0.f64"):
        os.chown(path, ATTACKER, ATTACKER, follow_symlinks=False)
    part.chmod(0o777)
    code, _ = ground.victim(ground.own / "cache", folder=ground.shared)
    return 2, code if precious.read_text() == "mine" else 99


def links_of_scratch_folders(ground: Ground, names: list[str]) -> tuple[int, int | None]:
    precious = ground.own / "folder"
    precious.mkdir()
    os.chown(precious, VICTIM, VICTIM)
    link = ground.shared / ".supple-left"
    link.symlink_to(precious)
    os.utime(link, (0, 0), follow_symlinks=False)
    code, _ = ground.victim(ground.own / "cache")
    return 0, code if precious.is_dir() else 99


def programs_in_the_folder(ground: Ground, names: list[str]) -> tuple[int, int | None]:
    folder = ground.shared / "robots"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    for name in ("cc", "gcc", "clang", "ccx", "as", "ld"):
        (folder / name).write_text(f"#!/bin/sh\ntouch {ground.ran}\n")
        (folder / name).chmod(0o755)
    return 0, ground.victim(ground.own / "cache", folder=folder)[0]


ATTACKS: tuple[Callable[[Ground, list[str]], tuple[int, int | None]], ...] = (
    cache_of_the_attacker, cache_that_all_may_write, cache_that_all_could_write, temporary_cache, checkpoints,
    folder_of_checkpoints, links_of_scratch_folders, programs_in_the_folder,
)  # fmt: skip


@click.command()
def main() -> None:
    """Two users of one machine."""
    if os.name == "nt" or os.geteuid() != 0:
        raise click.ClickException("becoming other users needs the rights of root")
    prepare()
    wrong = 0
    with TemporaryDirectory(prefix="two-users-") as root:
        Path(root).chmod(0o755)
        _warm(Path(root))
        first = Ground(Path(root, "first"))
        code, words = first.victim(first.own / "cache")
        if code != 0:
            raise click.ClickException(f"the victim cannot simulate at all: {words.strip()[-400:]}")
        names = [str(p.relative_to(first.own / "cache")) for p in (first.own / "cache").rglob("*.so")]
        for attack in ATTACKS:
            ground = Ground(Path(root, attack.__name__))
            wanted, code = attack(ground, names)
            fault = "the attacker's code ran" if ground.ran.exists() else f"exit code {code}" if code != wanted else None
            wrong += fault is not None
            click.echo(f"{attack.__name__.replace('_', ' ')}: {fault or f'exit code {code}, nothing ran or changed'}")
    sys.exit(1 if wrong else 0)


def _warm(root: Path) -> None:
    """Simulate once in this process, so that children find everything imported, wherever Python is installed."""
    import email.policy  # noqa: F401

    from supple.cli.main import main as supple

    os.environ["SUPPLE_CACHE"] = str(root / "cache")
    with redirect_stdout(StringIO()):
        supple([*_RUN, str(root / "warm.nc")], standalone_mode=False)


if __name__ == "__main__":
    main()
